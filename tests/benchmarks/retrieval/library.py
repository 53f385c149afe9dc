"""A real library made of documents: the store's own writes, in a real file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from devflow.app.paths import app_paths
from devflow.domain.errors import InvalidInput
from devflow.domain.events import Hub
from devflow.domain.knowledge import Kind, Status, draft
from devflow.store import entries
from devflow.store.database import Database, Unit
from devflow.store.migrate import open_database
from devflow.store.timeline import Act

from .sets import Document

ACT = Act("user", "00000000-0000-0000-0000-000000000000")
AT_ONCE = 500


@contextmanager
def library(home: Path) -> Iterator[Database]:
    """An empty library in a new home, closed at the end."""
    database = open_database(app_paths(home), Hub())
    try:
        yield database
    finally:
        database.close()


def load(database: Database, documents: Sequence[Document], prefix: str = "") -> dict[str, str]:
    """Publish every document the entry's rules accept; returns entry ids to document ids."""
    ids: dict[str, str] = {}
    for start in range(0, len(documents), AT_ONCE):
        some = documents[start : start + AT_ONCE]
        ids |= database.run_write(lambda unit, some=some: _load(unit, some, prefix))
    return ids


def _load(unit: Unit, documents: Sequence[Document], prefix: str) -> dict[str, str]:
    ids: dict[str, str] = {}
    for document in documents:
        try:
            made = draft(
                kind=Kind.DIAGNOSIS, title=document.title, content=document.text, source_ref="import:benchmark"
            )
        except InvalidInput:
            continue
        id = str(uuid5(NAMESPACE_URL, prefix + document.id))
        entries.insert(unit, made, ACT, id=id)
        entries.compare_and_set_status(unit, id, Status.CANDIDATE, Status.PENDING_REVIEW, ACT)
        entries.compare_and_set_status(unit, id, Status.PENDING_REVIEW, Status.PUBLISHED, ACT)
        ids[id] = document.id
    return ids
