"""Where a Markdown text is code: nothing there is a citation (spec 08) or a reference to a page (spec 02)."""

from __future__ import annotations

import re
from collections import deque

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")


def blank_code(text: str) -> str:
    """`text` with every character of fenced blocks and code spans replaced by a space, so that offsets stay right."""
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
    return "\n\n".join(map(_blank_in_paragraph, text.split("\n\n")))


def _blank_in_paragraph(text: str) -> str:
    runs = [found.span() for found in _TICKS.finditer(text)]
    later: dict[int, deque[int]] = {}
    for number, (start, end) in enumerate(runs):
        later.setdefault(end - start, deque()).append(number)
    out: list[str] = []
    at = number = 0
    while number < len(runs):
        start, end = runs[number]
        same = later[end - start]
        while same and same[0] <= number:
            same.popleft()
        if same:
            number = same[0]
            out += (text[at:start], _blank(text[start : runs[number][1]]))
            at = runs[number][1]
        number += 1
    out.append(text[at:])
    return "".join(out)


def _blank(text: str) -> str:
    return "".join(char if char in "\r\n" else " " for char in text)
