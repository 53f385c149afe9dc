"""Lists of entries: filters, orders, counts. The window's list, the command line's and MCP's are all made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, UnaryExpression, case, func, select
from sqlalchemy.orm import Session

from devflow.domain.knowledge import INBOX, LIBRARY, EmbeddingStatus, Entry, Kind, Project, Status
from devflow.store import projects, tags
from devflow.store.entries import get_many
from devflow.store.schema import EntryRow

PREFIXES = ("conv", "mcp", "wiki", "import")
SOURCES = ("manual", *PREFIXES)
"""Where entries come from, by the first word of `source_ref`."""

ALL = 10_000
"""The longest page."""

ANY = "any"
"""The project filter that filters nothing. None is: entries of no project."""


@dataclass(frozen=True, slots=True)
class Filters:
    """`source` is one of `SOURCES` or a whole `source_ref`; `project` is a project's id, None (no project) or `ANY`.

    `embedding`: where their vectors stand. `only`: none but these, by their ids.
    """

    statuses: frozenset[Status] = LIBRARY
    kind: Kind | None = None
    tag: str | None = None
    source: str | None = None
    project: str | None = ANY
    embedding: EmbeddingStatus | None = None
    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Facets:
    """How many entries each choice would show: each facet with all filters but its own. Most frequent first.

    `conflicts` and `embeddings` are one facet: what asks for attention.
    """

    statuses: Mapping[Status, int]
    kinds: Mapping[Kind, int]
    tags: Mapping[str, int]
    sources: Mapping[str, int]
    projects: tuple[tuple[Project | None, int], ...]
    conflicts: int
    embeddings: Mapping[EmbeddingStatus, int]


def list_entries(
    session: Session, filters: Filters, sort: str = "updated", limit: int = 50, offset: int = 0
) -> tuple[list[Entry], int]:
    """One page and the number of all. Orders: `SORTS`; ties: the newest, then by id, so that pages never overlap."""
    where = conditions(filters)
    total = session.scalar(select(func.count()).select_from(EntryRow).where(*where)) or 0
    # Ordered and cut on narrow rows; the texts are read for the page alone.
    page = session.scalars(select(EntryRow.id).where(*where).order_by(*SORTS[sort]).limit(limit).offset(offset)).all()
    return list(get_many(session, page)), total


def ordered_ids(session: Session, filters: Filters, sort: str = "updated") -> list[str]:
    """The ids of all that the filters show, in the order of `list_entries`."""
    return list(session.scalars(select(EntryRow.id).where(*conditions(filters)).order_by(*SORTS[sort])))


def conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """The filters as SQL, for this module and the search."""
    found: list[ColumnElement[bool]] = []
    statuses = sorted(status.value for status in filters.statuses)
    if len(statuses) == 1:
        found.append(EntryRow.status == statuses[0])  # an equality, so that the index gives the order too
    elif len(statuses) < len(Status):
        found.append(EntryRow.status.in_(statuses))
    if filters.kind is not None:
        found.append(EntryRow.kind == filters.kind.value)
    if filters.tag is not None:
        found.append(tags.has_tag(filters.tag))
    if filters.source is not None:
        by_word = _source() == filters.source
        found.append(by_word if filters.source in SOURCES else EntryRow.source_ref == filters.source)
    if filters.project is None:
        found.append(EntryRow.project_id.is_(None))
    elif filters.project != ANY:
        found.append(EntryRow.project_id == filters.project)
    if filters.embedding is not None:
        found.append(EntryRow.embedding_status == filters.embedding.value)
    if filters.only is not None:
        found.append(EntryRow.id.in_(sorted(filters.only)))
    return found


def facets(session: Session, filters: Filters, conflicting: frozenset[str] = frozenset()) -> Facets:
    """`conflicting`: the entries that are known to contradict another one."""
    everywhere = replace(filters, statuses=frozenset(Status))
    statuses = _count(session, EntryRow.status, everywhere)
    homes = _count(session, EntryRow.project_id, replace(filters, project=ANY))
    calm = replace(filters, embedding=None, only=None)
    vectors = _count(session, EntryRow.embedding_status, calm)
    disagreeing = conditions(replace(calm, only=conflicting))
    known = {project.id: project for project in projects.all_projects(session)}
    return Facets(
        statuses={status: statuses.get(status.value, 0) for status in Status},
        kinds=kinds(session, replace(filters, kind=None)),
        tags=_tags(session, replace(filters, tag=None)),
        sources=sources(session, replace(filters, source=None)),
        projects=tuple((known.get(id) if id else None, count) for id, count in homes.most_common()),
        conflicts=session.scalar(select(func.count()).select_from(EntryRow).where(*disagreeing)) or 0,
        embeddings={status: vectors.get(status.value, 0) for status in EmbeddingStatus},
    )


def versions(session: Session, filters: Filters) -> Mapping[str, tuple[int, str]]:
    """Each entry's version and kind, by its id."""
    rows = session.execute(select(EntryRow.id, EntryRow.version, EntryRow.kind).where(*conditions(filters)))
    return {id: (version, kind) for id, version, kind in rows}


