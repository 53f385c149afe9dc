"""`[K1]` in an answer: which numbers it cites, and where; inside code nothing is a citation (spec 08)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")
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
    masked = _without_code(text)
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


def _without_code(text: str) -> str:
    """`text` with every character of code replaced by a space, so that offsets stay right."""
    lines = text.splitlines(keepends=True)
    out: list[str] = []
    prose: list[str] = []
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            out.append(_blank(line))
            if match and match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            out.append(_blank_spans("".join(prose)))
            prose = []
            fence = match[1]
            out.append(_blank(line))
        else:
            prose.append(line)
    out.append(_blank_spans("".join(prose)))
    return "".join(out)


def _blank_spans(text: str) -> str:
    """Blank code spans: a run of backticks up to the next run of the same length, within one paragraph."""
    pieces: list[str] = []
    at = 0
    while opening := _TICKS.search(text, at):
        closing = _closing(text, opening.end(), len(opening[0]))
        if closing is None:
            pieces.append(text[at : opening.end()])
            at = opening.end()
            continue
        pieces += (text[at : opening.start()], _blank(text[opening.start() : closing]))
        at = closing
    pieces.append(text[at:])
    return "".join(pieces)


def _closing(text: str, start: int, length: int) -> int | None:
    paragraph = text.find("\n\n", start)
    end = len(text) if paragraph < 0 else paragraph
    for ticks in _TICKS.finditer(text, start, end):
        if len(ticks[0]) == length:
            return ticks.end()
    return None


def _blank(text: str) -> str:
    return "".join(char if char in "\r\n" else " " for char in text)
