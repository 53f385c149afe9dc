"""Entries that say nearly the same: by shared terms, for "already known" and near-duplicates."""

from __future__ import annotations

from devflow.domain.knowledge import NOT_ARCHIVED
from devflow.domain.text import terms
from devflow.domain.text.stopwords import STOP_WORDS
from devflow.retrieval import ranking
from devflow.retrieval.hits import Hit, Match
from devflow.retrieval.query import parse
from devflow.store import entries as rows
from devflow.store.database import Session
from devflow.store.search_lookup import Scope

COMPARED = 12
NEAR = 0.5
"""From this share of common terms up two texts say nearly the same."""
LEAST = 0.1
"""Below this share of common terms two texts have little to do with each other."""


def similar_entries(session: Session, id_or_text: str, *, limit: int = 5) -> tuple[Hit, ...]:
    """Entries, archived ones left out, that resemble an entry (by its id, itself left out) or a text, most alike first.

    Unlike a search's, the score is absolute: the share (0–1) that the two texts' terms have in common, 1 for the same.
    """
    own = rows.get_many(session, [id_or_text])
    text = f"{own[0].title}\n{own[0].content}" if own else id_or_text
    mine = _content(text)
    if not mine:
        return ()
    query = parse(text)
    ranked = ranking.rank(session, query, ranking.weigh(session, query), Scope(NOT_ARCHIVED), COMPARED + len(own))
    found: list[Hit] = []
    for entry in rows.get_many(session, [r.id for r in ranked]):
        if own and entry.id == own[0].id:
            continue
        theirs = _content(f"{entry.title}\n{entry.content}")
        common = mine & theirs
        score = len(common) / len(mine | theirs)
        if score >= LEAST:
            found.append(Hit(entry, score, Match("term", tuple(sorted(common)), ("title", "content"))))
    found.sort(key=lambda hit: -hit.score)
    return tuple(found[:limit])


def _content(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - STOP_WORDS