def kinds(session: Session, filters: Filters) -> Mapping[Kind, int]:
    """Entries by kind, every kind named."""
    found = _count(session, EntryRow.kind, filters)
    return {kind: found.get(kind.value, 0) for kind in Kind}


def sources(session: Session, filters: Filters) -> Mapping[str, int]:
    """Entries by where they come from; what brought none is left out."""
    found = _count(session, _source(), filters)
    return {source: found[source] for source in SOURCES if source in found}


def counts(session: Session) -> Mapping[Status, int]:
    """Entries by status, every status named."""
    found = dict(session.execute(select(EntryRow.status, func.count()).group_by(EntryRow.status)).all())
    return {status: found.get(status.value, 0) for status in Status}


def inbox_count(session: Session) -> int:
    inbox = sorted(status.value for status in INBOX)
    return session.scalar(select(func.count()).select_from(EntryRow).where(EntryRow.status.in_(inbox))) or 0


def reused(session: Session) -> int:
    """The sum of all reuse counts."""
    return session.scalar(select(func.coalesce(func.sum(EntryRow.reuse_count), 0))) or 0


def _newest() -> tuple[UnaryExpression[Any], ...]:
    return (EntryRow.updated_at.desc(), EntryRow.id.desc())


SORTS: Mapping[str, tuple[Any, ...]] = {
    "updated": _newest(),
    "created": (EntryRow.created_at.desc(), EntryRow.id.desc()),
    "reuse": (EntryRow.reuse_count.desc(), *_newest()),
    "confidence": (EntryRow.confidence.desc(), *_newest()),
    "title": (func.lower(EntryRow.title), *_newest()),
    # The inbox: most confident first, then the newest arrival (spec 01, knowledge_list_candidates).
    "inbox": (EntryRow.confidence.desc(), EntryRow.created_at.desc(), EntryRow.id.desc()),
}


def _count(session: Session, by: Any, filters: Filters) -> Counter[Any]:
    query = select(by, func.count()).select_from(EntryRow).where(*conditions(filters)).group_by(by)
    return Counter(dict(session.execute(query).all()))


def _tags(session: Session, filters: Filters) -> Mapping[str, int]:
    """Tags that differ only in case count together, under their most frequent spelling."""
    spellings: dict[str, Counter[str]] = {}
    for tag, count in tags.counts(session, conditions(filters)):
        spellings.setdefault(tag.casefold(), Counter())[tag] += count
    merged = [(found.most_common(1)[0][0], found.total()) for found in spellings.values()]
    return dict(sorted(merged, key=lambda pair: (-pair[1], pair[0].casefold())))


def _source() -> ColumnElement[str]:
    cases = [(EntryRow.source_ref.startswith(f"{word}:", autoescape=True), word) for word in PREFIXES]
    return case(*cases, else_="manual")
