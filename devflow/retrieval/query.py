"""A query taken apart: what it contains literally, and its terms with what each weighs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from devflow.domain.text import Needle, needle, terms
from devflow.domain.text.scripts import CJK
from devflow.domain.text.stopwords import STOP_WORDS, function_characters, without_question_phrases

MAX_TERMS = 200
"""Of a pasted log only so many different terms are looked at; the rarest decide anyway."""
FUNCTION_WEIGHT = 0.6
"""For each character of a Han pair that only ties words together: 的锁 says less than 锁定."""

_CJK = re.compile(f"[{CJK}]")
_SUFFIXES = tuple(
    "ations ation ments ment ions ings ing ion ers ors ies ied ed es er or ly s e y".split()  # longest first
)
_STEM_MIN = 3


@dataclass(frozen=True, slots=True)
class Term:
    """`text` is how the index has it; `stem` the part whose presence in a text counts (`retries` → `retr`).

    `weight` is before rarity: 1 for a word, less for a Han pair with characters that only tie words together.
    """

    text: str
    weight: float
    stem: str
    is_han: bool

    @property
    def breadth(self) -> int:
        """How many characters of a text it covers; each of a run stands in two pairs."""
        return 1 if self.is_han else len(self.text)


@dataclass(frozen=True, slots=True)
class Query:
    """`pairs` are words that stand next to each other once words that weigh nothing are gone.

    `only_common`: the query consists of stop words and question phrases alone; then they are its terms.
    """

    text: str
    needle: Needle
    terms: tuple[Term, ...]
    pairs: tuple[tuple[str, str], ...]
    only_common: bool


def parse(text: str) -> Query:
    found = _content_terms(without_question_phrases(text))
    only_common = not found
    if only_common:
        found = list(dict.fromkeys(terms(text)))
    words = [term for term in found if not _CJK.match(term)]
    return Query(
        text=text,
        needle=needle(text),
        terms=tuple(map(_term, list(dict.fromkeys(found))[:MAX_TERMS])),
        pairs=tuple(dict.fromkeys(_neighbours(words)))[:MAX_TERMS],
        only_common=only_common,
    )


def stem(word: str) -> str:
    """The beginning that forms of an English word share; short words, names with digits, other scripts stay whole."""
    if len(word) <= _STEM_MIN or not (word.isascii() and word.isalpha()):
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM_MIN:
            return word[: -len(suffix)]
    return word


def _content_terms(text: str) -> list[str]:
    """Terms that weigh something, in order. A Han character alone counts only where nothing else does."""
    found = [term for term in terms(text) if term not in STOP_WORDS]
    several = [term for term in found if len(term) > 1 or not _CJK.match(term)]
    return several or [term for term in found if not function_characters(term)]


def _term(text: str) -> Term:
    is_han = _CJK.match(text) is not None
    weight = FUNCTION_WEIGHT ** function_characters(text) if is_han else 1.0
    return Term(text, weight, text if is_han else stem(text), is_han)


def _neighbours(words: list[str]) -> Iterable[tuple[str, str]]:
    return ((first, second) for first, second in pairwise(words) if first != second)
