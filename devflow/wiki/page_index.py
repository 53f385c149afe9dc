"""The one index of a knowledge base's pages: for retrieval, for `@`, and for the list of pages (spec 02, Page index).

A page is read again only when its time or size has changed, so that a turn in which nothing has costs a walk through
the folder.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devflow.store.page_file import PageFile, PageRow
from devflow.wiki import layout, page_reading
from devflow.wiki.page_reading import ENCODING, NAME, TOO_LARGE, UNREADABLE
from devflow.wiki.walking import Stamp, Walked, joined, parted, walk

__all__ = ["ENCODING", "NAME", "TOO_LARGE", "UNREADABLE", "PageIndex", "Progress", "is_content"]

MANY = 40
SLICE_S = 0.05
"""Seconds of indexing between two chances for a search."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`pages` are known, of which `pending` have only their title; `closed` are folders that could not be read."""

    pages: int
    pending: int
    skipped: tuple[PageRow, ...] = ()
    closed: tuple[str, ...] = ()


class PageIndex:
    """The pages of one folder. Every method blocks, and may be called from any thread.

    `cache` is the folder that the index's own file stands in; None keeps it in memory.
    """

    def __init__(self, root: Path, cache: Path | None) -> None:
        self.root = root
        self._file = PageFile(None if cache is None else cache / f"{_name_of(root)}.db")
        self._lock = self._file.lock
        self._looking = threading.Lock()  # one walk at a time: an older one must not undo what a newer one has seen
        self._known: dict[str, PageRow] = {}
        self._seen: dict[str, dict[str, Stamp]] = {}  # the states of `_known`, as a walk gives them
        self._pending: set[str] = set()
        self._problems: dict[str, str] = {}
        self._order: list[str] = []  # the paths of `_known`, sorted: sorting ten thousand anew is felt in a turn
        self._sorted: tuple[PageRow, ...] | None = None
        self._closed: tuple[str, ...] = ()
        self._unnamed: tuple[PageRow, ...] = ()  # of no reference and in no file: seen anew at each look

    def close(self) -> None:
        self._file.close()

    # keeping it true -------------------------------------------------------------------------------------------------

    def refresh(self, within: float | None = None) -> Progress:
        """Take in what has changed on disk. New pages are all known by title first; `within` seconds bound the rest.

        A folder that cannot be read, or is gone as a whole, deletes nothing.
        """
        end = None if within is None else time.monotonic() + within
        with self._looking:
            walked = walk(self.root)
            with self._lock:
                if self._file.changed_elsewhere():
                    self._load()
                self._closed = tuple(walked.closed)
                self._see_unnamed(walked.unnamed)
                gone, changed = self._differences(walked)
                if gone:
                    with self._file.writing():
                        for path in gone:
                            self._forget(path)
            if len(changed) > MANY:
                self._take_all(changed, None, head_only=True)
            else:
                self._take_all(changed, end)
        with self._lock:
            waiting = sorted(self._pending)
        self._take_all(waiting, end)
        return self.progress()

    def progress(self) -> Progress:
        with self._lock:
            skipped = (*(self._known[path] for path in sorted(self._problems)), *self._unnamed)
            return Progress(len(self._known) + len(self._unnamed), len(self._pending), skipped, self._closed)

    def _see_unnamed(self, paths: Sequence[str]) -> None:
        if paths or self._unnamed:
            names = [(path, layout.stem(path)) for path in sorted(paths)]
            self._unnamed = tuple(PageRow(path, 0, 0, name, name, problem=NAME) for path, name in names)
            self._sorted = None

    def _load(self) -> None:
        self._known.clear()
        self._seen.clear()
        self._pending.clear()
        self._problems.clear()
        self._order = []
        for row in self._file.rows():
            self._keep(row)

    def _differences(self, walked: Walked) -> tuple[list[str], list[str]]:
        """The paths that are gone, and those that are new or in another state; what was unreadable is tried again."""
        gone: list[str] = []
        changed: list[str] = []
        for folder, names in walked.folders.items():
            before = self._seen.get(folder, {})
            if before != names:
                gone += [joined(folder, name) for name in before if name not in names]
                changed += [joined(folder, name) for name, stamp in names.items() if before.get(name) != stamp]
        for folder, before in self._seen.items():
            if folder not in walked.folders and not walked.is_closed(folder):
                gone += [joined(folder, name) for name in before]
        unreadable = {path for path, problem in self._problems.items() if problem == UNREADABLE}
        changed += unreadable.difference(gone, changed)
        return gone, [path for path in changed if not walked.is_closed(parted(path)[0])]

    def _take_all(self, paths: Sequence[str], end: float | None, *, head_only: bool = False) -> None:
        """In slices, so that a search never waits for the whole of them; at least one slice, however late it is."""
        place = 0
        while place < len(paths) and (end is None or time.monotonic() < end or place == 0):
            until = time.monotonic() + SLICE_S
            with self._file.writing():
                while place < len(paths) and time.monotonic() < until:
                    self._take(paths[place], head_only=head_only)
                    place += 1

    def _take(self, path: str, *, head_only: bool) -> None:
        try:
            row, content = page_reading.read(self.root, path, head_only=head_only)
        except FileNotFoundError:
            self._forget(path)  # it went since the folder was read
            return
        except OSError:
            self._refused(path)
            return
        self._file.put(row, content)
        self._keep(row)

    def _refused(self, path: str) -> None:
        """The page cannot be read now: it is found no more, and what is known of it is kept for when it can."""
        name = layout.stem(path)
        known = self._known.get(path)
        row = replace(known or PageRow(path, 0, 0, name, name), problem=UNREADABLE, pending=False)
        if known is None:
            self._file.put(row, "")
        else:
            self._file.restate(row)
        self._keep(row)

    def _keep(self, row: PageRow) -> None:
        folder, name = parted(row.path)
        if row.path not in self._known:
            bisect.insort(self._order, row.path)
        self._known[row.path] = row
        self._seen.setdefault(folder, {})[name] = (row.mtime_ns, row.size, row.ctime_ns)
        self._sorted = None
        self._pending.discard(row.path)
        self._problems.pop(row.path, None)
        if row.pending:
            self._pending.add(row.path)
        if row.problem:
            self._problems[row.path] = row.problem

    def _forget(self, path: str) -> None:
        self._file.remove(path)
        if self._known.pop(path, None) is None:
            return
        folder, name = parted(path)
        del self._order[bisect.bisect_left(self._order, path)]
        del self._seen[folder][name]
        if not self._seen[folder]:
            del self._seen[folder]
        self._sorted = None
        self._pending.discard(path)
        self._problems.pop(path, None)

    # reading ---------------------------------------------------------------------------------------------------------

    def pages(self) -> tuple[PageRow, ...]:
        """Every page, in the order of their paths."""
        with self._lock:
            if self._sorted is None:
                self._sorted = (*map(self._known.__getitem__, self._order), *self._unnamed)
            return self._sorted

    def says_anything(self) -> bool:
        """Whether somebody has written into it since it was made."""
        with self._lock:
            return any(row.origin != "init" and is_content(row) for row in self._known.values())

    def page(self, path: str) -> PageRow | None:
        with self._lock:
            return self._known.get(path)

    def is_readable(self, path: str) -> bool:
        """Whether the file may still be read: losing that changes neither its time nor its size."""
        return os.access(self.root / path, os.R_OK)

    def contents(self, paths: Iterable[str]) -> dict[str, str]:
        """The contents of these pages, as they were when they were indexed."""
        return self._file.contents(paths)

    def text(self, path: str) -> str:
        """The content of one page to be read by a human; that of a pending page is read from its file."""
        page = self.page(path)
        if page is not None and page.pending:
            with contextlib.suppress(OSError):
                return page_reading.read(self.root, path)[1]
        return self.contents([path]).get(path, "")

    def frequencies(self, of: Iterable[str]) -> dict[str, int]:
        """In how many pages each term stands."""
        return self._file.frequencies(of)

    def matching(self, any_of: Sequence[str], limit: int, *, column: str = "") -> list[tuple[str, float]]:
        """(path, BM25) of the best pages that have any of the terms, in that column (`title`, `name`) or anywhere."""
        return self._file.matching(any_of, limit, column)


def is_content(page: PageRow) -> bool:
    """Whether the page says anything: a heading alone does below `wiki/`, but not on a page that every base has."""
    return not page.problem and not (page.is_bare and layout.is_meta(page.path))


def _name_of(root: Path) -> str:
    """One file for each folder, whatever it is called; links to the same folder share one."""
    return hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:32]
