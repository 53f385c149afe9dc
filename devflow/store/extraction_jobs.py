"""Extraction jobs: one row for each (conversation, last message) that is to be distilled, or was.

A conversation has at most one job that waits. A job is claimed by a process before its model is asked, and finished in
the transaction that stores its candidates, so that a job cut off by a kill is done again and never doubles them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from devflow.domain.conversation import OFFLINE, Origin
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.run import RunState
from devflow.store import settings
from devflow.store.database import Unit
from devflow.store.schema import ConversationRow, ExtractionJobRow, MessageRow, RunRow

STATE_GROUP = "extraction_state"
"""Settings group: `seen_until`, the end of the newest run that was considered; `day` and `calls`, for the daily cap."""


class Trigger(StrEnum):
    ON_COMPLETE = "on_complete"
    ON_IDLE = "on_idle"
    MANUAL = "manual"


AUTOMATIC = frozenset({Trigger.ON_COMPLETE, Trigger.ON_IDLE})


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DROPPED = "dropped"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    """`due_at` is when it may run; `attempts` counts how often a process has begun it."""

    id: str
    conversation_id: str
    last_message_id: str
    trigger: Trigger
    state: JobState
    owner: str | None
    due_at: datetime
    attempts: int
    created_entries: int
    detail: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that ended normally; `offline`: it was answered by the built-in assistant."""

    conversation_id: str
    finished_at: datetime
    offline: bool


def schedule(unit: Unit, conversation_id: str, last_message_id: str, trigger: Trigger, due_at: datetime) -> Job:
    """Have the conversation distilled up to that message at `due_at`; replaces what waited for the conversation.

    An earlier job for the very same message starts anew, unless it is running just now.
    """
    row = unit.session.scalar(
        select(ExtractionJobRow).where(
            ExtractionJobRow.conversation_id == conversation_id, ExtractionJobRow.last_message_id == last_message_id
        )
    )
    _cancel(unit, ExtractionJobRow.conversation_id == conversation_id, detail="replaced", but=row.id if row else "")
    if row is None:
        row = ExtractionJobRow(
            id=new_id(),
            conversation_id=conversation_id,
            last_message_id=last_message_id,
            trigger=trigger.value,
            state=JobState.WAITING.value,
            due_at=due_at,
            attempts=0,
            created_entries=0,
            detail="",
            created_at=unit.at,
            updated_at=unit.at,
        )
        unit.session.add(row)
    elif row.state != JobState.RUNNING.value:
        if row.state != JobState.WAITING.value:
            row.attempts, row.created_entries, row.detail = 0, 0, ""
        row.state, row.trigger, row.due_at, row.owner = JobState.WAITING.value, trigger.value, due_at, None
        row.updated_at = unit.at
    unit.session.flush()
    unit.changed(Aggregate.EXTRACTION, row.id)
    return _to_job(row)


def waiting(session: Session) -> tuple[Job, ...]:
    """Jobs that wait, the soonest first."""
    chosen = select(ExtractionJobRow).where(ExtractionJobRow.state == JobState.WAITING.value)
    return tuple(_to_job(row) for row in session.scalars(chosen.order_by(ExtractionJobRow.due_at, ExtractionJobRow.id)))


def waiting_for(session: Session, conversation_id: str) -> Job | None:
    row = session.scalar(
        select(ExtractionJobRow).where(
            ExtractionJobRow.conversation_id == conversation_id, ExtractionJobRow.state == JobState.WAITING.value
        )
    )
    return _to_job(row) if row else None


def running(session: Session) -> tuple[Job, ...]:
    rows = session.scalars(select(ExtractionJobRow).where(ExtractionJobRow.state == JobState.RUNNING.value))
    return tuple(_to_job(row) for row in rows)


def every(session: Session) -> tuple[Job, ...]:
    """Every job there is, the oldest first."""
    rows = session.scalars(select(ExtractionJobRow).order_by(ExtractionJobRow.created_at, ExtractionJobRow.id))
    return tuple(_to_job(row) for row in rows)


def postpone(unit: Unit, id: str, due_at: datetime) -> None:
    """Let a waiting job wait until `due_at`: its quiet period has begun anew."""
    _write(unit, id, JobState.WAITING, None, {"due_at": due_at, "updated_at": unit.at})


