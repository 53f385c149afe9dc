"""Which words of a text a search found: for the match ground in lists and texts."""

from __future__ import annotations

from devflow.retrieval.query import parse


def marked_terms(query: str) -> tuple[str, ...]:
    """The whole query, then its terms and their stems; empty without a query."""
    if not query.strip():
        return ()
    parsed = parse(query)
    terms = (parsed.needle.folded, *(word for term in parsed.terms for word in (term.text, term.stem)))
    return tuple(dict.fromkeys(term for term in terms if term))
