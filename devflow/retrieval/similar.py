"""Entries that say nearly the same as a text: the text's rarest terms find candidates, `likeness` compares."""

from __future__ import annotations

import re
from collections.abc import Sequence

from devflow.domain.knowledge import NOT_ARCHIVED
from devflow.domain.text import run_terms, segments, terms
from devflow.domain.text.scripts import CJK
from devflow.domain.text.stopwords import STOP_WORDS, function_characters
from devflow.retrieval.hits import Hit, Match
from devflow.retrieval.likeness import LEAST, NEAR, READ, likeness, root, words_of
from devflow.store import entries as rows
from devflow.store import search_lookup
from devflow.store.database import Session
from devflow.store.search_lookup import Scope

__all__ = ["LEAST", "NEAR", "similar_entries", "taken_apart"]

COMPARED = 16
"""So many candidates are read, or as many as are asked for."""
QUERY_MAX = 2_000
"""The terms of so many characters may find candidates."""
COUNTED = 64
"""So many different terms are counted, those of the title first."""
ASKED = 20
"""The rarest of them make candidates, up to `POSTINGS` places in the index."""
POSTINGS = 3_000
SHOWN = 12

_CJK = re.compile(f"[{CJK}]")


def similar_entries(
    session: Session,
    id_or_text: str,
    *,
    limit: int = 5,
    scopes: Sequence[Scope] = (Scope(NOT_ARCHIVED),),
    by_id: bool = True,
) -> tuple[Hit, ...]:
    """Entries within any of the scopes that resemble an entry (by its id, itself left out) or a text, whose first line
    is its title; most alike first, none below `LEAST`.

    Unlike a search's, the score is absolute: 1 for the same words, from `NEAR` up they say nearly the same. `by_id`:
    whether it may be an id; a visitor's text is never one.
    """
    own = next(iter(rows.get_many(session, [id_or_text.strip()])), None) if by_id else None
    title, content = (own.title, own.content) if own else taken_apart(id_or_text)
    mine = words_of(title, content)
    candidates: dict[str, None] = {}
    if asked := _rarest(session, f"{title}\n{content}"[:QUERY_MAX], 1 if own else 0):
        for scope in scopes:
            found = search_lookup.matching(session, [(term,) for term in asked], scope, max(COMPARED, limit) + 1)
            candidates |= dict.fromkeys(id for id, _, _ in found)
    hits: list[Hit] = []
    for entry in rows.get_many(session, [id for id in candidates if own is None or id != own.id]):
        shared = likeness(mine, words_of(entry.title, entry.content))
        if shared.score >= LEAST:
            said = _as_written(f"{entry.title}\n{entry.content[:READ]}", frozenset(shared.terms))
            hits.append(Hit(entry, shared.score, Match("term", said[:SHOWN], ("title", "content"))))
    hits.sort(key=lambda hit: -hit.score)
    return tuple(hits[:limit])


def _as_written(text: str, common: frozenset[str]) -> tuple[str, ...]:
    """Common terms as the text has them, the longest first: words whole, pairs of characters that stand together
    joined."""
    found: dict[str, None] = {}
    for segment in segments(text):
        if not segment.is_run:
            found |= dict.fromkeys(term for term in terms(segment.text) if root(term) in common)
            continue
        run = ""
        for pair in run_terms(segment.text):
            if pair in common:
                run = run + pair[1:] if run else pair
                continue
            found |= dict.fromkeys((run,) if run else ())
            run = ""
    return tuple(sorted(found, key=lambda said: -len(said) * (2 if _CJK.match(said) else 1)))


def taken_apart(text: str) -> tuple[str, str]:
    """A text's first line, which is its title, and the rest."""
    title, _, content = text.strip().partition("\n")
    return title, content


def _rarest(session: Session, text: str, own: int) -> list[str]:
    """The terms that find candidates. `own`: so many entries that have a term are the text's own."""
    wanted = dict.fromkeys(term for term in terms(text) if _is_telling(term))
    counts = search_lookup.frequencies(session, list(wanted)[:COUNTED], POSTINGS)
    known = sorted((count, term) for term, count in counts.items() if count > own)
    found: list[str] = []
    left = POSTINGS
    for count, term in known[:ASKED]:
        if found and count > left:
            break
        found.append(term)
        left -= count
    return found


def _is_telling(term: str) -> bool:
    if _CJK.match(term):
        return len(term) > 1 and function_characters(term) == 0
    return term not in STOP_WORDS
