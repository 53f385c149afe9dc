"""Vectors kept beside the libraries they were made for, by the text they are of.

A library made anew (another version's, or with other documents) gets them back through the store's own writes, and the
product's background work makes only what is lacking. What was interrupted goes on: the library itself keeps what it
has.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from devflow.knowledge.embedding_text import has_han, parts_of
from devflow.store import vectors
from devflow.store.database import Database, Unit
from devflow.store.schema import EntryRow
from devflow.store.schema_vectors import EntryVectorRow
from devflow.store.vectors import Packed, Text

AT_ONCE = 200


class KeptVectors:
    """A file of its own; `model` is the key that the product stores with vectors."""

    def __init__(self, path: Path, model: str) -> None:
        self._path = path
        self._model = model
        with closing(self._open()) as file, file:
            file.execute(
                "CREATE TABLE IF NOT EXISTS kept (model, text, vector, PRIMARY KEY (model, text)) WITHOUT ROWID"
            )

    def give(self, database: Database) -> int:
        """Store the vectors of entries whose every part is known; of how many."""
        given, waiting = 0, database.run_read(lambda session: vectors.due(session, self._model, 1_000_000))
        for some in _chunks(waiting):
            parts = {text: parts_of(text.title, text.content) for text in some}
            known = self.of([part for each in parts.values() for part in each])
            ready = {text: each for text, each in parts.items() if all(part in known for part in each)}

            def work(unit: Unit, ready: Mapping[Text, list[str]] = ready, known: Mapping[str, bytes] = known) -> None:
                for text, parts in ready.items():
                    vectors.put(unit, text, self._model, [Packed(known[part], has_han(part)) for part in parts])

            database.run_write(work)
            given += len(ready)
        return given

    def take(self, database: Database) -> None:
        """Keep the vectors that stand in the library."""
        for some in _chunks(database.run_read(self._ready)):
            ids = [text.entry_id for text in some]
            found = database.run_read(partial(_vectors, model=self._model, ids=ids))
            self.keep(
                (part, vector)
                for text in some
                for part, vector in zip(parts_of(text.title, text.content), found.get(text.entry_id, ()), strict=False)
            )

    def of(self, texts: Sequence[str]) -> dict[str, bytes]:
        """Those that are known."""
        with closing(self._open()) as file:
            found = {
                text: file.execute("SELECT vector FROM kept WHERE (model, text) = (?, ?)", self._name(text)).fetchone()
                for text in texts
            }
        return {text: row[0] for text, row in found.items() if row is not None}

    def keep(self, pairs: Iterable[tuple[str, bytes]]) -> None:
        rows = [(*self._name(text), vector) for text, vector in pairs]
        with closing(self._open()) as file, file:
            file.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?, ?)", rows)

    def _name(self, text: str) -> tuple[str, str]:
        return self._model, hashlib.sha256(text.encode()).hexdigest()

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)

    def _ready(self, session: Session) -> tuple[Text, ...]:
        query = select(EntryRow.id, EntryRow.title, EntryRow.content).where(EntryRow.embedding_model == self._model)
        return tuple(Text(*row) for row in session.execute(query))


def _vectors(session: Session, model: str, ids: Sequence[str]) -> dict[str, list[bytes]]:
    query = (
        select(EntryVectorRow.entry_id, EntryVectorRow.vector)
        .where(EntryVectorRow.model == model, EntryVectorRow.entry_id.in_(ids))
        .order_by(EntryVectorRow.entry_id, EntryVectorRow.part)
    )
    found: dict[str, list[bytes]] = {}
    for id, vector in session.execute(query):
        found.setdefault(id, []).append(vector)
    return found


def _chunks(texts: Sequence[Text]) -> Iterable[Sequence[Text]]:
    return (texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE))
