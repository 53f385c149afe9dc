"""How much two texts say the same, told from their words alone: the same measure whatever else the library holds.

Words count in all their forms, Han characters alone and in pairs; what most texts have counts nothing. The measure is
what both have, divided by what they have in all: mostly by the shorter one's, so that more detail on one side costs
little. Titles count once more. Its scale is absolute, and stays the same as the library grows: no rarity is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from devflow.domain.text import terms
from devflow.domain.text.scripts import CJK, HAN
from devflow.domain.text.stopwords import STOP_WORDS, function_characters
from devflow.retrieval.query import FUNCTION_WEIGHT, stem

READ = 4_000
"""So many characters of a text are compared."""
NEAR = 0.45
"""From here up two texts say nearly the same, or the contrary (decision 33)."""
LEAST = 0.25
"""Below this two texts have a few words in common, no more."""
SHORTER = 0.7
"""The shorter text's part in what the common words are divided by; the longer one has the rest."""
TITLE_SHARE = 0.15
PAIR_WEIGHT, CHARACTER_WEIGHT = 0.7, 0.5
"""Of a pair of Han characters, and of a character: a word of two has both its characters and itself."""
HAN_SCALE = 0.18
"""A reworded Chinese text keeps less of its pairs than a reworded English one of its words: so much its scale is lifted."""
NAME_WEIGHT, SHORT_WEIGHT = 1.2, 0.8
LONG, SHORT = 8, 3
KNOWN = 20_000
"""So many words are remembered with their stems and weights."""

_CJK, _HAN = re.compile(f"[{CJK}]"), re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Words:
    """What a text is compared by: term to weight, of the title alone and of the whole."""

    title: dict[str, float]
    all: dict[str, float]

    @property
    def han(self) -> float:
        """The share of what is written in Han characters."""
        han = sum(weight for term, weight in self.all.items() if _CJK.match(term))
        return han / max(sum(self.all.values()), 1e-9)


@dataclass(frozen=True, slots=True)
class Shared:
    """`score`: 0 for nothing in common, 1 for the same words. `terms`: those in common, the heaviest first."""

    score: float
    terms: tuple[str, ...]


def words_of(title: str, content: str) -> Words:
    in_title = _weights(title)
    return Words(in_title, in_title | _weights(content[:READ]))


def likeness(one: Words, other: Words) -> Shared:
    common = one.all.keys() & other.all.keys()
    if not common:
        return Shared(0.0, ())
    score = _share(one.all, other.all, common, SHORTER)
    if one.title and other.title:
        titled = _share(one.title, other.title, one.title.keys() & other.title.keys(), 1.0)
        score = (1 - TITLE_SHARE) * score + TITLE_SHARE * titled
    score = min(score, 1.0) ** (1 - HAN_SCALE * min(one.han, other.han))
    shown = [term for term in common if len(term) > 1]
    return Shared(score, tuple(sorted(shown, key=lambda term: (-one.all[term], -len(term), term))))


def _share(one: dict[str, float], other: dict[str, float], common: Iterable[str], shorter: float) -> float:
    both = sum(one[term] for term in common)
    low, high = sorted((sum(one.values()), sum(other.values())))
    return both / float(low**shorter * high ** (1 - shorter))


def _weights(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for term in terms(text):
        if _CJK.match(term):
            if len(term) > 1:
                found[term] = PAIR_WEIGHT * FUNCTION_WEIGHT ** function_characters(term)
        elif term not in STOP_WORDS:
            root = _stem(term)
            found[root] = _weight(root)
    for char in _HAN.findall(text):
        if not function_characters(char):
            found[char] = CHARACTER_WEIGHT
    return found


@lru_cache(KNOWN)
def _weight(word: str) -> float:
    if len(word) >= LONG or any(char.isdigit() for char in word):
        return NAME_WEIGHT
    return SHORT_WEIGHT if len(word) <= SHORT else 1.0


_stem = lru_cache(KNOWN)(stem)
