"""A unified diff as the rows that the diff widget paints."""

from __future__ import annotations

import re
from collections.abc import Iterable

from devflow.domain.text.hidden import with_hidden_shown
from devflow.ui.widgets.diffing import DiffLine, Side, word_marks

_MARKED_MAX = 200
"""Pairs of lines whose words are compared: marking them is a help, and the window waits for it."""

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def patch_rows(patch: str) -> list[DiffLine]:
    """Rows with both line numbers and word marks; the lines left out between two hunks are one folded row."""
    rows: list[DiffLine] = []
    old = new = 0
    for line in map(with_hidden_shown, patch.split("\n")):  # no other character ends a line here
        hunk = _HUNK.match(line)
        if hunk:
            start = int(hunk[1])
            if rows and start > old:
                rows.append(DiffLine(Side.FOLD, str(start - old)))
            old, new = start, int(hunk[2])
        elif not old and not new:
            continue  # the two lines that name the files
        elif line.startswith("\\"):
            continue  # "No newline at end of file"
        elif line.startswith("+"):
            rows.append(DiffLine(Side.ADDED, line[1:].expandtabs(4), new=new))
            new += 1
        elif line.startswith("-"):
            rows.append(DiffLine(Side.REMOVED, line[1:].expandtabs(4), old=old))
            old += 1
        elif line.startswith("["):
            break  # what the tool says where it left the rest out
        else:
            rows.append(DiffLine(Side.SAME, line[1:].expandtabs(4), old, new))
            old, new = old + 1, new + 1
    return list(_marked(rows))


def patch_note(patch: str) -> str:
    """What the tool says in brackets where a diff is not, or not wholly, shown; else an empty string."""
    last = patch.rpartition("\n")[2]
    return last[1:-1] if last.startswith("[") and last.endswith("]") else ""


def _marked(rows: list[DiffLine]) -> Iterable[DiffLine]:
    """Give removed and added lines that stand in the same place their word marks, pair by pair."""
    index = marked = 0
    while index < len(rows):
        removed = _run(rows, index, Side.REMOVED)
        added = _run(rows, index + len(removed), Side.ADDED)
        if not removed and not added:
            yield rows[index]
            index += 1
            continue
        alike = list(zip(removed, added, strict=False))[: _MARKED_MAX - marked]
        pairs = [word_marks(a.text, b.text) for a, b in alike]
        marked += len(pairs)
        for place, row in enumerate(removed):
            marks = pairs[place][0] if place < len(pairs) else ()
            yield DiffLine(row.side, row.text, row.old, row.new, _worth(marks, row.text))
        for place, row in enumerate(added):
            marks = pairs[place][1] if place < len(pairs) else ()
            yield DiffLine(row.side, row.text, row.old, row.new, _worth(marks, row.text))
        index += len(removed) + len(added)


def _run(rows: list[DiffLine], start: int, side: Side) -> list[DiffLine]:
    end = start
    while end < len(rows) and rows[end].side is side:
        end += 1
    return rows[start:end]


def _worth(marks: tuple[tuple[int, int], ...], text: str) -> tuple[tuple[int, int], ...]:
    """Marks over nearly the whole line say nothing that the line's own colour does not."""
    marked = sum(end - start for start, end in marks)
    return marks if marked < 0.8 * max(1, len(text.strip())) else ()
