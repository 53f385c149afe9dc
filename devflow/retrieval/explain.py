"""Why entries stand in a list that a search made: for the rows that a human looks at, wherever in the list they are.

Plain functions of a session; they run on the store's thread.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from devflow.domain.text import fold
from devflow.retrieval import ranking
from devflow.retrieval.entries import like_match, term_match
from devflow.retrieval.hits import Match
from devflow.retrieval.meaning import Meaning
from devflow.retrieval.query import parse
from devflow.store import entries as rows
from devflow.store import search_lookup
from devflow.store.database import Session


def explain(session: Session, query: str, ids: Collection[str], meaning: Meaning | None = None) -> Mapping[str, Match]:
    """For each of the entries that exists, why `query` finds it, as a search says it. Nothing without a query.

    An entry that has too few of the query's terms to be found by them was found by its meaning alone.
    """
    if not query.strip() or not ids:
        return {}
    parsed = parse(query)
    weighed = ranking.weigh(session, parsed)
    asked = [frozenset(terms) for terms in ranking.alternatives(weighed, search_lookup.size(session))]
    near: Mapping[str, float] = {}
    if meaning is not None:
        near = meaning.index.similarities(session, meaning.asked, tuple(ids))
    found: dict[str, Match] = {}
    for entry in rows.get_many(session, ids):
        if any(parsed.needle.folded in fold(text) for text in (entry.title, entry.content)):
            match = like_match(parsed, entry)
        else:
            match = term_match(weighed, entry)
            if entry.id in near and not any(terms.issubset(match.terms) for terms in asked):
                match = replace(match, tier="meaning")
        found[entry.id] = replace(match, similarity=near.get(entry.id))
    return found
