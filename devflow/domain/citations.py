"""`[K1]` in an answer: which numbers it cites, and where; inside code nothing is a citation (spec 08)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from devflow.domain.text.code import blank_code

_BRACKET = re.compile(r"\[\s*(K\d{1,6}(?:\s*[,，、;；]\s*K\d{1,6})*)\s*\]", re.IGNORECASE)
_NUMBER = re.compile(r"K(\d{1,6})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """One citation mark as it stands in the text, `start` to `end` in characters, brackets included.

    `[K1, K2]` is two marks over the same characters.
    """

    number: int
    start: int
    end: int


def marks(text: str) -> tuple[Mark, ...]:
    """Every citation mark in order. Inside code nothing is a citation: fenced blocks and code spans are skipped."""
    found: list[Mark] = []
    masked = blank_code(text)
    for bracket in _BRACKET.finditer(masked):
        found += [Mark(int(number[1]), bracket.start(), bracket.end()) for number in _NUMBER.finditer(bracket[1])]
    return tuple(found)


def cited_numbers(text: str) -> tuple[int, ...]:
    """The numbers cited, each once, in the order of their first mention."""
    return tuple(dict.fromkeys(mark.number for mark in marks(text)))


def without_marks(text: str) -> str:
    """`text` without its citation marks and the spaces before them: a number means nothing outside its conversation."""
    kept: list[str] = []
    at = 0
    for start, end in dict.fromkeys((mark.start, mark.end) for mark in marks(text)):
        before = text[at:start]
        starts_line = not before.strip(" \t") or before.rstrip(" \t").endswith("\n")
        kept.append(before if starts_line else before.rstrip(" \t"))
        at = end + (1 if starts_line and text[end : end + 1] == " " else 0)
    return "".join((*kept, text[at:]))
