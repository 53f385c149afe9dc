"""Terms: what the index knows a text by, and what a query is taken apart into.

Words for scripts with spaces, overlapping pairs for Han, kana and hangul, split where scripts meet; identifiers whole
and by their parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from devflow.domain.text.folding import fold_term
from devflow.domain.text.scripts import CJK, MARKS

WORD_MAX = 64
"""Longer runs of letters (encoded data) are cut into windows of this many characters that overlap by half."""

_WORD = rf"(?:[^\W{CJK}]|[{MARKS}])"
_SEGMENT = re.compile(
    rf"(?P<run>[{CJK}]+)"
    rf"|(?P<special>(?<!{_WORD})(?:\.[Nn][Ee][Tt](?!{_WORD})|[Cc]\+\+|[CcFfJj]\#(?!{_WORD})))"
    rf"|(?P<number>\d+(?:\.\d+)+(?!{_WORD}))"
    rf"|(?P<word>{_WORD}+)"
    # no IGNORECASE: it would look up the cases of all of Han, three times as long as the rest of the compilation
)
_WHOLE_WORD = re.compile(rf"{_WORD}+")
_PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[^\W_A-Z]+|\d+")


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of one script. `text` is as written; `start` is its offset in characters."""

    text: str
    start: int
    is_run: bool


def segments(text: str) -> Iterator[Segment]:
    """The stretches of words and of Han, kana or hangul, in order; everything else separates."""
    for found in _SEGMENT.finditer(text):
        yield Segment(found[0], found.start(), found.lastgroup == "run")


def terms(text: str) -> list[str]:
    """All terms of a text in order, repeated ones too."""
    found: list[str] = []
    for match in _SEGMENT.finditer(text):
        piece = match[0]
        if match.lastgroup == "run":
            found += run_terms(piece)
        elif match.lastgroup == "special":
            found += (fold_term(piece), fold_term(piece.strip(".+#")))
        elif match.lastgroup == "number":
            found.append(piece)
            found += piece.split(".")
        else:
            found += word_terms(piece)
    return found


def whole_words(text: str) -> Iterator[str]:
    """Every stretch of word characters, whole (long ones in windows): any part of a word is part of one of these."""
    for match in _WHOLE_WORD.finditer(text):
        yield from _windows(fold_term(match[0]))


def run_terms(run: str) -> list[str]:
    """Overlapping pairs of a run, and its last character alone, so that every character begins some term."""
    folded = unicodedata.normalize("NFC", fold_term(run))
    pairs = [folded[i : i + 2] for i in range(len(folded) - 1)]
    pairs.append(folded[-1:])
    return pairs


def word_terms(word: str) -> list[str]:
    """A word whole, then the parts of an identifier: `searchAll` is `searchall`, `search`, `all`."""
    whole = fold_term(word)
    if len(whole) > WORD_MAX:
        return _windows(whole)
    if whole == word and "_" not in word:
        return [whole]
    parts = [fold_term(part) for part in _PART.findall(unicodedata.normalize("NFC", word))]
    return [whole] if parts == [whole] else [whole, *parts]


def _windows(whole: str) -> list[str]:
    """Overlapping by half, so that a part of up to half a window stands whole in one of them."""
    if len(whole) <= WORD_MAX:
        return [whole] if whole else []
    return [whole[i : i + WORD_MAX] for i in range(0, len(whole) - WORD_MAX // 2, WORD_MAX // 2)]
