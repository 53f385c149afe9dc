"""Entries that resemble an entry or a text: those its own words find."""

from __future__ import annotations

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import NOT_ARCHIVED
from devflow.retrieval.entries import search_entries
from devflow.retrieval.hits import Hit
from devflow.store import entries
from devflow.store.database import Session
from devflow.store.entry_lists import Filters

QUERY_MAX = 2_000
"""So many characters of a text are its query; the head of an entry says what it is about."""


def similar(session: Session, id_or_text: str, limit: int) -> tuple[Hit, ...]:
    """The best `limit` entries in any status but archived, without the entry itself, best first."""
    own: str | None = None
    text = id_or_text
    try:
        entry = entries.get(session, id_or_text.strip())
    except NotFound:
        pass
    else:
        own, text = entry.id, f"{entry.title}\n{entry.content}"
    found = search_entries(session, text[:QUERY_MAX], Filters(statuses=NOT_ARCHIVED), limit=limit + 1).hits
    return tuple(hit for hit in found if hit.entry.id != own)[:limit]
