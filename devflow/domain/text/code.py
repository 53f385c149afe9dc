"""Where a Markdown text is code: nothing there is a citation (spec 08) or a reference to a page (spec 02)."""

from __future__ import annotations

import re

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
