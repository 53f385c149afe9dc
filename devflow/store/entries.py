"""Entries: every write of one is here, and writes its event, its place in the search index and its change with it.

No code path changes a row without its timeline event, because no function here does. `compare_and_set_status` is the
only writer of a status (spec 01, Transitions). `version` and `updated_at` move only with kind, title, content, tags,
confidence, project and status (spec 08).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, delete, select
from sqlalchemy.orm import Session

from devflow.domain.errors import DatabaseProblem, InvalidTransition, NotFound, StaleVersion
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.knowledge import (
    Embedding,
    EmbeddingStatus,
    Entry,
    EntryDraft,
    EventKind,
    Evidence,
    Kind,
    Project,
    Status,
    check_transition,
)
from devflow.domain.messages import N_
from devflow.domain.text.folding import duplicate_key
from devflow.store import erasure, projects, search_index, timeline, tolerant, vectors
from devflow.store.database import Unit
from devflow.store.schema import EntryLinkRow, EntryRow, ProjectRow
from devflow.store.timeline import Act

WHAT = N_("entry")
FIELDS = ("kind", "title", "content", "tags", "confidence", "project_id")
"""What an edit may change; `evidence`, `source_ref` and the creation never change."""

VERSION = "version"
"""In an event's detail: the entry's version after it. Undo compares it, reuse and "seen again" leave it alone."""
BEFORE = "before"
"""In an event's detail: `published_at` and `archived_at` as they were, where the event changed them."""


# Reading ------------------------------------------------------------------------------------------------------------


def get(session: Session, id: str) -> Entry:
    """The entry, whatever its status; raises NotFound."""
    row = _row(session, id)
    project = session.get(ProjectRow, row.project_id) if row.project_id else None
    return to_entry(row, projects.to_project(project) if project is not None else None)


