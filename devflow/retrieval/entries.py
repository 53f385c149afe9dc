"""Searching the library (spec 01, Search): the LIKE tier exactly as a plain scan gives it, then the term tier.

Plain functions of a session; they run on the store's thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from devflow.domain.knowledge import Entry
from devflow.retrieval import ranking
from devflow.retrieval.greetings import is_greeting
from devflow.retrieval.hits import NOTHING, FoundIds, Hit, Match, SearchResult, Tier
from devflow.retrieval.query import Query, parse
from devflow.retrieval.ranking import Ranked, Weighed, fields_of
from devflow.retrieval.relevance import asked, is_about
from devflow.store import entries as rows
from devflow.store import search_lookup
from devflow.store.database import Session
from devflow.store.entry_lists import Filters
from devflow.store.search_lookup import Scope

SCAN_CAP = 20_000
"""So many texts are read for a query the index cannot narrow (punctuation, one letter); then the result is partial."""
BELOW_LIKE = 0.9
"""The best score of an entry that matches terms, where another contains the whole query."""

CONSIDERED = 2
"""For each entry wanted, so many of the best are held against the floor."""


def search_entries(
    session: Session,
    query: str,
    filters: Filters | None = None,
    *,
    limit: int = 3,
    offset: int = 0,
    count: bool = False,
    scan_cap: int = SCAN_CAP,
) -> SearchResult:
    """Entries for a query, best first; an empty query finds nothing. Without `filters`: published ones.

    First those that contain the whole trimmed query (letter case ignored, nothing is a wildcard), by reuse count, then
    a title that is the query, a title that contains it, the content alone, then the newest change. Then those that
    match its terms. `count` asks for `total`.
    """
    if not query.strip() or limit <= 0:
        return NOTHING
    parsed = parse(query)
    scope = Scope.of(filters or Filters())
    wanted = offset + limit
    like = search_lookup.containing(session, parsed.needle, scope, wanted, scan_cap)
    weighed: tuple[Weighed, ...] = ()
    by_terms: list[Ranked] = []
    if len(like.ids) < wanted:
        weighed = ranking.weigh(session, parsed)
        contained = frozenset(like.ids)
        ranked = ranking.rank(session, parsed, weighed, scope, wanted + len(contained))
        by_terms = [found for found in ranked if found.id not in contained]
    page = [*((id, 1.0) for id in like.ids), *_relative(by_terms, BELOW_LIKE if like.ids else 1.0)][offset:wanted]
    total = len(matching_ids(session, query, filters, scan_cap=scan_cap)) if count else None
    partial = like.partial or search_lookup.is_filling(session)
    return SearchResult(_hits(session, parsed, weighed, page, len(like.ids) - offset), total, partial)


def matching_ids(
    session: Session, query: str, filters: Filters | None = None, *, scan_cap: int = SCAN_CAP
) -> tuple[str, ...]:
    """The ids of all entries that `search_entries` finds, in its order; nothing is loaded. For a list that scrolls."""
    return found_ids(session, query, filters, scan_cap=scan_cap).ids


def found_ids(
    session: Session,
    query: str,
    filters: Filters | None = None,
    *,
    scan_cap: int = SCAN_CAP,
    contained: Sequence[str] | None = None,
) -> FoundIds:
    """`matching_ids`, and whether that is all. `contained`: the whole LIKE tier, where somebody has gone through it to
    its end; then nothing is capped."""
    if not query.strip():
        return FoundIds()
    parsed = parse(query)
    scope = Scope.of(filters or Filters())
    capped = False
    if contained is None:
        like = search_lookup.containing(session, parsed.needle, scope, scan_cap, scan_cap)
        contained, capped = like.ids, like.partial or len(like.ids) >= scan_cap
    most = scan_cap if capped else max(search_lookup.size(session), scan_cap)
    ranked = ranking.rank(session, parsed, ranking.weigh(session, parsed), scope, most)
    ids = tuple(dict.fromkeys((*contained, *(found.id for found in ranked))))
    return FoundIds(ids, capped, search_lookup.is_filling(session))


def relevant_entries(session: Session, message: str, *, project_id: str | None, limit: int = 3) -> SearchResult:
    """Published entries to put into the prompt for a message: those it is really about, best first, often none.

    Entries of another project are left out; those of no project hold everywhere. A greeting, a message without content
    terms, and whatever does not reach the floor of `relevance` give nothing.
    """
    if is_greeting(message):
        return NOTHING
    parsed = parse(message)
    if parsed.only_common:
        return NOTHING
    scope = Scope.of_prompt(project_id)
    weighed = ranking.weigh(session, parsed)
    total = search_lookup.size(session)
    ranked = ranking.rank(session, parsed, weighed, scope, CONSIDERED * limit)
    loaded = {entry.id: entry for entry in rows.get_many(session, [found.id for found in ranked])}
    parts = asked(message, weighed)
    kept = [found for found in ranked if found.id in loaded and is_about(fields_of(loaded[found.id]), parts, total)][
        :limit
    ]
    return SearchResult(
        tuple(Hit(loaded[id], score, term_match(weighed, loaded[id])) for id, score in _relative(kept, 1.0)), len(kept)
    )


def _hits(
    session: Session, query: Query, weighed: Sequence[Weighed], page: Sequence[tuple[str, float]], like: int
) -> tuple[Hit, ...]:
    """Load a page of (id, score); the first `like` of them contain the whole query."""
    loaded = {entry.id: entry for entry in rows.get_many(session, [id for id, _ in page])}
    return tuple(
        Hit(loaded[id], score, like_match(query, loaded[id]) if position < like else term_match(weighed, loaded[id]))
        for position, (id, score) in enumerate(page)
        if id in loaded
    )


def _relative(ranked: Sequence[Ranked], best: float) -> list[tuple[str, float]]:
    top = ranked[0].score if ranked else 1.0
    return [(found.id, best * found.score / top if top > 0 else 0.0) for found in ranked]


def like_match(query: Query, entry: Entry) -> Match:
    """Why an entry that contains the whole query was found."""
    folded = query.needle.folded
    return _matched("like", entry, {folded: folded})


def term_match(weighed: Sequence[Weighed], entry: Entry) -> Match:
    """Which of the query's terms an entry has, and where."""
    return _matched("term", entry, {w.term.text: w.term.stem for w in weighed if not w.is_seam})


def _matched(tier: Tier, entry: Entry, asked: Mapping[str, str]) -> Match:
    """`asked`: terms, and for each the part that counts."""
    fields = fields_of(entry)
    named = (("title", fields.title), ("tags", fields.tags), ("content", fields.content))
    found = [(name, tuple(term for term, part in asked.items() if part in value)) for name, value in named]
    places = tuple((name, terms) for name, terms in found if terms)
    there = {term for _, terms in places for term in terms}
    return Match(tier, tuple(term for term in asked if term in there), tuple(name for name, _ in places), places=places)
