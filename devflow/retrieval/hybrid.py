"""Search by keywords and by meaning at once (spec 04; docs/decisions/0030).

What keywords find is weighed by the share it has of all that the query's words could reach, so that they count for
little where the library covers little of the question, and the vectors decide. The entries that contain the whole query
come first, as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from devflow.domain.knowledge import Entry
from devflow.retrieval import ranking
from devflow.retrieval.entries import BELOW_LIKE, SCAN_CAP, found_ids, like_match, term_match
from devflow.retrieval.greetings import is_greeting
from devflow.retrieval.hits import NOTHING, FoundIds, Hit, Match, SearchResult
from devflow.retrieval.meaning import FLOOR, Meaning
from devflow.retrieval.query import Query, parse
from devflow.retrieval.ranking import Fields, Ranked, Weighed, fields_of
from devflow.retrieval.relevance import Asked as AskedWords
from devflow.retrieval.relevance import asked, is_about
from devflow.retrieval.vectors import Near
from devflow.store import entries as rows
from devflow.store import search_lookup
from devflow.store.database import Session
from devflow.store.entry_lists import Filters
from devflow.store.search_lookup import Scope

DEPTH = 60
"""So many of the best by keywords, and so many of the nearest, are held against each other."""
MEANING_WEIGHT = 0.3
"""What a similarity of one counts for, beside keywords that reach all they could."""
INJECTED_LEAST, INJECTED_BASE, INJECTED_GROWTH = 0.7, 0.4, 0.14
"""A similarity that is reason enough to put an entry into a prompt: the more entries there are, the nearer one of them
comes to any message by chance (docs/decisions/0030)."""
WORDS_ARE_WORTH = 0.25
"""So much less is enough where some of the message's words are there too."""


@dataclass(frozen=True, slots=True)
class Fused:
    """`by_terms`: the share of what the query's words could reach, 0 where they did not find it. `near`: its meaning
    reaches the floor. `similarity` is None without a vector."""

    id: str
    score: float
    by_terms: float
    similarity: float | None
    near: bool

    @property
    def group(self) -> int:
        """The seed's order: both, keywords alone, the vector alone."""
        return 0 if self.by_terms and self.near else 1 if self.by_terms else 2


def search_by_meaning(
    session: Session,
    query: str,
    meaning: Meaning,
    filters: Filters | None = None,
    *,
    limit: int = 3,
    offset: int = 0,
    count: bool = False,
    scan_cap: int = SCAN_CAP,
) -> SearchResult:
    """As `search_entries`, with what is near in meaning among the hits."""
    if not query.strip() or limit <= 0:
        return NOTHING
    parsed, scope, wanted = parse(query), Scope.of(filters or Filters()), offset + limit
    like = search_lookup.containing(session, parsed.needle, scope, wanted, scan_cap)
    weighed: tuple[Weighed, ...] = ()
    if len(like.ids) < wanted:
        weighed = ranking.weigh(session, parsed)
        fused = _fused(session, parsed, weighed, meaning, scope, max(DEPTH, wanted))
    else:
        similarities = meaning.index.similarities(session, meaning.asked, like.ids)
        fused = fuse((), 0.0, similarities, ())
    known = {found.id: found for found in fused}
    contained = frozenset(like.ids)
    rest = [found for found in fused if found.id not in contained]
    page = [*((id, 1.0) for id in like.ids), *_relative(rest, BELOW_LIKE if like.ids else 1.0)][offset:wanted]
    loaded = {entry.id: entry for entry in rows.get_many(session, [id for id, _ in page])}
    unknown = [id for id, _ in page if id not in known]  # they contain the query, and mean something else
    known |= {
        id: Fused(id, 0.0, 0.0, similarity, False)
        for id, similarity in meaning.index.similarities(session, meaning.asked, unknown).items()
    }
    hits = tuple(
        Hit(loaded[id], score, _match(parsed, weighed, loaded[id], known.get(id), id in contained))
        for id, score in page
        if id in loaded
    )
    total = len(ids_by_meaning(session, query, meaning, filters, scan_cap=scan_cap)) if count else None
    return SearchResult(hits, total, like.partial or search_lookup.is_filling(session))


def ids_by_meaning(
    session: Session, query: str, meaning: Meaning, filters: Filters | None = None, *, scan_cap: int = SCAN_CAP
) -> tuple[str, ...]:
    """The ids of all entries that `search_by_meaning` finds, in its order; nothing is loaded."""
    return found_by_meaning(session, query, meaning, filters, scan_cap=scan_cap).ids


def found_by_meaning(
    session: Session,
    query: str,
    meaning: Meaning,
    filters: Filters | None = None,
    *,
    scan_cap: int = SCAN_CAP,
    contained: Sequence[str] | None = None,
) -> FoundIds:
    """`ids_by_meaning`, and whether that is all; as `found_ids`."""
    if not query.strip():
        return FoundIds()
    parsed, scope = parse(query), Scope.of(filters or Filters())
    capped = False
    if contained is None:
        like = search_lookup.containing(session, parsed.needle, scope, scan_cap, scan_cap)
        contained, capped = like.ids, like.partial or len(like.ids) >= scan_cap
    fused = _fused(session, parsed, ranking.weigh(session, parsed), meaning, scope, DEPTH)
    by_terms = found_ids(session, query, filters, scan_cap=scan_cap, contained=contained)
    ids = tuple(dict.fromkeys((*contained, *(found.id for found in fused), *by_terms.ids)))
    return FoundIds(ids, capped, by_terms.filling)


