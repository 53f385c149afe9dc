"""`[[wiki/….md]]`: the pages that a message, or an answer, names by itself (seed §5.2, spec 02, References)."""

from __future__ import annotations

import re

from devflow.domain.text.code import blank_code

REFERENCE = re.compile(
    r"\[\[[ \t]{0,100}(wiki/(?:(?!\]\]|\[\[)[^\n|]){0,1000}?[^\s/|]\.md)[ \t]{0,100}"
    r"(?:[#|](?:(?!\]\])[^\n]){0,300})?\]\]"
)
"""Bounded: on a line of a hundred thousand signs that only look like one, it must not stop the window."""
_LINK = re.compile(r"\[[^\[\]\n]*\]\(<?(wiki/[^)>\n#]{1,1000}?\.md)(?:#[^)>\n]{0,300})?>?\)")


def parse_explicit_page_refs(message: str) -> tuple[str, ...]:
    """The references of a message as they are written, in order, each once; inside code there are none.

    An alias (`|…`), an anchor (`#…`) and padding are taken off. Whether the page exists is the search's to say.
    """
    return tuple(dict.fromkeys(found[1] for found in REFERENCE.finditer(blank_code(message))))


def without_references(message: str) -> str:
    """The message without its references: a page's own name is no word of the question."""
    return " ".join(_between(message))


def with_page_names(message: str) -> str:
    """The message with `@page` for each reference: short, for a title."""
    names = [found[1].rpartition("/")[2].removesuffix(".md") for found in REFERENCE.finditer(blank_code(message))]
    first, *rest = _between(message)
    return first + "".join(f"@{name}{text}" for name, text in zip(names, rest, strict=True))


def extract_wiki_refs(answer: str) -> tuple[str, ...]:
    """The pages that an answer links to: the double brackets first, then Markdown's own links; each once."""
    plain = blank_code(answer)
    links = (found[1] for found in _LINK.finditer(plain))
    return tuple(dict.fromkeys((*parse_explicit_page_refs(answer), *links)))


def _between(message: str) -> list[str]:
    """What stands before, between and after the references; always one piece more than there are of them."""
    kept, at = [], 0
    for found in REFERENCE.finditer(blank_code(message)):
        kept.append(message[at : found.start()])
        at = found.end()
    return [*kept, message[at:]]
