"""What a list on the screen asks: every id in order, entries as they scroll in, and what stands beside an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from devflow.domain.errors import Refused
from devflow.domain.knowledge import Entry, EventKind, Status
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, require_human
from devflow.knowledge.similar import likenesses
from devflow.retrieval.entries import SCAN_CAP, found_ids
from devflow.retrieval.hits import FoundIds
from devflow.retrieval.hybrid import found_by_meaning
from devflow.retrieval.meaning import Meaning
from devflow.store import entry_lists, timeline
from devflow.store.database import Session, Unit
from devflow.store.entry_lists import Filters

CONFLICTS_AMONG = 20
"""So many of the most similar entries are asked whether they contradict."""
RELEVANCE = "relevance"
"""The order a search gives; without a query it is the newest first."""

REASONING = N_("Giving a reason is a human act.")


def order(
    session: Session,
    filters: Filters,
    sort: str,
    query: str = "",
    meaning: Meaning | None = None,
    *,
    scan_cap: int = SCAN_CAP,
    contained: Sequence[str] | None = None,
) -> FoundIds:
    """The ids of all entries that the filters show, in order; with a query, of those that a search over the very same
    filters finds (KP-4). `contained`: the whole LIKE tier, where somebody went through it to its end."""
    if not query.strip():
        return FoundIds(tuple(entry_lists.ordered_ids(session, filters, "updated" if sort == RELEVANCE else sort)))
    if meaning is None:
        found = found_ids(session, query, filters, scan_cap=scan_cap, contained=contained)
    else:
        found = found_by_meaning(session, query, meaning, filters, scan_cap=scan_cap, contained=contained)
    if sort == RELEVANCE:
        return found
    wanted = frozenset(found.ids)
    return replace(found, ids=tuple(id for id in entry_lists.ordered_ids(session, filters, sort) if id in wanted))


def conflicts(session: Session, id: str) -> tuple[Entry, ...]:
    """The entries that may contradict this one; archived ones contradict nobody any more."""
    return tuple(each.entry for each in likenesses(session, id, CONFLICTS_AMONG) if each.contradicts is not None)


def give_reason(unit: Unit, operation: str, reason: str, *, actor: Actor, agent_child: bool = False) -> None:
    """Say why an archiving act was done, just after it; the events of that act then carry the reason."""
    require_human(actor, REASONING, agent_child=agent_child)
    events = [
        event
        for event in timeline.of_operation(unit.session, operation)
        if event.event is EventKind.STATUS_CHANGED and event.changes["status"][1] == Status.ARCHIVED
    ]
    if not events:
        raise Refused(N_("Only an act that archives has a reason."), N_("Name the operation of an archiving act."))
    for event in events:
        timeline.add_detail(unit, event, {"reason": reason})