def relevant_by_meaning(
    session: Session, message: str, meaning: Meaning, *, project_id: str | None, limit: int = 3
) -> SearchResult:
    """As `relevant_entries`: what a message is really about, by its words, or by a meaning that is near enough."""
    if is_greeting(message):
        return NOTHING
    parsed = parse(message)
    if parsed.only_common:
        return NOTHING
    scope = Scope.of_prompt(project_id)
    weighed = ranking.weigh(session, parsed)
    fused = _fused(session, parsed, weighed, meaning, scope, DEPTH)[: 4 * limit]
    loaded = {entry.id: entry for entry in rows.get_many(session, [found.id for found in fused])}
    parts, total = asked(message, weighed), search_lookup.size(session)
    enough = max(INJECTED_LEAST, INJECTED_BASE + INJECTED_GROWTH * log(max(len(meaning.index), 1)))
    kept = [
        found
        for found in fused
        if found.id in loaded and _is_meant(found, enough, fields_of(loaded[found.id]), parts, total)
    ][:limit]
    scores = dict(_relative(kept, 1.0))
    return SearchResult(
        tuple(
            Hit(loaded[found.id], scores[found.id], _match(parsed, weighed, loaded[found.id], found, False))
            for found in kept
        ),
        len(kept),
    )


def _is_meant(found: Fused, enough: float, fields: Fields, parts: Sequence[AskedWords], total: int) -> bool:
    """By its meaning alone, or by its words where its meaning is not far. `enough` is a similarity."""
    if found.similarity is None:
        return bool(found.by_terms) and is_about(fields, parts, total)
    if found.similarity >= enough:
        return True
    is_near = found.similarity >= enough - WORDS_ARE_WORTH
    return bool(found.by_terms) and found.near and is_about(fields, parts, total, is_near=is_near)


def fuse(
    ranked: Sequence[Ranked],
    reachable: float,
    similarities: Mapping[str, float],
    nearest: Sequence[Near],
    *,
    strict: bool = False,
) -> list[Fused]:
    """Best first. `similarities` are those of the ranked; of `nearest` none is below the floor."""
    share = {found.id: found.score / reachable if reachable > 0 else 0.0 for found in ranked}
    known = {**similarities, **{near.entry_id: near.similarity for near in nearest}}
    fused = []
    for id in dict.fromkeys((*share, *known)):
        by_terms, similarity = share.get(id, 0.0), known.get(id)
        score = by_terms + MEANING_WEIGHT * (similarity or 0.0)
        fused.append(Fused(id, score, by_terms, similarity, similarity is not None and similarity >= FLOOR))
    fused.sort(key=lambda found: (found.group if strict else 0, -found.score))
    return fused


def _fused(
    session: Session, query: Query, weighed: Sequence[Weighed], meaning: Meaning, scope: Scope, depth: int
) -> list[Fused]:
    ranked = ranking.rank(session, query, weighed, scope, depth)
    ids = [found.id for found in ranked]
    similarities = meaning.index.similarities(session, meaning.asked, ids)
    nearest = _nearest(session, meaning, scope)
    reachable = sum(w.weight for w in weighed) * (ranking.SATURATION + 1)
    return fuse(ranked, reachable, similarities, nearest, strict=meaning.strict)


def _nearest(session: Session, meaning: Meaning, scope: Scope) -> list[Near]:
    """The nearest entries inside the scope, none below the floor."""
    wanted = DEPTH
    while True:
        found = meaning.index.nearest(session, meaning.asked, wanted, FLOOR)
        allowed = search_lookup.inside(session, [near.entry_id for near in found], scope)
        kept = [near for near in found if near.entry_id in allowed]
        if len(kept) >= DEPTH or len(found) < wanted:
            return kept[:DEPTH]
        wanted *= 8


def _relative(fused: Sequence[Fused], best: float) -> list[tuple[str, float]]:
    """Scores relative to the best; in the strict order one may not be better than the one before it."""
    top = max((found.score for found in fused), default=0.0)
    last, scores = best, []
    for found in fused:
        last = min(last, max(best * found.score / top, 0.0) if top > 0 else 0.0)
        scores.append((found.id, last))
    return scores


def _match(query: Query, weighed: Sequence[Weighed], entry: Entry, found: Fused | None, contained: bool) -> Match:
    similarity = None if found is None else found.similarity
    if contained:
        return replace(like_match(query, entry), similarity=similarity)
    match = term_match(weighed, entry)
    if found is not None and not found.by_terms:
        return Match("meaning", match.terms, match.fields, similarity, match.places)
    return replace(match, similarity=similarity)
