"""Which entries may contradict each other (KP-10): told from their texts whenever it is asked, so it is never stale.

What is stored is what a human said of it: a link of the relation `conflict` marks a pair that the texts do not betray,
a dismissal says that a pair does not contradict, for as long as neither text changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from devflow.domain.knowledge import Entry, EventKind
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, Done, require_human
from devflow.knowledge.undo import DISMISSED
from devflow.retrieval.contradict import Opposition, oppositions
from devflow.retrieval.contradict_statements import Statements, statements
from devflow.store import dismissals, entries, entry_links
from devflow.store.database import Session, Unit

READ = 512
"""So many texts, and pairs of texts, are remembered as read."""
DISMISSING = N_("Only a human says that entries do not contradict each other.")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """`one` (empty: a text that is no entry) and `other` may contradict each other. `against` says by which words:
    `mine` are those of `one`; it is empty where somebody marked the pair."""

    one: str
    other: str
    against: tuple[Opposition, ...] = ()


def among(session: Session, ids: Collection[str]) -> tuple[Contradiction, ...]:
    """The pairs of these entries that may contradict each other, in the order of `ids`."""
    read = entries.get_many(session, ids)
    told = {
        (one.id, other.id): against
        for one, other in combinations(read, 2)
        if (against := _against(one.title, one.content, other.title, other.content))
    }
    return _judged(session, tuple(combinations((entry.id for entry in read), 2)), told)


def pairs(session: Session, ids: Collection[str]) -> frozenset[frozenset[str]]:
    """`among`, as sets of two ids."""
    return frozenset(frozenset((each.one, each.other)) for each in among(session, ids))


def of(session: Session, id: str, title: str, content: str, others: Collection[Entry]) -> tuple[Contradiction, ...]:
    """Which of the others may contradict the entry, or the text (whose `id` is empty)."""
    if not others:
        return ()
    told = {
        (id, other.id): against for other in others if (against := _against(title, content, other.title, other.content))
    }
    return _judged(session, tuple((id, other.id) for other in others), told)


def dismiss(unit: Unit, id: str, other_id: str, *, actor: Actor, agent_child: bool = False) -> Done:
    """Say that the two do not contradict each other; it holds until either text changes."""
    require_human(actor, DISMISSING, agent_child=agent_child)
    pair = (entries.get(unit.session, id), entries.get(unit.session, other_id))
    dismissals.put(unit, id, other_id)
    act = actor.act()
    entries.note(unit, pair[0].id, EventKind.DISMISSED, act, {DISMISSED: [other_id, False]})
    return Done(act.operation, (entries.get(unit.session, id),))


@lru_cache(READ)
def _statements(title: str, content: str) -> Statements:
    return statements(title, content)


@lru_cache(READ)
def _against(title: str, content: str, its_title: str, its_content: str) -> tuple[Opposition, ...]:
    """By the texts alone, so that what is remembered is never stale: a conversation is given the same ones again."""
    return oppositions(_statements(title, content), _statements(its_title, its_content))


def _judged(
    session: Session, asked: Sequence[tuple[str, str]], told: Mapping[tuple[str, str], tuple[Opposition, ...]]
) -> tuple[Contradiction, ...]:
    """What the texts tell and what somebody marked, without what somebody dismissed."""
    ids = frozenset(id for pair in asked for id in pair)
    marked = entry_links.conflicts_among(session, ids)
    if not told and not marked:
        return ()
    dismissed = dismissals.among(session, ids)
    return tuple(
        Contradiction(*pair, told.get(pair, ()))
        for pair in asked
        if (pair in told or frozenset(pair) in marked) and frozenset(pair) not in dismissed
    )
