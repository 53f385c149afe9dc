"""The whole library as values, and back into an empty one: what export writes and a restore reads (spec 08).

What belongs to this machine alone is left out: the paths of projects, vectors, numbers of events, and tombstones. A
project goes by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from devflow.domain.events import Aggregate
from devflow.domain.knowledge import Evidence
from devflow.domain.text.folding import duplicate_key
from devflow.store import projects, tolerant
from devflow.store.database import Unit, open_engine, refusals
from devflow.store.entries import evidence_value, read_evidence
from devflow.store.schema import EntryDismissalRow, EntryEventRow, EntryLinkRow, EntryRow, ProjectRow

PROJECT = "project_id"
"""In an event's changes: the local id of a project. A copy has its name, under `project`."""
AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class CopiedEvent:
    """One line of a timeline. `changes` and `detail` are JSON values."""

    event: str
    actor: str
    at: datetime
    operation: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CopiedEntry:
    """An entry with its timeline, oldest event first. `project` is a name."""

    id: str
    kind: str
    title: str
    content: str
    tags: tuple[str, ...]
    status: str
    confidence: float
    reuse_count: int
    project: str | None
    source_ref: str
    evidence: Evidence | None
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    archived_at: datetime | None
    version: int
    timeline: tuple[CopiedEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class CopiedLink:
    entry_id: str
    other_id: str
    relation: str
    score: float
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CopiedDismissal:
    """A human's word that two entries do not contradict each other."""

    one_id: str
    other_id: str
    one_hash: str
    other_hash: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class LibraryCopy:
    """Entries by creation, then id."""

    entries: tuple[CopiedEntry, ...]
    links: tuple[CopiedLink, ...] = ()
    dismissals: tuple[CopiedDismissal, ...] = ()


# Reading ------------------------------------------------------------------------------------------------------------


def snapshot(path: Path, report: Callable[[int, int], None] = lambda _done, _total: None) -> LibraryCopy:
    """The whole library as it is at one moment, through a connection of its own: the store's thread stays free.

    Blocks; `report(done, total)` may raise to stop.
    """
    engine = open_engine(path)
    try:
        with refusals(), engine.connect() as connection, Session(connection, expire_on_commit=False) as session:
            wanted = ids(session)
            entries: list[CopiedEntry] = []
            for part in _parts(wanted):
                report(len(entries), len(wanted))
                entries += read_entries(session, part)
                session.expunge_all()
            return LibraryCopy(tuple(entries), read_links(session), read_dismissals(session))
    finally:
        engine.dispose()


def ids(session: Session) -> tuple[str, ...]:
    """Every entry's id, in the order of a copy."""
    return tuple(session.scalars(select(EntryRow.id).order_by(EntryRow.created_at, EntryRow.id)))


def read_entries(session: Session, some: Sequence[str]) -> tuple[CopiedEntry, ...]:
    """Those of the entries that exist, in the order asked for, with their timelines."""
    names = _names(session)
    rows = {row.id: row for row in session.scalars(select(EntryRow).where(EntryRow.id.in_(some)))}
    timelines: dict[str, list[CopiedEvent]] = {}
    query = select(EntryEventRow).where(EntryEventRow.entry_id.in_(some)).order_by(EntryEventRow.id)
    for event in session.scalars(query):
        timelines.setdefault(event.entry_id, []).append(_copied_event(event, names))
    return tuple(_copied(rows[id], names, tuple(timelines.get(id, ()))) for id in some if id in rows)


def read_links(session: Session) -> tuple[CopiedLink, ...]:
    row = EntryLinkRow
    found = session.scalars(select(row).order_by(row.entry_id, row.other_id, row.relation))
    return tuple(CopiedLink(each.entry_id, each.other_id, each.relation, each.score, each.created_at) for each in found)


def read_dismissals(session: Session) -> tuple[CopiedDismissal, ...]:
    row = EntryDismissalRow
    found = session.scalars(select(row).order_by(row.one_id, row.other_id))
    return tuple(
        CopiedDismissal(each.one_id, each.other_id, each.one_hash, each.other_hash, each.created_at) for each in found
    )


def is_empty(session: Session) -> bool:
    """Whether there is no entry at all, in whatever status."""
    return session.scalar(select(EntryRow.id).limit(1)) is None


def present(session: Session, some: Sequence[str]) -> frozenset[str]:
    """Those of the ids that belong to an entry, or once did: an id is never reused."""
    here: set[str] = set()
    for part in _parts(some):
        here.update(session.scalars(select(EntryRow.id).where(EntryRow.id.in_(part))))
        here.update(session.scalars(select(EntryEventRow.entry_id).distinct().where(EntryEventRow.entry_id.in_(part))))
    return frozenset(here)


# Writing ------------------------------------------------------------------------------------------------------------


def restore(unit: Unit, copy: LibraryCopy) -> tuple[str, ...]:
    """Put a copy into an empty library as it was, timelines included, within the transaction; returns the ids.

    What was erased here stays erased. The search index takes the entries in afterwards (`search_fill`): a transaction
    that did so itself would keep every other process waiting for minutes.
    """
    if not is_empty(unit.session):
        raise ValueError("a library is restored into an empty one alone")
    gone = present(unit.session, [entry.id for entry in copy.entries])
    taken = [entry for entry in copy.entries if entry.id not in gone]
    by_name = {name: projects.named(unit, name).id for name in sorted(_projects_of(taken))}
    _insert(unit, EntryRow, (_row(entry, by_name) for entry in taken))
    lines = sorted((line for entry in taken for line in _lines(entry)), key=lambda line: line[0])
    _insert(unit, EntryEventRow, (_event_row(id, event, by_name) for _, id, event in lines))
    known = {entry.id for entry in taken}
    _insert(
        unit,
        EntryLinkRow,
        (_values(link) for link in copy.links if link.entry_id in known and link.other_id in known),
    )
    _insert(
        unit,
        EntryDismissalRow,
        (_values(each) for each in copy.dismissals if each.one_id in known and each.other_id in known),
    )
    _await_index(unit, [entry.id for entry in taken])
    for entry in taken:
        unit.changed(Aggregate.ENTRY, entry.id)
    return tuple(entry.id for entry in taken)


def _lines(entry: CopiedEntry) -> Iterator[tuple[datetime, str, CopiedEvent]]:
    """The timeline with instants to order it among others by: an entry's own order stays, also where a clock was set
    back."""
    latest = entry.created_at
    for event in entry.timeline:
        latest = max(latest, event.at)
        yield latest, entry.id, event


def _await_index(unit: Unit, new: Sequence[str]) -> None:
    connection = unit.session.connection()
    if not new:
        return
    connection.exec_driver_sql("INSERT INTO search_missing (entry_id) VALUES (?)", [(id,) for id in new])
    missing = connection.exec_driver_sql("SELECT count(*) FROM search_missing").scalar_one()
    connection.exec_driver_sql("INSERT OR REPLACE INTO search_state (key, value) VALUES ('to fill', ?)", (missing,))


def _insert(unit: Unit, table: Any, rows: Iterable[dict[str, Any]]) -> None:
    unit.session.flush()
    for part in _parts(list(rows)):
        unit.session.execute(insert(table), part)


def _parts(values: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), AT_ONCE):
        yield list(values[start : start + AT_ONCE])


