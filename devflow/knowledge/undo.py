"""Undo: a compensating transaction that puts back what one operation changed (spec 01, Transitions; 08, Operations).

It is the one exception to the table of transitions, human only, all or nothing, and refused where an entry has changed
since. Redo is the same act on the undo's own operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from devflow.domain.errors import NotFound, Refused
from devflow.domain.knowledge import (
    Entry,
    EventKind,
    Status,
    TimelineEvent,
    check_confidence,
    check_content,
    check_kind,
    check_tags,
    check_title,
)
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, Done, require_human
from devflow.store import dismissals, entries, timeline
from devflow.store.database import Unit
from devflow.store.entries import BEFORE, VERSION
from devflow.store.timeline import Act

UNDOING = N_("Undoing is a human act.")
OPERATION = N_("operation")
DISMISSED = "dismissed"
"""In an event's detail: [id, false] of an entry that this one was said not to contradict; true if that was undone."""
MERGED, PARTED = "merged", "parted"
"""In an event's detail: ids of entries that were merged into this one, or came out again when that was undone."""


def undo(unit: Unit, operation: str, *, actor: Actor, agent_child: bool = False) -> Done:
    """Put back the fields and the status of every entry of that operation; a new entry is archived."""
    return _compensate(unit, operation, EventKind.UNDONE, actor, agent_child)


def redo(unit: Unit, operation: str, *, actor: Actor, agent_child: bool = False) -> Done:
    """Undo an undo: `operation` is the one that the undo returned."""
    return _compensate(unit, operation, EventKind.REDONE, actor, agent_child)


def _compensate(unit: Unit, operation: str, event: EventKind, actor: Actor, agent_child: bool) -> Done:
    require_human(actor, UNDOING, agent_child=agent_child)
    events = timeline.of_operation(unit.session, operation)
    if not events:
        raise NotFound(OPERATION, operation)
    if event is EventKind.REDONE and not any(one.event is EventKind.UNDONE for one in events):
        raise Refused(N_("Only what was undone can be done again."), N_("Name the operation of the undo."))
    try:
        moves = _moves(events)
        dismissed = [(one.entry_id, *_dismissed(one)) for one in events if DISMISSED in one.detail]
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a restored timeline says what its file said
        raise Refused(
            N_("This act cannot be undone."), N_("Open the entry: its timeline shows what changed.")
        ) from error
    if dismissed:
        return _dismiss_or_not(unit, dismissed, event, actor.act(), operation)
    if not moves:
        raise Refused(N_("This act cannot be undone."), N_("Erasing, and counting a use, stay as they are."))
    act = actor.act()
    return Done(act.operation, tuple(_put_back(unit, id, move, event, act, operation) for id, move in moves.items()))


@dataclass(slots=True)
class _Move:
    """What an operation did to one entry: the values before it, and the version after it.

    `reuse`: so many uses came with a merge; `merged` into it were these, or (by an undo) these were `parted` from it.
    """

    version: int = 0
    fields: dict[str, Any] = field(default_factory=dict)
    status: Status | None = None
    reuse: int = 0
    merged: tuple[str, ...] = ()
    parted: tuple[str, ...] = ()
    instants: dict[str, datetime | None] | None = None


def _moves(events: Sequence[TimelineEvent]) -> Mapping[str, _Move]:
    moves: dict[str, _Move] = {}
    for event in events:
        if VERSION not in event.detail:
            continue
        move = moves.setdefault(event.entry_id, _Move())
        move.version = event.detail[VERSION]
        if event.event is EventKind.CREATED:
            move.status = Status.ARCHIVED
        move.merged += _ids(event.detail.get(MERGED, ()))
        move.parted += _ids(event.detail.get(PARTED, ()))
        for name, (before, after) in event.changes.items():
            if name == "reuse_count":
                move.reuse += int(after) - int(before)
            elif name != "status":
                move.fields.setdefault(name, before)
            elif move.status is None:
                move.status = Status(before)
                move.instants = {name: _instant(event.detail[BEFORE][name]) for name in ("published_at", "archived_at")}
        _check(move.fields)
    return moves


def _check(fields: Mapping[str, Any]) -> None:
    """Raises InvalidInput or TypeError for a value that no entry can have had."""
    for name, check in _CHECKS.items():
        if name in fields:
            check(fields[name])


def _check_tag_list(value: Any) -> None:
    if not isinstance(value, list):
        raise TypeError(value)
    check_tags(value)


def _text_or_none(value: Any) -> None:
    if not isinstance(value, str | None):
        raise TypeError(value)


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "kind": check_kind,
    "title": check_title,
    "content": check_content,
    "tags": _check_tag_list,
    "confidence": check_confidence,
    "project_id": _text_or_none,
}


def _ids(value: Any) -> tuple[str, ...]:
    ids = tuple(value)
    if not all(isinstance(id, str) for id in ids):
        raise TypeError(value)
    return ids


def _dismissed(event: TimelineEvent) -> tuple[str, bool]:
    """The other entry's id, and whether that was undone."""
    other, undone = event.detail[DISMISSED]
    return _ids([other])[0], bool(undone)


def _put_back(unit: Unit, id: str, move: _Move, event: EventKind, act: Act, operation: str) -> Entry:
    try:
        entry = entries.get(unit.session, id)
    except NotFound:
        raise Refused(
            N_("The entry was erased since; this act cannot be undone."), N_("What was erased does not come back.")
        ) from None
    if entry.version != move.version:
        raise Refused(
            N_("“{title}” has changed since; nothing was undone."),
            N_("Open the entry: its timeline shows what changed."),
            title=entry.title,
        )
    detail: dict[str, Any] = {"operation": operation}
    if move.fields or move.reuse or move.merged or move.parted:
        _relink(unit, id, move)
        links = {MERGED: list(move.parted), PARTED: list(move.merged)}
        entry = entries.update_fields(
            unit,
            id,
            entry.version,
            move.fields,
            act,
            event=event,
            detail={**detail, **{name: ids for name, ids in links.items() if ids}},
            reuse=-move.reuse,
            always=True,
        )
    if move.status is not None and move.status is not entry.status:
        entry = entries.compare_and_set_status(
            unit, id, entry.status, move.status, act, event=event, detail=detail, instants=move.instants
        )
    return entry


def _dismiss_or_not(
    unit: Unit, dismissed: Sequence[tuple[str, str, bool]], event: EventKind, act: Act, operation: str
) -> Done:
    """`dismissed`: the entry, the other one, and whether that was undone."""
    changed: list[Entry] = []
    for id, other, undone in dismissed:
        (dismissals.put if undone else dismissals.take_back)(unit, id, other)
        detail = {DISMISSED: [other, not undone], "operation": operation}
        changed.append(entries.note(unit, id, event, act, detail))
    return Done(act.operation, tuple(changed))


def _relink(unit: Unit, id: str, move: _Move) -> None:
    for other in move.merged:
        entries.unlink(unit, id, other, "merged")
    for other in move.parted:
        entries.link(unit, id, other, "merged", 1.0)


def _instant(text: str | None) -> datetime | None:
    at = None if text is None else datetime.fromisoformat(text)
    if at is not None and at.tzinfo is None:
        raise ValueError(text)
    return at