def get_many(session: Session, ids: Iterable[str]) -> tuple[Entry, ...]:
    """Those of the entries that exist, in the order asked for."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return ()
    found = {
        row.id: to_entry(row, projects.to_project(project) if project is not None else None)
        for row, project in session.execute(_many(), {"ids": wanted})
    }
    return tuple(found[id] for id in wanted if id in found)


@cache
def _many() -> Select[EntryRow, ProjectRow]:
    """Entries `:ids` with their projects; made once, for every search and every list asks it."""
    query = select(EntryRow, ProjectRow).outerjoin(ProjectRow, EntryRow.project_id == ProjectRow.id)
    return query.where(EntryRow.id.in_(bindparam("ids", expanding=True)))


def duplicate_of(session: Session, title: str, content: str) -> str | None:
    """The id of the oldest entry, in any status, that repeats title and content after normalising."""
    key = duplicate_key(title, content)
    query = select(EntryRow.id).where(EntryRow.normal_hash == key).order_by(EntryRow.created_at, EntryRow.id)
    return session.scalar(query.limit(1))


def links(session: Session, id: str, relation: str = "similar") -> tuple[tuple[str, float], ...]:
    """(other entry's id, score from 0 to 1), best first, of what this entry was linked to when it came."""
    query = select(EntryLinkRow.other_id, EntryLinkRow.score).where(
        EntryLinkRow.entry_id == id, EntryLinkRow.relation == relation
    )
    return tuple((other, score) for other, score in session.execute(query.order_by(EntryLinkRow.score.desc())))


def to_entry(row: EntryRow, project: Project | None) -> Entry:
    """Raises DatabaseProblem for a row of a kind or a status that there is not."""
    try:
        kind, status = Kind(row.kind), Status(row.status)
    except ValueError as error:
        raise DatabaseProblem(
            N_("The entry {id} cannot be read: {reason}."),
            N_("Run `devflow doctor`: it names the newest good backup."),
            id=row.id,
            reason=error,
        ) from error
    return Entry(
        id=row.id,
        kind=kind,
        title=tolerant.text(row.title),
        content=tolerant.text(row.content),
        tags=tolerant.texts(row.tags),
        status=status,
        confidence=row.confidence,
        reuse_count=tolerant.number(row.reuse_count),
        project=project,
        source_ref=row.source_ref,
        created_at=row.created_at,
        updated_at=row.updated_at,
        published_at=row.published_at,
        archived_at=row.archived_at,
        version=tolerant.number(row.version),
        evidence=read_evidence(row.evidence),
        embedding=Embedding(
            status=EmbeddingStatus(row.embedding_status),
            model=row.embedding_model,
            dimension=row.embedding_dimension,
            error=row.embedding_error,
            attempts=row.embedding_attempts,
        ),
    )


# Writing ------------------------------------------------------------------------------------------------------------


def insert(
    unit: Unit, draft: EntryDraft, act: Act, *, id: str | None = None, detail: Mapping[str, Any] | None = None
) -> Entry:
    """A new entry, always a candidate. `id` is given only for samples and imports that keep theirs."""
    if draft.project_id is not None:
        projects.get(unit.session, draft.project_id)
    row = EntryRow(
        id=id or new_id(),
        kind=draft.kind.value,
        title=draft.title,
        content=draft.content,
        tags=list(draft.tags),
        status=Status.CANDIDATE.value,
        confidence=draft.confidence,
        reuse_count=0,
        project_id=draft.project_id,
        source_ref=draft.source_ref,
        evidence=evidence_value(draft.evidence),
        normal_hash=duplicate_key(draft.title, draft.content),
        created_at=unit.at,
        updated_at=unit.at,
        version=1,
    )
    unit.session.add(row)
    more = {"source_ref": draft.source_ref, VERSION: 1}
    return _written(unit, row, EventKind.CREATED, act, {}, {**(detail or {}), **more}, text_changed=True)


def compare_and_set_status(
    unit: Unit,
    id: str,
    expected: Status,
    wanted: Status,
    act: Act,
    *,
    event: EventKind = EventKind.STATUS_CHANGED,
    detail: Mapping[str, Any] | None = None,
    instants: Mapping[str, datetime | None] | None = None,
) -> Entry:
    """Set the status if it is still `expected`; the only writer of a status.

    Which edges are allowed depends on the event: STATUS_CHANGED follows the table of transitions, RESTORED goes from
    archived to candidate, and UNDONE and REDONE go anywhere (`instants` then puts `published_at` and `archived_at`
    back). Raises NotFound or InvalidTransition (naming the state it really has), having changed nothing.
    """
    row = _row(unit.session, id)
    current = Status(row.status)
    if current is not expected:
        raise InvalidTransition(id, current.value, wanted.value)
    match event:
        case EventKind.STATUS_CHANGED:
            check_transition(id, current, wanted)
        case EventKind.RESTORED:
            if (current, wanted) != (Status.ARCHIVED, Status.CANDIDATE):
                raise InvalidTransition(id, current.value, wanted.value)
        case EventKind.UNDONE | EventKind.REDONE:
            if current is wanted:
                raise InvalidTransition(id, current.value, wanted.value)
        case _:
            raise ValueError(f"{event} does not change a status")
    before = {name: _text(getattr(row, name)) for name in ("published_at", "archived_at")}
    after = instants if instants is not None else _instants(row, wanted, unit.at)
    row.published_at, row.archived_at = after["published_at"], after["archived_at"]
    row.status = wanted.value
    row.version += 1
    row.updated_at = unit.at
    changes = {"status": (current.value, wanted.value)}
    more = {VERSION: row.version, BEFORE: before}
    return _written(unit, row, event, act, changes, {**(detail or {}), **more})


def update_fields(
    unit: Unit,
    id: str,
    version: int,
    values: Mapping[str, Any],
    act: Act,
    *,
    event: EventKind = EventKind.UPDATED,
    detail: Mapping[str, Any] | None = None,
    reuse: int = 0,
    always: bool = False,
) -> Entry:
    """Set checked values of `FIELDS` if the entry is still at `version`; raises NotFound or StaleVersion.

    What stays the same is no change: nothing is written where nothing differs, unless `always`. `reuse`: so many uses
    come with a merge, or go when it is undone.
    """
    row = _row(unit.session, id)
    if row.version != version:
        raise StaleVersion(id, version, row.version)
    if (project_id := values.get("project_id")) is not None:
        projects.get(unit.session, project_id)
    changes: dict[str, tuple[Any, Any]] = {}
    for name in FIELDS:
        if name in values and (after := _json(values[name])) != (before := _json(getattr(row, name))):
            changes[name] = (before, after)
            setattr(row, name, after)
    if reuse:
        uses = tolerant.number(row.reuse_count)
        row.reuse_count = max(uses + reuse, 0)
        changes["reuse_count"] = (uses, row.reuse_count)
    if not changes and not always:
        return get(unit.session, id)
    row.normal_hash = duplicate_key(row.title, row.content)
    row.version += 1
    row.updated_at = unit.at
    if not changes.keys().isdisjoint(("title", "content")):
        vectors.forget(unit, row)
    indexed = not changes.keys().isdisjoint(("title", "content", "tags"))
    return _written(unit, row, event, act, changes, {**(detail or {}), VERSION: row.version}, text_changed=indexed)


def bump_reuse(
    unit: Unit, id: str, *, actor: str, operation: str, detail: Mapping[str, Any] | None = None
) -> Entry | None:
    """Count one more use of a published entry; None, and nothing written, where it is not published (any more)."""
    row = unit.session.get(EntryRow, id)
    if row is None or row.status != Status.PUBLISHED:
        return None
    before = tolerant.number(row.reuse_count)
    row.reuse_count = before + 1
    changes = {"reuse_count": (before, before + 1)}
    return _written(unit, row, EventKind.REUSED, Act(actor, operation), changes, detail or {})


def note(unit: Unit, id: str, event: EventKind, act: Act, detail: Mapping[str, Any]) -> Entry:
    """Record what was done about the entry; the row stays as it is."""
    return _written(unit, _row(unit.session, id), event, act, {}, detail)


def seen_again(unit: Unit, id: str, act: Act, detail: Mapping[str, Any]) -> Entry:
    """Note that the same thing came in again; the row stays as it is."""
    return note(unit, id, EventKind.SEEN_AGAIN, act, detail)


def link(unit: Unit, id: str, other_id: str, relation: str, score: float) -> None:
    """Note that `id` resembles (`similar`), contradicts (`conflict`) or was merged from (`merged`) another entry."""
    row = EntryLinkRow(entry_id=id, other_id=other_id, relation=relation, score=score, created_at=unit.at)
    unit.session.merge(row)


def unlink(unit: Unit, id: str, other_id: str, relation: str) -> None:
    row = unit.session.get(EntryLinkRow, (id, other_id, relation))
    if row is not None:
        unit.session.delete(row)


def erase(unit: Unit, id: str, act: Act) -> None:
    """Remove the entry, its events' texts, its links, its index rows and its text in receipts; leave a tombstone event.

    The freed pages are overwritten, so that the text cannot be read out of the file either.
    """
    row = _row(unit.session, id)
    unit.session.connection().exec_driver_sql("PRAGMA secure_delete=ON")
    search_index.erase(unit, id, erasure.former_texts(unit.session, id))
    unit.session.execute(delete(EntryRow).where(EntryRow.id == row.id))
    unit.session.expunge(row)
    erasure.blank_events(unit, id)
    erasure.blank_receipts(unit, id)
    timeline.record(unit, id, EventKind.ERASED, act)
    unit.changed(Aggregate.ENTRY, id)


# Helpers ------------------------------------------------------------------------------------------------------------


def _written(
    unit: Unit,
    row: EntryRow,
    event: EventKind,
    act: Act,
    changes: Mapping[str, tuple[Any, Any]],
    detail: Mapping[str, Any],
    *,
    text_changed: bool = False,
) -> Entry:
    """What belongs to every write: the event, the index, the reported change; returns the entry as it now is."""
    unit.session.flush()
    timeline.record(unit, row.id, event, act, changes, detail)
    if text_changed:
        search_index.put(unit, row.id, row.title, row.content, tolerant.texts(row.tags))
    unit.changed(Aggregate.ENTRY, row.id)
    return get(unit.session, row.id)


def _row(session: Session, id: str) -> EntryRow:
    row = session.get(EntryRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    return row


def _instants(row: EntryRow, wanted: Status, at: datetime) -> dict[str, datetime | None]:
    """`published_at` is kept by an archived entry, so that its history can be read; a candidate has neither."""
    match wanted:
        case Status.PUBLISHED:
            return {"published_at": at, "archived_at": None}
        case Status.ARCHIVED:
            return {"published_at": row.published_at, "archived_at": at}
        case Status.CANDIDATE | Status.PENDING_REVIEW:
            return {"published_at": None, "archived_at": None}


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) else value.value if isinstance(value, Kind) else value


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def read_evidence(value: object) -> Evidence | None:
    if not isinstance(value, Mapping):
        return None
    ids = tolerant.texts(value.get("message_ids"))
    return Evidence(ids, tolerant.text(value.get("quote")), tolerant.text(value.get("role")))


def evidence_value(evidence: Evidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {"message_ids": list(evidence.message_ids), "quote": evidence.quote, "role": evidence.role}
