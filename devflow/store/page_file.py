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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devflow.domain.text import terms
from devflow.domain.text.pieces import pieces

log = logging.getLogger(__name__)

VERSION = 2
"""Raise it whenever terms or the reading of pages change: a file of another version is made anew."""

_TABLES = """
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    title TEXT NOT NULL, name TEXT NOT NULL, bare INTEGER NOT NULL, origin TEXT NOT NULL, problem TEXT NOT NULL,
    pending INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, indexed INTEGER NOT NULL, content BLOB NOT NULL
);
CREATE VIRTUAL TABLE page_terms USING fts5(title, name, content, content='', tokenize="ascii tokenchars '_+#.'");
INSERT INTO page_terms (page_terms, rank) VALUES ('rank', 'bm25(3.0, 1.5, 1.0)');
INSERT INTO page_terms (page_terms, rank) VALUES ('automerge', 16);
"""
_COLUMNS = "path, mtime_ns, size, title, name, bare, origin, problem, pending, ctime_ns"


@dataclass(frozen=True, slots=True)
class PageRow:
    """What is kept of a page beside its content. `mtime_ns`, `size` (bytes) and `ctime_ns` tell one state of its file
    from another.

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
    ctime_ns: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class _Kept:
    """`texts` are title, name and content; `indexed`: their terms stand in the index."""

    id: int
    texts: tuple[str, str, str]
    indexed: bool


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
            found = self._connection.execute(f"SELECT {_COLUMNS} FROM pages ORDER BY path").fetchall()  # noqa: S608
        return [
            PageRow(path, mtime_ns, size, title, name, bool(bare), origin, problem, bool(pending), ctime_ns)
            for path, mtime_ns, size, title, name, bare, origin, problem, pending, ctime_ns in found
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
                "WHERE f.page_terms MATCH ? AND p.problem = '' ORDER BY f.rank LIMIT ?",
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
        """Keep the page, in the place of what was kept of it before; where that says the same, it costs little."""
        kept = self._kept(row.path)
        if kept is not None and kept.indexed and not row.problem and kept.texts == (row.title, row.name, content):
            self._restate(kept.id, row)
            return
        if kept is not None:
            self._forget(kept)
        indexed = not row.problem
        id = self._number(
            f"INSERT INTO pages ({_COLUMNS}, indexed, content) VALUES ({', '.join('?' * 12)}) RETURNING id",  # noqa: S608
            *_values(row),
            indexed,
            zlib.compress(content.encode(), 1),
        )
        if indexed:
            self._connection.execute(
                "INSERT INTO page_terms (rowid, title, name, content) VALUES (?, ?, ?, ?)",
                (id, _stream(row.title), _stream(row.name), _stream(content)),
            )

    def restate(self, row: PageRow) -> None:
        """Change what is known of a page, and leave its content and its terms as they are."""
        found = self._row("SELECT id FROM pages WHERE path = ?", row.path)
        if found is not None:
            self._restate(found[0], row)

    def remove(self, path: str) -> None:
        """Forget the page; one that is not there is no error."""
        kept = self._kept(path)
        if kept is not None:
            self._forget(kept)

    def _restate(self, id: int, row: PageRow) -> None:
        self._connection.execute(
            f"UPDATE pages SET ({_COLUMNS}) = ({', '.join('?' * 10)}) WHERE id = ?",  # noqa: S608 - own names
            (*_values(row), id),
        )

    def _kept(self, path: str) -> _Kept | None:
        row = self._row("SELECT id, title, name, content, indexed FROM pages WHERE path = ?", path)
        if row is None:
            return None
        return _Kept(row[0], (row[1], row[2], zlib.decompress(row[3]).decode()), bool(row[4]))

    def _forget(self, kept: _Kept) -> None:
        if kept.indexed:
            # A table without content must be told the very terms it holds, or it keeps them.
            self._connection.execute(
                "INSERT INTO page_terms (page_terms, rowid, title, name, content) VALUES ('delete', ?, ?, ?, ?)",
                (kept.id, *map(_stream, kept.texts)),
            )
        self._connection.execute("DELETE FROM pages WHERE id = ?", (kept.id,))

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
        connection.execute("PRAGMA cache_size = -8000")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError("an index of another version")
        if version == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _values(row: PageRow) -> tuple[object, ...]:
    """In the order of `_COLUMNS`."""
    state = (row.is_bare, row.origin, row.problem, row.pending, row.ctime_ns)
    return (row.path, row.mtime_ns, row.size, row.title, row.name, *state)


def _stream(text: str) -> str:
    return " ".join(" ".join(terms(piece)) for piece in pieces(text))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
