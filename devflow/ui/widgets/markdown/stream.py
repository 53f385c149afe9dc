"""Where a growing Markdown text may be cut: what stands before the cut will not change any more."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


def safe_cut(text: str) -> int:
    """The length of the longest prefix whose rendering is final, given that more text may follow.

    A cut lies at the start of a line that follows a blank line outside fences, or directly after a closed fence; never
    before an indented line, and never between the items of one list.
    """
    cut = 0
    fence = ""
    blank = False
    list_open = False
    position = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        if fence:
            if _closes(line, fence):
                fence = ""
                blank = False
                if not last and not list_open:
                    cut = position + len(line) + 1
        elif not line.strip():
            blank = not last
        else:
            item = _ITEM.match(line) is not None
            if blank and not line[0].isspace() and not (item and list_open) and not _may_be_item(line, last, list_open):
                cut = position
                list_open = False
            opened = _FENCE.match(line)
            if opened and not (opened[1][0] == "`" and "`" in opened[2]):
                fence = opened[1]
            list_open = list_open or item
            blank = False
        position += len(line) + 1
    return min(cut, len(text))


def open_fence(text: str) -> tuple[str, str] | None:
    """(language, code so far) when the whole of `text` is one fence that has not been closed, else None."""
    first, newline, rest = text.partition("\n")
    opened = _FENCE.match(first)
    if opened is None or not newline or first[:1] == " ":
        return None
    if any(_closes(line, opened[1]) for line in rest.split("\n")):
        return None
    return opened[2].strip().split(" ")[0], rest


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]} and len(line) - len(line.lstrip(" ")) <= 3


def _may_be_item(line: str, last: bool, list_open: bool) -> bool:
    """An unfinished last line such as `3` may still become the next item of an open list."""
    return last and list_open and re.fullmatch(r"(?:\d{1,9}[.)]?|[-*+])", line) is not None
