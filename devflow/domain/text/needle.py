"""What every text that literally contains a query must have among its terms: how an index narrows a plain scan."""

from __future__ import annotations

import re
from dataclasses import dataclass

from devflow.domain.text.folding import fold, fold_term
from devflow.domain.text.scripts import HAN, MARKS
from devflow.domain.text.signs import sign_terms
from devflow.domain.text.terms import WORD_MAX, Segment, run_terms, segments

_PIECE = re.compile(rf"[\w{MARKS}]+")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Needle:
    """A trimmed query as the LIKE tier sees it.

    A text whose fold contains `folded` has all `terms`, all `signs`, for each of `parts` a word that contains it, and
    for each of `openers` a term that begins with it. These are necessary, never sufficient: the text itself decides.
    """

    folded: str
    terms: tuple[str, ...]
    parts: tuple[str, ...]
    openers: tuple[str, ...]
    signs: tuple[str, ...]


def needle(query: str) -> Needle:
    """Take a query apart; white space around it does not count."""
    trimmed = query.strip()
    whole: dict[str, None] = {}
    parts: dict[str, None] = {}
    openers: dict[str, None] = {}
    for segment in segments(trimmed):
        if segment.is_run:
            pairs, singles = _han(segment.text)
            whole |= dict.fromkeys(pairs)
            openers |= dict.fromkeys(singles)
        elif _stands_alone(trimmed, segment) and len(segment.text) <= WORD_MAX:
            whole[fold_term(segment.text)] = None
        else:
            parts |= dict.fromkeys(_word_parts(segment.text))
    folded = fold(trimmed)
    return Needle(
        folded,
        tuple(t for t in whole if t),
        tuple(parts),
        () if whole else tuple(openers),
        tuple(sign_terms(folded)),
    )


def _han(run: str) -> tuple[list[str], list[str]]:
    """Pairs of Han characters, and the Han characters themselves; kana and hangul may be halves of something else."""
    terms = run_terms(run)
    return [t for t in terms if len(t) == 2 and all(map(_HAN.match, t))], [t[0] for t in terms if _HAN.match(t)]


def _stands_alone(query: str, segment: Segment) -> bool:
    """Whether the word ends on both sides within the query, at something that cannot be part of a term."""
    start, end = segment.start, segment.start + len(segment.text)
    return start > 0 and end < len(query) and _is_border(query[start - 1]) and _is_border(query[end])


def _is_border(char: str) -> bool:
    return char.isspace() or _HAN.match(char) is not None


def _word_parts(text: str) -> list[str]:
    """Pieces that some word of the text must contain; an encoded blob is indexed in windows, so half a window."""
    return [part[: WORD_MAX // 2] for part in _PIECE.findall(fold_term(text))]
