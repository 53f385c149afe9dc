"""What a human typed, as Markdown that keeps their line breaks."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def as_typed(text: str) -> str:
    """`text` with a hard break at every single line end outside fences: one line typed is one line shown."""
    lines = text.split("\n")
    out: list[str] = []
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1][0] * 3
        elif mark and mark[1].startswith(fence):
            fence = ""
        following = lines[index + 1] if index + 1 < len(lines) else ""
        plain = not fence and not mark and line.strip() and following.strip() and not _FENCE.match(following)
        out.append(f"{line.rstrip()}\\" if plain and not _structural(line) else line)
    return "\n".join(out)


def _structural(line: str) -> bool:
    """A line whose end already ends something: headings, table rows, list items keep their own form."""
    return bool(re.match(r"^\s*(#{1,6}\s|\||[-*+]\s|\d{1,9}[.)]\s|>)", line))