# Helpers ------------------------------------------------------------------------------------------------------------


def _names(session: Session) -> Mapping[str, str]:
    return dict(session.execute(select(ProjectRow.id, ProjectRow.name)).all())


def _projects_of(entries: Iterable[CopiedEntry]) -> frozenset[str]:
    named = {entry.project for entry in entries}
    changed = {
        name
        for entry in entries
        for event in entry.timeline
        for name in (event.changes.get("project") or ())
        if isinstance(name, str)
    }
    return frozenset(name for name in (*named, *changed) if name)


def _copied(row: EntryRow, names: Mapping[str, str], timeline: tuple[CopiedEvent, ...]) -> CopiedEntry:
    return CopiedEntry(
        id=row.id,
        kind=row.kind,
        title=tolerant.text(row.title),
        content=tolerant.text(row.content),
        tags=tolerant.texts(row.tags),
        status=row.status,
        confidence=row.confidence,
        reuse_count=tolerant.number(row.reuse_count),
        project=names.get(row.project_id) if row.project_id else None,
        source_ref=row.source_ref,
        evidence=read_evidence(row.evidence),
        created_at=row.created_at,
        updated_at=row.updated_at,
        published_at=row.published_at,
        archived_at=row.archived_at,
        version=tolerant.number(row.version),
        timeline=timeline,
    )


def _copied_event(row: EntryEventRow, names: Mapping[str, str]) -> CopiedEvent:
    changes = dict(tolerant.mapping(row.changes))
    if PROJECT in changes:
        pair = changes.pop(PROJECT)
        changes["project"] = [names.get(id) if isinstance(id, str) else None for id in pair]
    return CopiedEvent(row.event, row.actor, row.at, row.operation, changes, tolerant.mapping(row.detail))


def _row(entry: CopiedEntry, by_name: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "title": entry.title,
        "content": entry.content,
        "tags": list(entry.tags),
        "status": entry.status,
        "confidence": entry.confidence,
        "reuse_count": entry.reuse_count,
        "project_id": by_name[entry.project] if entry.project else None,
        "source_ref": entry.source_ref,
        "evidence": evidence_value(entry.evidence),
        "normal_hash": duplicate_key(entry.title, entry.content),
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "published_at": entry.published_at,
        "archived_at": entry.archived_at,
        "version": entry.version,
    }


def _event_row(id: str, event: CopiedEvent, by_name: Mapping[str, str]) -> dict[str, Any]:
    changes = dict(event.changes)
    if "project" in changes:
        changes[PROJECT] = [by_name.get(name) if isinstance(name, str) else None for name in changes.pop("project")]
    return {
        "entry_id": id,
        "event": event.event,
        "actor": event.actor,
        "at": event.at,
        "operation": event.operation,
        "changes": changes,
        "detail": dict(event.detail),
    }


def _values(row: CopiedLink | CopiedDismissal) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__slots__}
