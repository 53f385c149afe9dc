"""Entries that resemble an entry or a text, how much, and whether they may contradict it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import NOT_ARCHIVED, Entry, Status
from devflow.knowledge import contradict
from devflow.knowledge.contradict import Contradiction
from devflow.retrieval.entries import search_entries
from devflow.retrieval.hits import Hit
from devflow.retrieval.similar import NEAR, similar_entries, taken_apart
from devflow.store import entries, entry_links
from devflow.store.database import Session
from devflow.store.entry_lists import Filters

QUERY_MAX = 2_000
"""So many characters of a text are its query; the head of an entry says what it is about."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """An entry that says nearly the same, or the contrary.

    `score` is absolute: 1 for the same words, `NEAR` for the least that counts. `why`: the telling terms that both
    have, the most telling first. `contradicts`: what stands against what, `mine` being the words of the
    text that was asked about.
    """

    entry: Entry
    score: float
    why: tuple[str, ...] = ()
    contradicts: Contradiction | None = None


@dataclass(frozen=True, slots=True)
class LikenessCount:
    """How many entries resemble one, and how many of these may contradict it."""

    similar: int
    contradicting: int


def likenesses(session: Session, id_or_text: str, limit: int) -> tuple[Likeness, ...]:
    """The best `limit` in any status but archived, without the entry itself, most alike first: those whose texts are
    alike, and those that somebody marked as contradicting it."""
    found = entries.get_many(session, [id_or_text.strip()])
    own = found[0] if found else None
    hits = {hit.entry.id: hit for hit in similar_entries(session, own.id if own else id_or_text, limit=limit)}
    alike = {id: Likeness(hit.entry, hit.score, hit.match.terms) for id, hit in hits.items() if hit.score >= NEAR}
    if own is not None:
        alike |= {each.id: Likeness(each, _score(hits, each)) for each in _marked(session, own) if each.id not in alike}
    title, content = (own.title, own.content) if own is not None else taken_apart(id_or_text)
    asked = own.id if own is not None else ""
    for against in contradict.of(session, asked, title, content, [each.entry for each in alike.values()]):
        alike[against.other] = replace(alike[against.other], contradicts=against)
    return tuple(sorted(alike.values(), key=lambda each: -each.score)[:limit])


def _marked(session: Session, own: Entry) -> tuple[Entry, ...]:
    others = entries.get_many(session, entry_links.conflicts_of(session, own.id))
    return tuple(other for other in others if other.status is not Status.ARCHIVED)


def _score(hits: Mapping[str, Hit], entry: Entry) -> float:
    return hits[entry.id].score if entry.id in hits else 0.0


def count(session: Session, id: str) -> LikenessCount:
    found = likenesses(session, id, 10)
    return LikenessCount(len(found), sum(each.contradicts is not None for each in found))


def related(session: Session, id_or_text: str, limit: int) -> tuple[Hit, ...]:
    """The best `limit` entries that a search for the text's own words finds, in any status but archived, without the
    entry itself: about the same matter, whatever they say of it."""
    own: str | None = None
    text = id_or_text
    try:
        entry = entries.get(session, id_or_text.strip())
    except NotFound:
        pass
    else:
        own, text = entry.id, f"{entry.title}\n{entry.content}"
    found = search_entries(session, text[:QUERY_MAX], Filters(statuses=NOT_ARCHIVED), limit=limit + 1).hits
    return tuple(hit for hit in found if hit.entry.id != own)[:limit]