def retime(unit: Unit, id: str, trigger: Trigger, due_at: datetime) -> None:
    """A waiting job follows a changed configuration."""
    _write(unit, id, JobState.WAITING, None, {"trigger": trigger.value, "due_at": due_at})


def claim(unit: Unit, id: str, owner: str) -> Job | None:
    """Take a waiting job for this process, or None if another was faster or another one of this conversation runs."""
    row = unit.session.get(ExtractionJobRow, id)
    if row is None or row.state != JobState.WAITING.value:
        return None
    busy = select(ExtractionJobRow.id).where(
        ExtractionJobRow.conversation_id == row.conversation_id, ExtractionJobRow.state == JobState.RUNNING.value
    )
    if unit.session.scalar(busy) is not None:
        return None
    row.state, row.owner, row.attempts, row.updated_at = JobState.RUNNING.value, owner, row.attempts + 1, unit.at
    unit.changed(Aggregate.EXTRACTION, id)
    return _to_job(row)


def put_back(unit: Unit, id: str, owner: str, due_at: datetime, *, detail: str = "", counts: bool = True) -> bool:
    """A running job of `owner` waits again; `counts` False: it was interrupted through no fault of its own."""
    values: dict[str, object] = {
        "state": JobState.WAITING.value,
        "owner": None,
        "due_at": due_at,
        "detail": detail,
        "updated_at": unit.at,
    }
    if not counts:
        values["attempts"] = ExtractionJobRow.attempts - 1
    return _write(unit, id, JobState.RUNNING, owner, values)


def finish(unit: Unit, id: str, owner: str, state: JobState, *, created: int = 0, detail: str = "") -> bool:
    """End a running job of `owner`; False if it is not its any more, and then nothing may be stored for it."""
    values = {"state": state.value, "owner": None, "created_entries": created, "detail": detail, "updated_at": unit.at}
    return _write(unit, id, JobState.RUNNING, owner, values)


def cancel(unit: Unit, id: str, detail: str) -> bool:
    """End a waiting job."""
    values = {"state": JobState.CANCELLED.value, "detail": detail, "updated_at": unit.at}
    return _write(unit, id, JobState.WAITING, None, values)


def cancel_automatic(unit: Unit, detail: str) -> tuple[str, ...]:
    """End every waiting job that nobody asked for by hand; returns their conversations."""
    return _cancel(unit, ExtractionJobRow.trigger.in_([each.value for each in AUTOMATIC]), detail=detail)


def release_orphans(unit: Unit, is_alive: Callable[[str | None], bool], due_at: datetime) -> int:
    """Running jobs of processes that are gone wait again, until `due_at`."""
    released = 0
    for job in running(unit.session):
        if not is_alive(job.owner):
            values = {"state": JobState.WAITING.value, "owner": None, "due_at": due_at, "updated_at": unit.at}
            released += _write(unit, job.id, JobState.RUNNING, job.owner, values)
    return released


def mark_extracted(unit: Unit, message_ids: Collection[str]) -> None:
    """These messages are not new any more. No conversation changes by it: what is shown stays the same."""
    unit.session.execute(
        update(MessageRow)
        .where(MessageRow.id.in_(tuple(message_ids)), MessageRow.extracted_at.is_(None))
        .values(extracted_at=unit.at)
    )


def still_new(session: Session, message_ids: Collection[str]) -> frozenset[str]:
    """Those of the messages that nobody has distilled meanwhile."""
    chosen = select(MessageRow.id).where(MessageRow.id.in_(tuple(message_ids)), MessageRow.extracted_at.is_(None))
    return frozenset(session.scalars(chosen))


def ended_since(session: Session, since: datetime) -> tuple[EndedRun, ...]:
    """Runs of the window's conversations that ended normally after `since`, the newest of each conversation."""
    rows = session.execute(
        select(RunRow.conversation_id, func.max(RunRow.finished_at), RunRow.provider_id)
        .join(ConversationRow, ConversationRow.id == RunRow.conversation_id)
        .where(
            RunRow.state == RunState.COMPLETED.value,
            RunRow.finished_at > since,
            ConversationRow.origin == Origin.WINDOW.value,
            ConversationRow.deleted_at.is_(None),
        )
        .group_by(RunRow.conversation_id, RunRow.provider_id)
        .order_by(func.max(RunRow.finished_at))
    )
    return tuple(EndedRun(id, at, provider == OFFLINE.provider_id) for id, at, provider in rows if at)


