"""Vectors of entries, and where each entry's stand. None of it is an edit: no timeline event, no new version (spec 08).

An entry is `ready` for a model exactly when its rows here are of that model and of the text it has now: whoever changes
the text calls `forget` in the same transaction.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from devflow.domain.events import Aggregate
from devflow.domain.knowledge import EmbeddingStatus, Status
from devflow.store.database import Unit
from devflow.store.schema import EntryRow
from devflow.store.schema_vectors import EntryVectorRow

ERROR_MAX = 500
READ_AT_ONCE = 2_000
ASKED_AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class Text:
    """What is embedded of an entry; `text_hash` names exactly this text."""

    entry_id: str
    title: str
    content: str

    @property
    def text_hash(self) -> str:
        return hashlib.sha256(f"{self.title}\x00{self.content}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Progress:
    """Published entries: how many there are, have vectors of the model, and failed."""

    total: int
    ready: int
    failed: int

    @property
    def left(self) -> int:
        return self.total - self.ready - self.failed


@dataclass(frozen=True, slots=True)
class Stored:
    """A row as the index takes it in."""

    id: int
    entry_id: str
    vector: bytes
    is_han: bool


@dataclass(frozen=True, slots=True)
class Packed:
    """The vector of one part; `is_han`: there are Han characters in the part."""

    vector: bytes
    is_han: bool


def pack(vector: Sequence[float]) -> bytes:
    """A vector of length one in 16-bit floats; raises ValueError for one without a direction."""
    length = math.sqrt(math.fsum(number * number for number in vector))
    if not length or not math.isfinite(length):
        raise ValueError("a vector without a direction")
    return struct.pack(f"<{len(vector)}e", *(number / length for number in vector))


def unpack(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 2}e", vector)


# Reading ------------------------------------------------------------------------------------------------------------


def due(session: Session, model: str, limit: int, without: Collection[str] = ()) -> tuple[Text, ...]:
    """Published entries without vectors of the model, those that never failed first, then the newest; at most `limit`.

    `without`: ids that must wait.
    """
    query = (
        select(EntryRow.id, EntryRow.title, EntryRow.content)
        .where(EntryRow.status == Status.PUBLISHED.value, ~_is_ready(model))
        .order_by(EntryRow.embedding_status == EmbeddingStatus.FAILED.value, EntryRow.updated_at.desc())
        .limit(limit + len(without))
    )
    rows = (Text(id, title, content) for id, title, content in session.execute(query) if id not in without)
    return tuple(rows)[:limit]


def progress(session: Session, model: str) -> Progress:
    query = (
        select(EntryRow.embedding_status, EntryRow.embedding_model, func.count())
        .where(EntryRow.status == Status.PUBLISHED.value)
        .group_by(EntryRow.embedding_status, EntryRow.embedding_model)
    )
    total = ready = failed = 0
    for status, of, count in session.execute(query):
        total += count
        if status == EmbeddingStatus.READY and of == model:
            ready += count
        elif status == EmbeddingStatus.FAILED and of == model:
            failed += count
    return Progress(total, ready, failed)


def dimension_of(session: Session, model: str) -> int | None:
    """How many numbers a stored vector of the model has; None where there is none."""
    return session.scalar(select(EntryVectorRow.dimension).where(EntryVectorRow.model == model).limit(1))


def newest(session: Session) -> int:
    (row,) = _driver(session).execute("SELECT coalesce(max(id), 0) FROM entry_vectors").fetchall()
    return int(row[0])


def after(session: Session, model: str, id: int) -> Iterator[Stored]:
    """Rows of the model that are newer than the row `id`, oldest first."""
    query = (
        select(EntryVectorRow.id, EntryVectorRow.entry_id, EntryVectorRow.vector, EntryVectorRow.is_han)
        .where(EntryVectorRow.id > id, EntryVectorRow.model == model)
        .order_by(EntryVectorRow.id)
        .execution_options(yield_per=READ_AT_ONCE)
    )
    return (Stored(*row) for row in session.execute(query))


def existing(session: Session, ids: Iterable[int]) -> frozenset[int]:
    """Those of the rows that are still there."""
    wanted, found = list(ids), set[int]()
    for start in range(0, len(wanted), ASKED_AT_ONCE):
        some = wanted[start : start + ASKED_AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = _driver(session).execute(f"SELECT id FROM entry_vectors WHERE id IN ({marks})", some)  # noqa: S608
        found.update(row[0] for row in rows)
    return frozenset(found)


# Writing ------------------------------------------------------------------------------------------------------------


def put(unit: Unit, text: Text, model: str, vectors: Sequence[Packed]) -> bool:
    """Store the vectors of a text's parts; False, and nothing written, where the entry is gone or has another text."""
    row = unit.session.get(EntryRow, text.entry_id)
    if row is None or Text(row.id, row.title, row.content).text_hash != text.text_hash:
        return False
    unit.session.execute(delete(EntryVectorRow).where(EntryVectorRow.entry_id == row.id))
    dimension = len(vectors[0].vector) // 2
    unit.session.add_all(
        EntryVectorRow(
            entry_id=row.id,
            part=part,
            model=model,
            dimension=dimension,
            text_hash=text.text_hash,
            is_han=packed.is_han,
            vector=packed.vector,
            created_at=unit.at,
        )
        for part, packed in enumerate(vectors)
    )
    _set(row, EmbeddingStatus.READY, model, dimension)
    unit.changed(Aggregate.ENTRY, row.id)
    return True


