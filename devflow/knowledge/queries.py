"""Reading the library: pages of entries, counts, timelines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devflow.domain.errors import InvalidInput, NotFound
from devflow.domain.knowledge import Entry, Kind, Status, TimelineEvent
from devflow.domain.messages import N_
from devflow.store import entries, entry_links, entry_lists, timeline
from devflow.store.database import Session
from devflow.store.entry_lists import Filters

OFFSET_MAX = 1_000_000_000


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Some of the entries in order, and the number of all that match."""

    entries: tuple[Entry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the whole library; `reused` is the sum of all reuse counts."""

    total: int
    inbox: int
    reused: int
    statuses: Mapping[Status, int]
    kinds: Mapping[Kind, int]
    sources: Mapping[str, int]


def page(session: Session, filters: Filters, sort: str, limit: int, offset: int) -> EntryPage:
    if sort not in entry_lists.SORTS:
        raise InvalidInput(
            "sort",
            N_("There is no order {value}."),
            N_("Orders: {known}."),
            value=repr(sort),
            known=", ".join(entry_lists.SORTS),
        )
    found, total = entry_lists.list_entries(session, filters, sort, check_limit(limit), check_offset(offset))
    return EntryPage(tuple(found), total)


def check_limit(limit: int) -> int:
    if 1 <= limit <= entry_lists.ALL:
        return limit
    raise InvalidInput(
        "limit",
        N_("A limit of {value} is not from 1 to {most}."),
        N_("Give a number in that range."),
        value=limit,
        most=entry_lists.ALL,
    )


def check_offset(offset: int) -> int:
    if 0 <= offset <= OFFSET_MAX:
        return offset
    raise InvalidInput(
        "offset",
        N_("An offset of {value} is not from 0 to {most}."),
        N_("Give a number in that range."),
        value=offset,
        most=OFFSET_MAX,
    )


def timeline_of(session: Session, id: str) -> tuple[TimelineEvent, ...]:
    """Newest first; an erased entry still has one. Raises NotFound where there never was such an entry."""
    events = timeline.of_entry(session, id)
    if not events:
        raise NotFound(entries.WHAT, id)
    return events


def whole_timeline_of(session: Session, id: str) -> tuple[TimelineEvent, ...]:
    """An entry's events and those of the entries merged into it, newest first; `entry_id` says whose each is."""
    own = timeline_of(session, id)
    others = entry_links.merged_from(session, id)
    return timeline.of_entries(session, (id, *others)) if others else own


def stats(session: Session) -> Stats:
    statuses = entry_lists.counts(session)
    everything = Filters(statuses=frozenset(Status))
    return Stats(
        total=sum(statuses.values()),
        inbox=statuses[Status.CANDIDATE] + statuses[Status.PENDING_REVIEW],
        reused=entry_lists.reused(session),
        statuses=statuses,
        kinds=entry_lists.kinds(session, everything),
        sources=entry_lists.sources(session, everything),
    )