def unread(session: Session, at_least: int, limit: int) -> tuple[str, ...]:
    """Conversations of the window with new messages and no job on its way, the newest first.

    Counts whole trees, so a conversation may turn out to have less on its active path.
    """
    busy = select(ExtractionJobRow.conversation_id).where(
        ExtractionJobRow.state.in_([JobState.WAITING.value, JobState.RUNNING.value])
    )
    chosen = (
        select(ConversationRow.id)
        .join(MessageRow, MessageRow.conversation_id == ConversationRow.id)
        .where(
            ConversationRow.origin == Origin.WINDOW.value,
            ConversationRow.deleted_at.is_(None),
            ConversationRow.id.not_in(busy),
        )
        .group_by(ConversationRow.id)
        .having(func.count() >= at_least, func.count() > func.count(MessageRow.extracted_at))
        .order_by(ConversationRow.updated_at.desc())
        .limit(limit)
    )
    return tuple(session.scalars(chosen))


def latest_conversation(session: Session) -> str | None:
    """The conversation with the newest message: the window's, or any where the window has none."""
    chosen = (
        select(ConversationRow.id)
        .where(ConversationRow.deleted_at.is_(None), ConversationRow.leaf_id.is_not(None))
        .order_by((ConversationRow.origin == Origin.CLI.value), ConversationRow.updated_at.desc())
        .limit(1)
    )
    return session.scalar(chosen)


def seen_until(session: Session) -> datetime | None:
    """When the newest run ended that was considered for extraction; None before the first, or if it is unreadable."""
    try:
        at = datetime.fromisoformat(str(_state(session).get("seen_until")))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def see(unit: Unit, until: datetime) -> None:
    """Remember that runs up to `until` were considered; a kill right after a run's end is noticed by its absence.

    The newest call counts, not the latest instant: a clock that ran ahead and was set right must not hide what follows.
    """
    if seen_until(unit.session) != until:
        settings.put(unit, STATE_GROUP, {**_state(unit.session), "seen_until": until.isoformat()})


def count_call(unit: Unit, day: str) -> None:
    """One more request on this (local) day."""
    settings.put(unit, STATE_GROUP, {**_state(unit.session), "day": day, "calls": calls(unit.session, day) + 1})


def calls(session: Session, day: str) -> int:
    """Requests made on this (local) day, by all processes."""
    state = _state(session)
    count = state.get("calls")
    return count if state.get("day") == day and isinstance(count, int) else 0


def _state(session: Session) -> dict[str, object]:
    value = settings.get(session, STATE_GROUP)
    return dict(value) if isinstance(value, dict) else {}


def _cancel(unit: Unit, condition: ColumnElement[bool], *, detail: str, but: str = "") -> tuple[str, ...]:
    rows = unit.session.execute(
        update(ExtractionJobRow)
        .where(condition, ExtractionJobRow.state == JobState.WAITING.value, ExtractionJobRow.id != but)
        .values(state=JobState.CANCELLED.value, detail=detail, updated_at=unit.at)
        .returning(ExtractionJobRow.id, ExtractionJobRow.conversation_id)
    ).all()
    for row in rows:
        unit.changed(Aggregate.EXTRACTION, row.id)
    return tuple(row.conversation_id for row in rows)


def _write(unit: Unit, id: str, before: JobState, owner: str | None, values: Mapping[str, object]) -> bool:
    """Change a job if it still is in that state and that process's."""
    done = unit.session.execute(
        update(ExtractionJobRow)
        .where(
            ExtractionJobRow.id == id,
            ExtractionJobRow.state == before.value,
            ExtractionJobRow.owner.is_not_distinct_from(owner),
        )
        .values(**values)
        .execution_options(synchronize_session="fetch")
    )
    unit.changed(Aggregate.EXTRACTION, id)
    return bool(done.rowcount)  # type: ignore[attr-defined]  # a CursorResult, as of every UPDATE


def _to_job(row: ExtractionJobRow) -> Job:
    return Job(
        id=row.id,
        conversation_id=row.conversation_id,
        last_message_id=row.last_message_id,
        trigger=Trigger(row.trigger),
        state=JobState(row.state),
        owner=row.owner,
        due_at=row.due_at,
        attempts=row.attempts,
        created_entries=row.created_entries,
        detail=row.detail,
        updated_at=row.updated_at,
    )
