"""The timeline: one event for every change of an entry, in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Aggregate
from devflow.domain.knowledge import EventKind, TimelineEvent
from devflow.domain.messages import N_
from devflow.store import tolerant
from devflow.store.database import Unit
from devflow.store.schema import EntryEventRow


@dataclass(frozen=True, slots=True)
class Act:
    """Who does it (`user`, `ai`, `system`, `mcp:<client>`), and the operation that undo later names."""

    actor: str
    operation: str


def record(
    unit: Unit,
    entry_id: str,
    event: EventKind,
    act: Act,
    changes: Mapping[str, tuple[Any, Any]] | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Append an event. `changes` maps a field to (before, after) in JSON terms."""
    unit.session.add(
        EntryEventRow(
            entry_id=entry_id,
            event=event.value,
            actor=act.actor,
            at=unit.at,
            operation=act.operation,
            changes={name: list(pair) for name, pair in (changes or {}).items()},
            detail=dict(detail or {}),
        )
    )


def add_detail(unit: Unit, event: TimelineEvent, more: Mapping[str, Any]) -> None:
    """Complete what an event knows about its own act; what it says happened stays as it is."""
    row = unit.session.get_one(EntryEventRow, event.id)
    row.detail = {**row.detail, **more}
    unit.changed(Aggregate.ENTRY, event.entry_id)


def of_entry(session: Session, entry_id: str) -> tuple[TimelineEvent, ...]:
    """An entry's events, newest first; they outlive an erased entry, without their texts."""
    query = select(EntryEventRow).where(EntryEventRow.entry_id == entry_id).order_by(EntryEventRow.id.desc())
    return tuple(to_event(row) for row in session.scalars(query))


def of_entries(session: Session, ids: Collection[str]) -> tuple[TimelineEvent, ...]:
    """The events of several entries as one timeline, newest first."""
    query = select(EntryEventRow).where(EntryEventRow.entry_id.in_(ids)).order_by(EntryEventRow.id.desc())
    return tuple(to_event(row) for row in session.scalars(query))


def of_operation(session: Session, operation: str) -> tuple[TimelineEvent, ...]:
    """The events of one operation, oldest first."""
    query = select(EntryEventRow).where(EntryEventRow.operation == operation).order_by(EntryEventRow.id)
    return tuple(to_event(row) for row in session.scalars(query))


def to_event(row: EntryEventRow) -> TimelineEvent:
    """Raises DatabaseProblem for an event of a kind that there is not."""
    try:
        event = EventKind(row.event)
    except ValueError as error:
        raise DatabaseProblem(
            N_("The timeline of the entry {id} cannot be read: {reason}."),
            N_("Run `devflow doctor`: it names the newest good backup."),
            id=row.entry_id,
            reason=error,
        ) from error
    pairs = tolerant.mapping(row.changes).items()
    return TimelineEvent(
        id=row.id,
        entry_id=row.entry_id,
        event=event,
        actor=row.actor,
        at=row.at,
        operation=row.operation,
        changes={name: (pair[0], pair[1]) for name, pair in pairs if isinstance(pair, list) and len(pair) == 2},
        detail=tolerant.mapping(row.detail),
    )
