"""The part of a text that matters to a query, and where in it the matches are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from devflow.domain.text.folding import fold
from devflow.domain.text.graphemes import ELLIPSIS, cut, cut_at_sentence, is_boundary

_SENTENCE_START = re.compile(r"(?:^|(?<=[。！？；\n])|(?<=[.!?]\s))\s*(?=\S)")


def best_passages(text: str, terms: Iterable[str], max_chars: int, *, centred: bool = False) -> str:
    """At most `max_chars` characters around the densest matches, cut at sentences where one ends near, cuts marked `…`.

    The passage begins with the matches; `centred`: as much is shown before them as after them. A text that fits is
    returned as it is; one without matches is shown from its beginning.
    """
    if len(text) <= max_chars:
        return text
    first, last = _densest(_matches(text, terms), max_chars)
    if centred:
        start = _start_before(text, (first + last - max_chars) // 2, first)
    else:
        start = _start_of_sentence(text, first, max_chars)
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
    joined: list[tuple[int, int]] = []
    for start, end, _ in _matches(text, terms):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _matches(text: str, terms: Iterable[str]) -> list[tuple[int, int, str]]:
    """Every place of every term: (start, end, term), in order."""
    folded, origin = _folded_with_origin(text)
    found: list[tuple[int, int, str]] = []
    for term in {fold(term) for term in terms if term}:
        at = folded.find(term)
        while at >= 0:
            found.append((origin[at], _whole(text, origin[at + len(term) - 1] + 1), term))
            at = folded.find(term, at + 1)
    return sorted(found)


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


def _densest(matches: Sequence[tuple[int, int, str]], width: int) -> tuple[int, int]:
    """(start, end) of the matches that say most together: the most different terms, then the most matched characters.

    They lie within three quarters of the width: what follows them belongs to them.
    """
    best, most = (0, 0), (0, 0)
    inside: Counter[str] = Counter()
    chars = last = 0
    reach = max(width * 3 // 4, 1)
    for start, end, term in matches:
        while last < len(matches) and matches[last][0] < start + reach:
            inside[matches[last][2]] += 1
            chars += matches[last][1] - matches[last][0]
            last += 1
        if (len(inside), chars) > most:
            most = (len(inside), chars)
            best = (start, matches[last - 1][1])
        inside[term] -= 1
        if not inside[term]:
            del inside[term]
        chars -= end - start
    return best


def _start_before(text: str, index: int, latest: int) -> int:
    """The first start of a sentence at or after `index`, but none behind `latest`; else `index` itself."""
    if index <= 0:
        return 0
    found = _SENTENCE_START.search(text, index, latest + 1)
    return found.end() if found is not None and found.end() <= latest else len(cut(text, index))


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