def fail(unit: Unit, ids: Collection[str], model: str, error: str) -> None:
    """Note on each entry why it has no vectors, and one more try. Vectors of another model go: nobody compares them."""
    for id in ids:
        row = unit.session.get(EntryRow, id)
        if row is None or row.status != Status.PUBLISHED:
            continue
        attempts = row.embedding_attempts + 1 if row.embedding_model == model else 1
        unit.session.execute(delete(EntryVectorRow).where(EntryVectorRow.entry_id == id))
        _set(row, EmbeddingStatus.FAILED, model, None, error[:ERROR_MAX], attempts)
        unit.changed(Aggregate.ENTRY, id)


def forget(unit: Unit, row: EntryRow, status: EmbeddingStatus = EmbeddingStatus.NONE) -> None:
    """The entry's text changed: what was made of the former one is worth nothing."""
    if row.embedding_status != EmbeddingStatus.NONE:
        unit.session.execute(delete(EntryVectorRow).where(EntryVectorRow.entry_id == row.id))
    _set(row, status, None, None)


def ask_again(unit: Unit, entry_id: str | None = None) -> int:
    """Have the vectors of an entry (None: of all) made anew; returns of how many published ones."""
    if entry_id is not None:
        row = unit.session.get(EntryRow, entry_id)
        if row is None or row.status != Status.PUBLISHED:
            return 0
        forget(unit, row, EmbeddingStatus.PENDING)
        unit.changed(Aggregate.ENTRY, entry_id)
        return 1
    unit.session.execute(delete(EntryVectorRow))
    unit.session.execute(
        update(EntryRow)
        .where(EntryRow.embedding_status != EmbeddingStatus.NONE.value)
        .values(
            embedding_status=EmbeddingStatus.NONE.value,
            embedding_model=None,
            embedding_dimension=None,
            embedding_error=None,
            embedding_attempts=0,
        )
    )
    published = select(func.count()).select_from(EntryRow).where(EntryRow.status == Status.PUBLISHED.value)
    return unit.session.scalar(published) or 0


def _driver(session: Session) -> Any:
    """Straight to the driver, as in `search_lookup`: every search asks, and wrapping costs more than the answer."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    return connection


def _is_ready(model: str) -> ColumnElement[bool]:
    return (EntryRow.embedding_status == EmbeddingStatus.READY.value) & (EntryRow.embedding_model == model)


def _set(
    row: EntryRow,
    status: EmbeddingStatus,
    model: str | None,
    dimension: int | None,
    error: str | None = None,
    attempts: int = 0,
) -> None:
    row.embedding_status = status.value
    row.embedding_model = model
    row.embedding_dimension = dimension
    row.embedding_error = error
    row.embedding_attempts = attempts
