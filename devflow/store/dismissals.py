"""Pairs of entries that a human said do not contradict each other; it holds while both texts stay as they were."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from devflow.domain.events import Aggregate
from devflow.store.database import Unit
from devflow.store.schema import EntryDismissalRow, EntryRow


def among(session: Session, ids: Collection[str]) -> frozenset[frozenset[str]]:
    """The pairs of these entries that were dismissed, and say what they said then."""
    one, other = aliased(EntryRow), aliased(EntryRow)
    row = EntryDismissalRow
    rows = session.execute(
        select(row.one_id, row.other_id)
        .join(one, one.id == row.one_id)
        .join(other, other.id == row.other_id)
        .where(
            row.one_id.in_(ids),
            row.other_id.in_(ids),
            one.normal_hash == row.one_hash,
            other.normal_hash == row.other_hash,
        )
    )
    return frozenset(frozenset(pair) for pair in rows)


def put(unit: Unit, id: str, other_id: str) -> None:
    """Raises NoResultFound for an entry that there is not."""
    one, other = (unit.session.get_one(EntryRow, each) for each in sorted((id, other_id)))
    unit.session.merge(
        EntryDismissalRow(
            one_id=one.id,
            other_id=other.id,
            one_hash=one.normal_hash,
            other_hash=other.normal_hash,
            created_at=unit.at,
        )
    )
    _changed(unit, id, other_id)


def take_back(unit: Unit, id: str, other_id: str) -> None:
    row = unit.session.get(EntryDismissalRow, tuple(sorted((id, other_id))))
    if row is not None:
        unit.session.delete(row)
    _changed(unit, id, other_id)


def _changed(unit: Unit, *ids: str) -> None:
    for id in ids:
        unit.changed(Aggregate.ENTRY, id)
