"""How much two texts say the same, told from their words alone: the same measure whatever else the library holds.

Words count in all their forms, Han characters alone and in pairs; what most texts have counts nothing. The measure is
what both have, divided by what they have in all: mostly by the shorter one's, so that more detail on one side costs
little. Titles count once more. Its scale is absolute, and stays the same as the library grows: no rarity is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from devflow.domain.text import terms
from devflow.domain.text.scripts import CJK, HAN
from devflow.domain.text.stopwords import STOP_WORDS, function_characters
from devflow.retrieval.query import FUNCTION_WEIGHT, stem

READ = 3_000
"""So many characters of a text are compared."""
NEAR = 0.45
"""From here up two texts say nearly the same, or the contrary (decision 33)."""
LEAST = 0.25
"""Below this two texts have a few words in common, no more."""
SHORTER = 0.7
"""The shorter text's part in what the common words are divided by; the longer one has the rest."""
TITLE_SHARE = 0.15
SAME_TITLE = 0.9
"""Titles that have so much in common are the same."""
PAIR_WEIGHT, CHARACTER_WEIGHT = 0.7, 0.5
"""Of a pair of Han characters, and of a character: a word of two has both its characters and itself."""
HAN_SCALE = 0.18
"""A reworded Chinese text keeps less of its pairs than a reworded English one of its words: so the scale is lifted."""
NOTHING = 1e-6
"""Two sums of the same weights in another order differ by less."""
NAME_WEIGHT, SHORT_WEIGHT = 1.2, 0.8
LONG, SHORT = 8, 3
KNOWN = 50_000
"""So many terms are remembered with their weights."""

_BEFORE_HAN = "\u2e7f"
_CJK, _HAN = re.compile(f"[{CJK}]"), re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Words:
    """What a text is compared by: term to weight, of the title alone and of the whole. `han` is the share of what is
    written in Han characters."""

    title: dict[str, float]
    all: dict[str, float]
    weight: float
    han: float


@dataclass(frozen=True, slots=True)
class Shared:
    """`score`: 0 for nothing in common, 1 for the same words. `terms`: those in common, the heaviest first."""

    score: float
    terms: tuple[str, ...]


def words_of(title: str, content: str) -> Words:
    in_title = _weights(title)
    both = in_title | _weights(content[:READ])
    weight = sum(both.values())
    han = sum(each for term, each in both.items() if term[0] > _BEFORE_HAN)
    return Words(in_title, both, weight, han / max(weight, 1e-9))


def likeness(one: Words, other: Words) -> Shared:
    common = one.all.keys() & other.all.keys()
    if not common:
        return Shared(0.0, ())
    both = sum(map(one.all.__getitem__, common))
    low, high = sorted((one.weight, other.weight))
    score: float = both / (low**SHORTER * high ** (1 - SHORTER))
    if one.title and other.title:
        titled = sum(map(one.title.__getitem__, one.title.keys() & other.title.keys()))
        ours, theirs = sum(one.title.values()), sum(other.title.values())
        if titled >= SAME_TITLE * max(ours, theirs) and low - titled > NOTHING:
            # What the title says of both is said once: parts of one article share it, and each says something else.
            score = (both - titled) / ((low - titled) ** SHORTER * (high - titled) ** (1 - SHORTER))
        score = (1 - TITLE_SHARE) * score + TITLE_SHARE * titled / min(ours, theirs)
    score = min(score, 1.0) ** (1 - HAN_SCALE * min(one.han, other.han))
    if score < LEAST:
        return Shared(score, ())
    shown = [term for term in common if len(term) > 1]
    return Shared(score, tuple(sorted(shown, key=lambda term: (-one.all[term], -len(term), term))))


def _weights(text: str) -> dict[str, float]:
    found = {word: weight for word, weight in map(_weighed, terms(text)) if weight}
    found |= dict.fromkeys(filter(_is_telling, _HAN.findall(text)), CHARACTER_WEIGHT)
    return found


def root(word: str) -> str:
    """The beginning that forms of an English word share; `formatted` has that of `format`."""
    found = stem(word)
    return found[:-1] if len(found) > 3 and found[-1] == found[-2] and found[-1] in "bdgmnprt" else found


@lru_cache(KNOWN)
def _weighed(term: str) -> tuple[str, float]:
    """A term as it is compared, and its weight: 0 for one that says nothing. A lone accent folds to nothing."""
    if not term:
        return term, 0.0
    if _CJK.match(term):
        return term, PAIR_WEIGHT * FUNCTION_WEIGHT ** function_characters(term) if len(term) > 1 else 0.0
    if term in STOP_WORDS:
        return term, 0.0
    word = root(term)
    if len(word) >= LONG or any(char.isdigit() for char in word):
        return word, NAME_WEIGHT
    return word, SHORT_WEIGHT if len(word) <= SHORT else 1.0


@lru_cache(KNOWN)
def _is_telling(char: str) -> bool:
    return function_characters(char) == 0
