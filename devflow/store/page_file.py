"""The file of one knowledge base's page index: what only SQLite (FTS5) has. It may be thrown away at any time.

`pages` has what is known of each page, `page_terms` the terms of its title, its file's name and its content. Two
processes may write into the same file; each change reads what the other has left.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.domain.text import terms

log = logging.getLogger(__name__)

VERSION = 1
"""Raise it whenever terms or the reading of pages change: a file of another version is made anew."""

_TABLES = """
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    title TEXT NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, bare INTEGER NOT NULL, origin TEXT NOT NULL,
    problem TEXT NOT NULL, pending INTEGER NOT NULL
);
CREATE VIRTUAL TABLE page_terms USING fts5(title, name, content, content='', tokenize="ascii tokenchars '_+#.'");
INSERT INTO page_terms (page_terms, rank) VALUES ('rank', 'bm25(3.0, 1.5, 1.0)');
"""
_COLUMNS = "path, mtime_ns, size, title, name, bare, origin, problem, pending"


@dataclass(frozen=True, slots=True)
class PageRow:
    """What is kept of a page beside its content. `mtime_ns` and `size` (bytes) tell one state of its file from another.

    `problem`: why its content is not there, a stable word, else empty. `pending`: it has not been read yet.
    """

    path: str
    mtime_ns: int
    size: int
    title: str
    name: str
    is_bare: bool = False
    origin: str = ""
    problem: str = ""
    pending: bool = False


class PageFile:
    """`file` None keeps it in memory. Blocks; safe from any thread. Write inside `writing()`."""

    def __init__(self, file: Path | None) -> None:
        self.lock = threading.RLock()
        self._connection = _opened(file)
        self._version = -1

    def close(self) -> None:
        with self.lock:
            self._connection.close()

    # reading ---------------------------------------------------------------------------------------------------------

    def changed_elsewhere(self) -> bool:
        """Whether another process has written since this was last asked; True the first time."""
        with self.lock:
            version = self._number("PRAGMA data_version")
            changed, self._version = version != self._version, version
            return changed

    def rows(self) -> list[PageRow]:
        with self.lock:
            found = self._connection.execute(f"SELECT {_COLUMNS} FROM pages").fetchall()  # noqa: S608 - own names
        return [
            PageRow(path, mtime_ns, size, title, name, bool(bare), origin, problem, bool(pending))
            for path, mtime_ns, size, title, name, bare, origin, problem, pending in found
        ]

    def contents(self, paths: Iterable[str]) -> dict[str, str]:
        """The contents of these pages, as they were when they were put here."""
        with self.lock:
            return {
                path: zlib.decompress(row[0]).decode()
                for path in paths
                if (row := self._row("SELECT content FROM pages WHERE path = ? AND problem = ''", path)) is not None
            }

    def frequencies(self, of: Iterable[str]) -> dict[str, int]:
        """In how many pages each term stands."""
        with self.lock:
            return {
                term: self._number("SELECT count(*) FROM page_terms WHERE page_terms MATCH ?", _quoted(term))
                for term in of
            }

    def matching(self, any_of: Sequence[str], limit: int, column: str = "") -> list[tuple[str, float]]:
        """(path, BM25) of the best pages that have any of the terms, in that column or anywhere; higher is better."""
        if not any_of:
            return []
        asked = " OR ".join(map(_quoted, any_of))
        with self.lock:
            return self._connection.execute(
                "SELECT p.path, -f.rank FROM page_terms f JOIN pages p ON p.id = f.rowid "
                "WHERE f.page_terms MATCH ? ORDER BY f.rank LIMIT ?",
                (f"{{{column}}} : ({asked})" if column else asked, limit),
            ).fetchall()

    # writing ---------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction. Where it fails nothing of it is kept, and `changed_elsewhere` says so."""
        with self.lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                self._version = -1
                raise
            self._connection.execute("COMMIT")

    def put(self, row: PageRow, content: str) -> None:
        """Keep the page, in the place of what was kept of it before."""
        self.remove(row.path)
        found = self._connection.execute(
            f"INSERT INTO pages ({_COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",  # noqa: S608
            (
                row.path,
                row.mtime_ns,
                row.size,
                row.title,
                row.name,
                row.is_bare,
                row.origin,
                row.problem,
                row.pending,
                zlib.compress(content.encode(), 1),
            ),
        ).fetchone()
        if not row.problem:
            self._connection.execute(
                "INSERT INTO page_terms (rowid, title, name, content) VALUES (?, ?, ?, ?)",
                (found[0], _stream(row.title), _stream(row.name), _stream(content)),
            )

    def remove(self, path: str) -> None:
        """Forget the page; one that is not there is no error."""
        row = self._row("SELECT id, title, name, content, problem FROM pages WHERE path = ?", path)
        if row is None:
            return
        id, title, name, content, problem = row
        if not problem:
            # A table without content must be told the very terms it holds, or it keeps them.
            self._connection.execute(
                "INSERT INTO page_terms (page_terms, rowid, title, name, content) VALUES ('delete', ?, ?, ?, ?)",
                (id, _stream(title), _stream(name), _stream(zlib.decompress(content).decode())),
            )
        self._connection.execute("DELETE FROM pages WHERE id = ?", (id,))

    def _row(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
        return found

    def _number(self, statement: str, *values: object) -> int:
        return int(self._connection.execute(statement, values).fetchone()[0])


def _opened(file: Path | None) -> sqlite3.Connection:
    if file is None:
        return _connected(":memory:")
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        return _connected(str(file))
    except sqlite3.DatabaseError:
        log.warning("the index of pages %s cannot be used and is made anew", file.name)
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        return _connected(str(file))


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


def _stream(text: str) -> str:
    return " ".join(terms(text))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
