"""The part of a text that matters to a query, and where in it the matches are."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from devflow.domain.text.folding import fold
from devflow.domain.text.graphemes import ELLIPSIS, cut, cut_at_sentence, is_boundary

_SENTENCE_START = re.compile(r"(?:^|(?<=[。！？；\n])|(?<=[.!?]\s))\s*(?=\S)")


def best_passages(text: str, terms: Iterable[str], max_chars: int) -> str:
    """At most `max_chars` characters around the densest matches, cut at sentences where one ends near, cuts marked `…`.

    A text that fits is returned as it is; one without matches is shown from its beginning.
    """
    if len(text) <= max_chars:
        return text
    marks = spans(text, terms)
    start = _start_of_sentence(text, _densest(marks, max_chars), max_chars)
    if start == 0:
        return cut_at_sentence(text, max_chars)[0]
    rest = text[start:].strip()
    room = max_chars - len(ELLIPSIS)
    if len(rest) < room:
        # The end of the text leaves room: show more before it.
        start = _start_of_sentence(text, max(len(text) - room, 0), max_chars, forward=True)
        rest = text[start:].strip()
    return ELLIPSIS + cut_at_sentence(rest, room)[0] if start > 0 else cut_at_sentence(rest, max_chars)[0]


def spans(text: str, terms: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Where the terms stand in the text, as (start, end) in characters of the text as written; joined where they touch.

    Terms are matched as a search matches them: folded. A match that begins or ends within a character takes it whole.
    """
    folded, origin = _folded_with_origin(text)
    found: list[tuple[int, int]] = []
    for term in {fold(term) for term in terms if term}:
        at = folded.find(term)
        while at >= 0:
            found.append((origin[at], origin[at + len(term) - 1] + 1))
            at = folded.find(term, at + 1)
    joined: list[tuple[int, int]] = []
    for start, end in sorted((start, _whole(text, end)) for start, end in found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _folded_with_origin(text: str) -> tuple[str, Sequence[int]]:
    """The folded text, and for each of its characters the index of the character it came from."""
    folded = fold(text)
    if len(folded) == len(text) and (text.isascii() or all(len(fold(char)) == 1 for char in set(text))):
        return folded, range(len(text))
    pieces = [fold(char) for char in text]
    return "".join(pieces), [index for index, piece in enumerate(pieces) for _ in piece]


def _whole(text: str, end: int) -> int:
    while not is_boundary(text, end):
        end += 1
    return end


def _densest(marks: Sequence[tuple[int, int]], width: int) -> int:
    """The start of the window with the most matched characters; half a window of lead would hide what follows."""
    starts = [start for start, _ in marks]
    best, best_weight = 0, 0
    for first, start in enumerate(starts):
        last = bisect_left(starts, start + width * 3 // 4)
        weight = sum(end - begin for begin, end in marks[first:last])
        if weight > best_weight:
            best, best_weight = start, weight
    return best


def _start_of_sentence(text: str, index: int, width: int, *, forward: bool = False) -> int:
    """The nearest start of a sentence at or before `index` (after it with `forward`), at most a quarter window away."""
    if index <= 0:
        return 0
    reach = max(width // 4, 1)
    if forward:
        found = _SENTENCE_START.search(text, index)
        if found and found.end() <= index + reach:
            return found.end()
    else:
        if index <= reach:
            return 0
        ends = [found.end() for found in _SENTENCE_START.finditer(text, index - reach, index + 1)]
        if ends := [end for end in ends if end <= index]:
            return ends[-1]
    return len(cut(text, index))
