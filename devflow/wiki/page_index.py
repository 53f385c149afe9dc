"""The one index of a knowledge base's pages: for retrieval, for `@`, and for the list of pages (spec 02, Page index).

A page is read again only when its time or size has changed, so that a turn in which nothing has costs a walk through
the folder.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devflow.store.page_file import PageFile, PageRow
from devflow.wiki import layout
from devflow.wiki.decoding import decode
from devflow.wiki.page import read
from devflow.wiki.walking import Stamp, walk

HEAD = 4_096
"""Bytes that are read of each page for its title when many are new; their contents follow."""
MANY = 40
SLICE_S = 0.05
"""Seconds of indexing between two chances for a search."""
TOO_LARGE, ENCODING, UNREADABLE = "too_large", "encoding", "unreadable"


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
        self._known: dict[str, PageRow] = {}
        self._closed: tuple[str, ...] = ()

    def close(self) -> None:
        self._file.close()

    # keeping it true -------------------------------------------------------------------------------------------------

    def refresh(self, within: float | None = None) -> Progress:
        """Take in what has changed on disk. New pages are all known by title first; `within` seconds bound the rest.

        A folder that cannot be read, or is gone as a whole, deletes nothing.
        """
        end = None if within is None else time.monotonic() + within
        walked = walk(self.root)
        with self._lock:
            if self._file.changed_elsewhere():
                self._known = {row.path: row for row in self._file.rows()}
            self._closed = tuple(walked.closed)
            gone = [path for path in self._known if path not in walked.stamps and not walked.is_closed(path)]
            changed = [(path, stamp) for path, stamp in walked.stamps.items() if self._is_news(path, stamp)]
            if gone or len(changed) > MANY:
                with self._file.writing():
                    for path in gone:
                        self._file.remove(path)
                        del self._known[path]
                    if len(changed) > MANY:
                        for path, stamp in changed:
                            self._take(path, stamp, head_only=True)
        self._take_all(changed if len(changed) <= MANY else [], end)
        with self._lock:
            waiting = [(row.path, Stamp(row.mtime_ns, row.size)) for row in self._known.values() if row.pending]
        self._take_all(waiting, end)
        return self.progress()

    def progress(self) -> Progress:
        with self._lock:
            rows = self._known.values()
            return Progress(
                len(rows),
                sum(row.pending for row in rows),
                tuple(sorted((row for row in rows if row.problem), key=lambda row: row.path)),
                self._closed,
            )

    def _is_news(self, path: str, stamp: Stamp) -> bool:
        row = self._known.get(path)
        return row is None or Stamp(row.mtime_ns, row.size) != stamp or row.problem == UNREADABLE

    def _take_all(self, pages: Sequence[tuple[str, Stamp]], end: float | None) -> None:
        """In slices, so that a search never waits for the whole of them; at least one slice, however late it is."""
        place = 0
        while place < len(pages) and (end is None or time.monotonic() < end or place == 0):
            until = time.monotonic() + SLICE_S
            with self._file.writing():
                while place < len(pages) and time.monotonic() < until:
                    self._take(*pages[place])
                    place += 1

    def _take(self, path: str, stamp: Stamp, *, head_only: bool = False) -> None:
        row, content = _read(self.root, path, stamp, head_only=head_only)
        self._file.put(row, content)
        self._known[path] = row

    # reading ---------------------------------------------------------------------------------------------------------

    def pages(self) -> tuple[PageRow, ...]:
        """Every page, in the order of their paths."""
        with self._lock:
            return tuple(sorted(self._known.values(), key=lambda row: row.path))

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
            return _read(self.root, path, Stamp(page.mtime_ns, page.size), head_only=False)[1]
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


def _read(root: Path, path: str, stamp: Stamp, *, head_only: bool) -> tuple[PageRow, str]:
    name = layout.stem(path)
    row = PageRow(path, stamp.mtime_ns, stamp.size, name, name)
    if stamp.size > layout.PAGE_MAX:
        return replace(row, problem=TOO_LARGE), ""
    try:
        with os.fdopen(os.open(root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            raw = file.read(HEAD if head_only else layout.PAGE_MAX + 1)
    except OSError:
        return replace(row, problem=UNREADABLE), ""
    if head_only:
        whole = raw[: raw.rfind(b"\n") + 1] or raw  # a character may be cut at the end
        text = decode(whole if len(raw) == HEAD else raw)
        return replace(row, title=name if text is None else read(path, text).title, pending=True), ""
    text = decode(raw)
    if text is None:
        return replace(row, problem=ENCODING), ""
    page = read(path, text)
    return replace(row, title=page.title, is_bare=page.is_bare, origin=page.origin), page.content


def _name_of(root: Path) -> str:
    """One file for each folder, whatever it is called; links to the same folder share one."""
    return hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:32]
