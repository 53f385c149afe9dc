"""The one index of a knowledge base's pages: for retrieval, for `@`, and for the list of pages (spec 02, Page index).

It lives in a file of its own, which may be thrown away at any time: what it holds is on disk, page by page. A page is
read again only when its time or size has changed. Contains the SQLite (FTS5) of this room.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.domain.text import terms
from devflow.wiki import layout
from devflow.wiki.decoding import decode
from devflow.wiki.page import Origin, read
from devflow.wiki.walking import Stamp, walk

log = logging.getLogger(__name__)

VERSION = 1
"""Raise it whenever terms or reading change: an index of another version is made anew."""
HEAD = 4_096
"""Bytes that are read of each page for its title when many are new; their contents follow."""
MANY = 40
UNREADABLE = "unreadable"
SLICE_S = 0.05
"""Seconds of indexing between two chances for a search."""

_TABLES = """
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    title TEXT NOT NULL, content BLOB NOT NULL, bare INTEGER NOT NULL, origin TEXT NOT NULL, problem TEXT NOT NULL,
    pending INTEGER NOT NULL
);
CREATE INDEX pages_pending ON pages (pending) WHERE pending;
CREATE VIRTUAL TABLE page_terms USING fts5(title, name, content, content='', tokenize="ascii tokenchars '_+#.'");
INSERT INTO page_terms (page_terms, rank) VALUES ('rank', 'bm25(3.0, 1.5, 1.0)');
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept in memory of a page. `pending`: its title is known, its content not yet. `problem`: why it is
    skipped, a stable word (`too_large`, `encoding`, `unreadable`), else empty."""

    path: str
    stamp: Stamp
    title: str
    is_bare: bool
    origin: Origin
    problem: str = ""
    pending: bool = False

    @property
    def is_content(self) -> bool:
        """Whether the page says anything: a heading alone does below `wiki/`, but not on a page every base has."""
        return not self.problem and not (self.is_bare and layout.is_meta(self.path))


@dataclass(frozen=True, slots=True)
class Progress:
    """`pages` are known, of which `pending` have only their title; `closed` are folders that could not be read."""

    pages: int
    pending: int
    skipped: tuple[Known, ...] = ()
    closed: tuple[str, ...] = ()


class PageIndex:
    """The pages of one folder. Every method blocks, and may be called from any thread.

    `cache` is the folder that the index's own file stands in; None keeps it in memory.
    """

    def __init__(self, root: Path, cache: Path | None) -> None:
        self.root = root
        self._lock = threading.RLock()
        self._file = None if cache is None else cache / f"{_name_of(root)}.db"
        self._connection = self._open()
        self._known: dict[str, Known] = {}
        self._data_version = -1
        self._closed: tuple[str, ...] = ()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # keeping it true -------------------------------------------------------------------------------------------------

    def refresh(self, within: float | None = None) -> Progress:
        """Take in what has changed on disk. New pages are all known by title first; `within` seconds bound the rest.

        A folder that cannot be read, or is gone as a whole, deletes nothing.
        """
        end = None if within is None else time.monotonic() + within
        walked = walk(self.root)
        with self._lock:
            self._reload()
            self._closed = tuple(walked.closed)
            gone = [path for path in self._known if path not in walked.stamps and not walked.is_closed(path)]
            changed = [
                path
                for path, stamp in walked.stamps.items()
                if (known := self._known.get(path)) is None or known.stamp != stamp or known.problem == UNREADABLE
            ]
            if gone or changed:
                with self._writing():
                    for path in gone:
                        self._forget(path)
                    if len(changed) > MANY:
                        for path in changed:
                            self._take(path, walked.stamps[path], head_only=True)
        if len(changed) <= MANY:
            self._take_all([(path, walked.stamps[path]) for path in changed], end)
        self._complete(end)
        return self.progress()

    def progress(self) -> Progress:
        with self._lock:
            known = self._known.values()
            return Progress(
                len(known),
                sum(page.pending for page in known),
                tuple(sorted((page for page in known if page.problem), key=lambda page: page.path)),
                self._closed,
            )

    def _complete(self, end: float | None) -> None:
        with self._lock:
            waiting = [(page.path, page.stamp) for page in self._known.values() if page.pending]
        self._take_all(waiting, end)

    def _take_all(self, pages: Sequence[tuple[str, Stamp]], end: float | None) -> None:
        """In slices, so that a search never waits for the whole of them."""
        place = 0
        while place < len(pages) and (end is None or time.monotonic() < end or place == 0):
            until = time.monotonic() + SLICE_S
            with self._lock, self._writing():
                while place < len(pages) and time.monotonic() < until:
                    path, stamp = pages[place]
                    self._take(path, stamp)
                    place += 1

    # reading ---------------------------------------------------------------------------------------------------------

    def pages(self) -> tuple[Known, ...]:
        """Every page, in the order of their paths."""
        with self._lock:
            return tuple(sorted(self._known.values(), key=lambda page: page.path))

    def page(self, path: str) -> Known | None:
        with self._lock:
            return self._known.get(path)

    def is_readable(self, path: str) -> bool:
        """Whether the file may still be read: losing that changes neither its time nor its size."""
        return os.access(self.root / path, os.R_OK)

    def contents(self, paths: Iterable[str]) -> dict[str, str]:
        """The contents of these pages, as they were when they were indexed."""
        with self._lock:
            return {
                path: zlib.decompress(row[0]).decode()
                for path in paths
                if (row := self._row("SELECT content FROM pages WHERE path = ? AND problem = ''", path)) is not None
            }

    def frequencies(self, of: Iterable[str]) -> dict[str, int]:
        """In how many pages each term stands."""
        with self._lock:
            return {
                term: self._number("SELECT count(*) FROM page_terms WHERE page_terms MATCH ?", _quoted(term))
                for term in of
            }

    def matching(self, any_of: Sequence[str], limit: int, *, column: str = "") -> list[tuple[str, float]]:
        """(path, BM25) of the best pages that have any of the terms, in that column (`title`, `name`) or anywhere."""
        if not any_of:
            return []
        asked = " OR ".join(map(_quoted, any_of))
        with self._lock:
            return [
                (path, score)
                for path, score in self._connection.execute(
                    "SELECT p.path, -f.rank FROM page_terms f JOIN pages p ON p.id = f.rowid "
                    "WHERE f.page_terms MATCH ? ORDER BY f.rank LIMIT ?",
                    (f"{{{column}}} : ({asked})" if column else asked, limit),
                )
            ]

    # pages come and go -----------------------------------------------------------------------------------------------

    def _take(self, path: str, stamp: Stamp, *, head_only: bool = False) -> None:
        page, content = _read(self.root, path, stamp, head_only=head_only)
        self._forget(path)
        found = self._connection.execute(
            "INSERT INTO pages (path, mtime_ns, size, title, content, bare, origin, problem, pending) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                path,
                page.stamp.mtime_ns,
                page.stamp.size,
                page.title,
                zlib.compress(content.encode(), 1),
                page.is_bare,
                page.origin,
                page.problem,
                page.pending,
            ),
        ).fetchone()
        if not page.problem:
            self._connection.execute(
                "INSERT INTO page_terms (rowid, title, name, content) VALUES (?, ?, ?, ?)",
                (found[0], *_streams(page, content)),
            )
        self._known[path] = page

    def _forget(self, path: str) -> None:
        """By what the file holds, not by what memory says: another process may have indexed the page meanwhile."""
        self._known.pop(path, None)
        row = self._row("SELECT id, title, content, problem FROM pages WHERE path = ?", path)
        if row is None:
            return
        id, title, content, problem = row
        if not problem:
            # A table without content must be told the very terms it holds, or it keeps them.
            self._connection.execute(
                "INSERT INTO page_terms (page_terms, rowid, title, name, content) VALUES ('delete', ?, ?, ?, ?)",
                (id, _stream(title), _stream(layout.stem(path)), _stream(zlib.decompress(content).decode())),
            )
        self._connection.execute("DELETE FROM pages WHERE id = ?", (id,))

    # the file --------------------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            return _connected(":memory:")
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return _connected(str(self._file))
        except sqlite3.DatabaseError:
            log.warning("the index of pages %s cannot be used and is made anew", self._file.name)
            for suffix in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
            return _connected(str(self._file))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; where it fails, memory is read from the file again."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._data_version = -1
            self._reload()
            raise
        self._connection.execute("COMMIT")

    def _reload(self) -> None:
        """Read what another process has written since."""
        version = self._number("PRAGMA data_version")
        if version == self._data_version:
            return
        self._data_version = version
        self._known = {
            path: Known(path, Stamp(mtime_ns, size), title, bool(bare), origin, problem, bool(pending))
            for path, mtime_ns, size, title, bare, origin, problem, pending in self._connection.execute(
                "SELECT path, mtime_ns, size, title, bare, origin, problem, pending FROM pages"
            )
        }

    def _row(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
        return found

    def _number(self, statement: str, *values: object) -> int:
        return int(self._connection.execute(statement, values).fetchone()[0])


def _connected(file: str) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=10.0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")  # what a power cut takes is read from the pages again
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError("an index of another version")
        if version == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _read(root: Path, path: str, stamp: Stamp, *, head_only: bool) -> tuple[Known, str]:
    def skipped(problem: str) -> tuple[Known, str]:
        return Known(path, stamp, layout.stem(path), is_bare=True, origin="", problem=problem), ""

    if stamp.size > layout.PAGE_MAX:
        return skipped("too_large")
    try:
        with os.fdopen(os.open(root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            raw = file.read(HEAD if head_only else layout.PAGE_MAX + 1)
    except OSError:
        return skipped(UNREADABLE)
    if head_only and len(raw) == HEAD:
        raw = raw[: raw.rfind(b"\n") + 1] or raw
        text = decode(raw)
        title = read(path, text).title if text is not None else layout.stem(path)
        return Known(path, stamp, title, is_bare=False, origin="", pending=True), ""
    text = decode(raw)
    if text is None:
        return skipped("encoding")
    page = read(path, text)
    known = Known(path, stamp, page.title, page.is_bare, page.origin)
    if head_only:
        return Known(path, stamp, page.title, page.is_bare, page.origin, pending=True), ""
    return known, page.content


def _streams(page: Known, content: str) -> tuple[str, str, str]:
    return _stream(page.title), _stream(layout.stem(page.path)), _stream(content)


def _stream(text: str) -> str:
    return " ".join(terms(text))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _name_of(root: Path) -> str:
    """One file for each folder, whatever it is called; links to the same folder share one."""
    return hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:32]
