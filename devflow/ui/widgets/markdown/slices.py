"""A long text in slices that are rendered one after another, so that none of them holds the window up.

A slice ends between two blocks where there is such a place. A block that is too long for one is parted itself: code
goes on in a fence of its own, a table under its own head, anything else at the end of a line or a word.
"""

from __future__ import annotations

import re

from devflow.ui.widgets.markdown.stream import safe_cut

MOST, LEAST = 4_000, 400
"""Characters of a slice, when rendering is fast and when it is slow."""
LINES = 60
"""A line may be a block of its own, and each block costs."""
CELLS = 240
"""So many cells of tables."""

_ITEM = re.compile(r"(?<=\n)(?=(?:[-*+]|\d{1,9}[.)]) )")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^\n]*\n")
_RULE = re.compile(r" {0,3}\|?[ \t]{0,20}:?-+:?[ \t]{0,20}(?:\|[ \t]{0,20}:?-+:?[ \t]{0,20})*\|?[ \t]{0,20}")


def next_slice(text: str, size: int = MOST) -> tuple[str, str]:
    """What is rendered next, and what is left after it. `size` is between `LEAST` and `MOST` characters."""
    most = _fitting(text, size)
    if most >= len(text):
        return text, ""
    head = text[:most]
    cut = safe_cut(head) or max((found.start() for found in _ITEM.finditer(head)), default=0)
    if cut:
        return text[:cut], text[cut:]
    return _code(text, most) or _table(text, most) or _prose(text, most)


def _fitting(text: str, size: int) -> int:
    """How much of it is neither too long nor too many lines nor too many cells."""
    most = min(size, len(text))
    lines = cells = 0
    at = 0
    while at < most:
        end = text.find("\n", at, most)
        end = most if end < 0 else end + 1
        lines += 1
        cells += text.count("|", at, end)
        if (lines > LINES or cells > CELLS) and at:
            return at
        at = end
    return len(text) if most == len(text) else most


def _code(text: str, most: int) -> tuple[str, str] | None:
    first = text.find("\n", 0, LEAST) + 1
    opened = _FENCE.fullmatch(text[:first])
    if opened is None:
        return None
    end = max(text.rfind("\n", opened.end(), most), 0) + 1
    end = end if end > opened.end() else max(most, opened.end() + 1)
    line_end = "" if text[end - 1] == "\n" else "\n"
    return f"{text[:end]}{line_end}{opened[1]}\n", opened[0] + text[end:]


def _table(text: str, most: int) -> tuple[str, str] | None:
    """Rows that fit, under the table's head; the others under the same head again."""
    top, _, below = text.partition("\n")
    rule, found, _ = below.partition("\n")
    if not found or "|" not in top or "|" not in rule or not _RULE.fullmatch(rule):
        return None
    head = f"{top}\n{rule}\n"
    end = text.rfind("\n", len(head), most) + 1
    if end <= len(head):
        return None
    left = text[end:]
    return text[:end], head + left if "|" in left.partition("\n")[0] else left


def _prose(text: str, most: int) -> tuple[str, str]:
    cut = text.rfind("\n", 1, most) + 1 or text.rfind(" ", most // 2, most) + 1 or most
    return text[:cut], text[cut:]
