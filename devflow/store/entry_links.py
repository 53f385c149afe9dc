"""What entries were linked to: look-alikes found when they came in, and contradictions (KP-10)."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from devflow.store.schema import EntryLinkRow


def merged_from(session: Session, id: str) -> tuple[str, ...]:
    """Ids of the entries merged into this one, and of those merged into them, the nearest first."""
    found: dict[str, None] = {}
    asked = [id]
    while asked:
        query = select(EntryLinkRow.other_id).where(
            EntryLinkRow.relation == "merged", EntryLinkRow.entry_id.in_(asked), EntryLinkRow.other_id != id
        )
        asked = [other for other in session.scalars(query.order_by(EntryLinkRow.created_at)) if other not in found]
        found |= dict.fromkeys(asked)
    return tuple(found)


def merged_into(session: Session, id: str) -> str | None:
    """The id of the entry that this one was merged into."""
    query = select(EntryLinkRow.entry_id).where(EntryLinkRow.relation == "merged", EntryLinkRow.other_id == id)
    return session.scalar(query.order_by(EntryLinkRow.created_at.desc()).limit(1))


def conflicts_of(session: Session, id: str) -> tuple[str, ...]:
    """Ids of the entries that contradict this one, whichever of the two was linked to the other."""
    query = select(EntryLinkRow.entry_id, EntryLinkRow.other_id).where(
        EntryLinkRow.relation == "conflict", or_(EntryLinkRow.entry_id == id, EntryLinkRow.other_id == id)
    )
    pairs = session.execute(query.order_by(EntryLinkRow.created_at))
    return tuple(dict.fromkeys(other if one == id else one for one, other in pairs))


def conflicts_among(session: Session, ids: Collection[str]) -> frozenset[frozenset[str]]:
    """The pairs of these entries that contradict each other, whichever of the two was linked to the other."""
    rows = session.execute(
        select(EntryLinkRow.entry_id, EntryLinkRow.other_id).where(
            EntryLinkRow.relation == "conflict", EntryLinkRow.entry_id.in_(ids), EntryLinkRow.other_id.in_(ids)
        )
    )
    return frozenset(frozenset(pair) for pair in rows)
