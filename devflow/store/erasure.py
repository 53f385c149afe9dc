"""What `erase` takes out of other tables, so that an erased entry's text is nowhere left (spec 01 and 08)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Text, cast, select, update
from sqlalchemy.orm import Session

from devflow.domain.events import Aggregate
from devflow.store import tolerant
from devflow.store.database import Unit
from devflow.store.schema import EntryEventRow, ReceiptRow


def former_texts(session: Session, entry_id: str) -> tuple[str, ...]:
    """Titles and contents that the entry has had, as its events tell them."""
    changes = session.scalars(select(EntryEventRow.changes).where(EntryEventRow.entry_id == entry_id))
    pairs = [tolerant.mapping(each).get(name) for each in changes for name in ("title", "content")]
    return tuple(text for pair in pairs for text in tolerant.texts(pair))


def blank_events(unit: Unit, entry_id: str) -> None:
    """Take every text out of an entry's events; that they happened, when and by whom stays."""
    unit.session.execute(update(EntryEventRow).where(EntryEventRow.entry_id == entry_id).values(changes={}, detail={}))


def blank_receipts(unit: Unit, entry_id: str) -> None:
    """Blank the entry in every receipt, and the rendered block it stood in (which held its text)."""
    mentions = cast(ReceiptRow.library, Text).contains(entry_id, autoescape=True)
    for row in unit.session.scalars(select(ReceiptRow).where(mentions)):
        row.library = _without(row.library, entry_id)
        unit.changed(Aggregate.CONVERSATION, row.conversation_id)


def _without(library: dict[str, Any], entry_id: str) -> dict[str, Any]:
    items = [_blanked(item) if item.get("ref") == entry_id else item for item in library.get("items", ())]
    return {**library, "block": "", "items": items}


def _blanked(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "title": "", "excerpt": "", "matched": [], "places": [], "size": 0}
