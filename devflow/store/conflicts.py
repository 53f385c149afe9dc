"""Which entries contradict each other (entry_links, relation `conflict`; KP-10)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from devflow.store.schema import EntryLinkRow


def among(session: Session, ids: Sequence[str]) -> frozenset[frozenset[str]]:
    """The pairs of these entries that contradict each other, whichever of the two was linked to the other."""
    rows = session.execute(
        select(EntryLinkRow.entry_id, EntryLinkRow.other_id).where(
            EntryLinkRow.relation == "conflict", EntryLinkRow.entry_id.in_(ids), EntryLinkRow.other_id.in_(ids)
        )
    )
    return frozenset(frozenset(pair) for pair in rows)
