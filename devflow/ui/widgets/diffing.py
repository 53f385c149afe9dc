"""Differences as values: lines for code, paragraphs for prose, words inside both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

MAX_UNFOLDED = 400
_TOKEN = re.compile(r"[㐀-鿿豈-﫿]|\w+|\s+|[^\w\s]")
# Two lines that share less than this are two lines, not one that changed.
_ALIKE = 0.35
# Everything here runs while the window waits. Of a comparison of so many tokens with so many the worst takes 10 ms, and
# it grows with the cube; of two minified lines it would take minutes.
_WORK_MAX = 40_000
# Comparing each of so many lines with each of so many.
_PAIRS_MAX = 400


class Side(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    FOLD = "fold"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One painted row; `marks` are (start, end) of the changed words; line numbers count from 1, 0 is none."""

    side: Side
    text: str
    old: int = 0
    new: int = 0
    marks: tuple[tuple[int, int], ...] = ()


def diff_lines(before: str, after: str, context: int | None = 3) -> list[DiffLine]:
    """Unified rows of two texts. `context` unchanged lines around a change; None keeps them all up to 400 lines."""
    old, new = _lines(before), _lines(after)
    rows: list[DiffLine] = []
    crowded = len(old) * len(new) > _WORK_MAX * 10
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, old, new, autojunk=crowded).get_opcodes():
        if tag == "equal":
            rows += [DiffLine(Side.SAME, old[a1 + i], a1 + i + 1, b1 + i + 1) for i in range(a2 - a1)]
        else:
            rows += _changed(old[a1:a2], new[b1:b2], a1, b1)
    if context is None and len(rows) <= MAX_UNFOLDED:
        return rows
    return _fold(rows, 3 if context is None else context)


def count_changes(rows: Sequence[DiffLine]) -> tuple[int, int]:
    """(added, removed)."""
    return sum(row.side is Side.ADDED for row in rows), sum(row.side is Side.REMOVED for row in rows)


def word_marks(before: str, after: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """The changed spans of both texts; Han characters count as words of their own, neighbours are joined."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    a_spans: list[tuple[int, int]] = []
    b_spans: list[tuple[int, int]] = []
    a_at, b_at = _offsets(old), _offsets(new)
    for tag, a1, a2, b1, b2 in _opcodes(old, new):
        if tag == "equal":
            continue
        if a2 > a1:
            _join(a_spans, (a_at[a1], a_at[a2]), before)
        if b2 > b1:
            _join(b_spans, (b_at[b1], b_at[b2]), after)
    return tuple(a_spans), tuple(b_spans)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """What differs; where that is too much to look at closely, all between the equal ends."""
    if len(old) * len(new) <= _WORK_MAX:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    shorter = min(len(old), len(new))
    first = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    last = next((at for at in range(shorter - first) if old[-1 - at] != new[-1 - at]), shorter - first)
    here, there = old[first : len(old) - last], new[first : len(new) - last]
    if len(here) * len(there) > _WORK_MAX:
        return [("replace", first, len(old) - last, first, len(new) - last)]
    inner = SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
    return [(tag, a1 + first, a2 + first, b1 + first, b2 + first) for tag, a1, a2, b1, b2 in inner]


def paragraphs(text: str) -> str:
    """Prose with one paragraph a line: what `diff_lines` compares for prose."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _lines(text: str) -> list[str]:
    return [line.expandtabs(4) for line in text.splitlines()]


def _changed(old: Sequence[str], new: Sequence[str], a: int, b: int) -> list[DiffLine]:
    """Removed rows then added rows; those that pair up by likeness carry word marks."""
    old_marks: dict[int, tuple[tuple[int, int], ...]] = {}
    new_marks: dict[int, tuple[tuple[int, int], ...]] = {}
    free = list(range(len(new)))
    crowded = len(old) * len(new) > _PAIRS_MAX
    for i, line in enumerate(old):
        near = [i] if crowded and i < len(new) else [] if crowded else free
        best = max(near, key=lambda j: _likeness(line, new[j]), default=None)
        if best is None or _likeness(line, new[best]) < _ALIKE:
            continue
        free.remove(best)
        old_marks[i], new_marks[best] = word_marks(line, new[best])
    paired_any = bool(old_marks)
    for j in free:
        stripped = new[j].strip()
        if stripped and (paired_any or not old):
            start = len(new[j]) - len(new[j].lstrip())
            new_marks[j] = ((start, start + len(stripped)),) if old else ()
    removed = [DiffLine(Side.REMOVED, line, old=a + i + 1, marks=old_marks.get(i, ())) for i, line in enumerate(old)]
    added = [DiffLine(Side.ADDED, line, new=b + j + 1, marks=new_marks.get(j, ())) for j, line in enumerate(new)]
    return removed + added


def _likeness(a: str, b: str) -> float:
    if not a.strip() or not b.strip() or max(len(a), len(b)) > 2000:
        return 0.0
    old, new = _words(a), _words(b)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return matcher.ratio() if len(old) * len(new) <= _WORK_MAX else matcher.quick_ratio()


def _words(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text) if not token.isspace()]


def _offsets(tokens: Sequence[str]) -> list[int]:
    at = [0]
    for token in tokens:
        at.append(at[-1] + len(token))
    return at


def _join(spans: list[tuple[int, int]], span: tuple[int, int], text: str) -> None:
    """Append a span, or stretch the last one over a gap of white space."""
    if spans and not text[spans[-1][1] : span[0]].strip():
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)


def _fold(rows: Sequence[DiffLine], context: int) -> list[DiffLine]:
    keep = [False] * len(rows)
    for index, row in enumerate(rows):
        if row.side is not Side.SAME:
            for near in range(max(0, index - context), min(len(rows), index + context + 1)):
                keep[near] = True
    folded: list[DiffLine] = []
    hidden = 0
    for index, row in enumerate(rows):
        if keep[index]:
            if hidden:
                folded.append(DiffLine(Side.FOLD, str(hidden)))
            hidden = 0
            folded.append(row)
        else:
            hidden += 1
    if hidden and folded:
        folded.append(DiffLine(Side.FOLD, str(hidden)))
    return folded
