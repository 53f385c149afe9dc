"""Why an entry or a page was found, in words: "Why this?" of the command line and the window."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from devflow.domain.messages import N_, Translator
from devflow.domain.text.scripts import CJK
from devflow.retrieval.hits import Match

_FIELDS = {
    "title": N_("title"),
    "tags": N_("tags"),
    "content": N_("content"),
    "name": N_("file name"),
    "path": N_("path"),
}
_PAIR = re.compile(f"[{CJK}]{{2}}")


def why(t: Translator, match: Match) -> str:
    """One line: how it was found, which of the query's terms stand where, and how near it is in meaning."""
    match match.tier:
        case "like":
            found = t("contains “{text}” in: {fields}", text=match.terms[0], fields=_fields(t, match.fields))
        case "term":
            found = places_line(t, match.places)
        case "meaning":
            found = t("near in meaning")
        case _:
            assert_never(match.tier)
    if match.similarity is None:
        return found or t("matches words of the query")
    return "; ".join(part for part in (found, t("similarity {value}", value=f"{match.similarity:.2f}")) if part)


def places_line(t: Translator, places: Iterable[tuple[str, Sequence[str]]]) -> str:
    """`title: sqlite, lock; content: busy`."""
    return "; ".join(f"{field_name(t, field)}: {', '.join(readable(terms))}" for field, terms in places)


def field_name(t: Translator, field: str) -> str:
    """The word for a field of an entry or a page."""
    return t(_FIELDS[field]) if field in _FIELDS else field


def readable(terms: Iterable[str]) -> tuple[str, ...]:
    """Terms as a human reads them: pairs of characters that overlap are joined to the words that they come from."""
    joined: list[str] = []
    last = ""
    for term in terms:
        is_pair = _PAIR.fullmatch(term) is not None
        if is_pair and _PAIR.fullmatch(last) and last[1] == term[0]:
            joined[-1] += term[1]
        else:
            joined.append(term)
        last = term
    return tuple(joined)


def _fields(t: Translator, fields: tuple[str, ...]) -> str:
    return ", ".join(field_name(t, field) for field in fields)
