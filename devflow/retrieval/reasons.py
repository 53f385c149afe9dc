"""Why an entry was found, in words: "Why this?" of the command line and the window."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.messages import N_, Translator
from devflow.retrieval.hits import Match

_FIELDS = {"title": N_("title"), "tags": N_("tags"), "content": N_("content")}


def why(t: Translator, match: Match) -> str:
    """One line: how it was found, which of the query's terms stand where, and how near it is in meaning."""
    match match.tier:
        case "like":
            found = t("contains “{text}” in: {fields}", text=match.terms[0], fields=_fields(t, match.fields))
        case "term":
            found = "; ".join(f"{t(_FIELDS[field])}: {', '.join(terms)}" for field, terms in match.places)
        case "meaning":
            found = t("near in meaning")
        case _:
            assert_never(match.tier)
    if match.similarity is None:
        return found
    return "; ".join(part for part in (found, t("similarity {value}", value=f"{match.similarity:.2f}")) if part)


def _fields(t: Translator, fields: tuple[str, ...]) -> str:
    return ", ".join(t(_FIELDS[field]) for field in fields)
