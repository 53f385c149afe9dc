"""What a model's cosines mean (spec 04, Lessons): each model squeezes them into a range of its own.

Ten questions in English about ten things, ten in Chinese about ten others, and a text about each are embedded once for
a model. Much of a vector says no more than that it is a question, and in which language: half of what the questions of
a language have in common is taken out of each. What then is left with texts about something else is known to be
unrelated, and tells the zero of the model's scale, for each query and the language of the text, and its unit. A library
that is large enough tells them better (`retrieval.vectors`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any

from devflow.retrieval.vectors import Asked, Unrelated

GROUP = "embedding_calibration"
"""Settings group: one `Scale` a model, by the model's key."""
PAIRS = Path("embedding") / "pairs.json"
VERSION = 4
"""Of the texts and of what is measured; raise it whenever they change: every model is measured anew."""
SHARED = 0.5
"""So much of what all questions of a language share is taken out of each. With none a Chinese question is nearer to any
Chinese text than to the English answer; with all of it what the question is about goes too."""
DIGITS = 6
HAN = "zh"


Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """For queries of one kind of script: what they share, as far as it is taken out, and how far from their mean
    products with unrelated texts are."""

    shared: Numbers
    deviation: float


@dataclass(frozen=True, slots=True)
class Scale:
    """A side for queries in Han characters, and one for all others; and the means of texts in other scripts, and in
    Han characters."""

    other: Side
    han: Side
    other_texts: Numbers
    han_texts: Numbers

    def asked(self, vector: Sequence[float], *, is_han: bool) -> Asked:
        """A query's vector, of any length, as it is compared."""
        side = self.han if is_han else self.other
        rest = _without(_unit(vector), side.shared)
        other, han = (Unrelated(_product(rest, texts), side.deviation) for texts in (self.other_texts, self.han_texts))
        return Asked(rest, (other, han))


@dataclass(frozen=True, slots=True)
class Pairs:
    """`queries[i]` asks for `texts[i]` and for no other; `languages[i]` is that of both."""

    queries: tuple[str, ...]
    texts: tuple[str, ...]
    languages: tuple[str, ...]


def read_pairs(resources: Path) -> Pairs:
    value = json.loads((resources / PAIRS).read_text("utf-8"))
    queries, texts, languages = (tuple(pair[name] for pair in value["pairs"]) for name in ("query", "text", "language"))
    return Pairs(queries, texts, languages)


def measured(queries: Sequence[Sequence[float]], texts: Sequence[Sequence[float]], pairs: Pairs) -> Scale | None:
    """The model's scale; None where it tells nothing apart."""
    asked, units = [_unit(query) for query in queries], [_unit(text) for text in texts]
    is_han = [language == HAN for language in pairs.languages]
    other, han = (_side(asked, units, is_han, side) for side in (False, True))
    if min(other.deviation, han.deviation) < 1e-4:
        return None
    other_texts, han_texts = (_mean(_of(units, is_han, side)) for side in (False, True))
    return Scale(other, han, other_texts, han_texts)


def read(stored: object) -> Scale | None:
    """A stored scale, if it was made with these texts."""
    if not isinstance(stored, Mapping) or stored.get("version") != VERSION:
        return None
    try:
        shared, texts = ([_numbers(stored[what][name]) for name in ("other", "han")] for what in ("shared", "texts"))
        deviations = _numbers(stored["deviations"])
    except (KeyError, TypeError, ValueError):
        return None
    if len({len(each) for each in (*shared, *texts)}) != 1 or len(deviations) != 2 or min(deviations) <= 0:
        return None
    other, han = (Side(*each) for each in zip(shared, deviations, strict=True))
    return Scale(other, han, *texts)


def write(scale: Scale) -> dict[str, Any]:
    return {
        "version": VERSION,
        "shared": {"other": _rounded(scale.other.shared), "han": _rounded(scale.han.shared)},
        "texts": {"other": _rounded(scale.other_texts), "han": _rounded(scale.han_texts)},
        "deviations": [scale.other.deviation, scale.han.deviation],
    }


def _side(queries: Sequence[Numbers], texts: Sequence[Numbers], is_han: Sequence[bool], side: bool) -> Side:
    shared = tuple(SHARED * number for number in _mean(_of(queries, is_han, side)))
    squares: list[float] = []
    for place, query in enumerate(queries):
        if is_han[place] != side:
            continue
        rest = _without(query, shared)
        for language in (False, True):
            found = [_product(rest, text) for at, text in enumerate(texts) if at != place and is_han[at] == language]
            mean = sum(found) / len(found)
            squares += [(product - mean) ** 2 for product in found]
    return Side(shared, math.sqrt(sum(squares) / len(squares)))


def _of(vectors: Sequence[Numbers], is_han: Sequence[bool], side: bool) -> list[Numbers]:
    return [vector for vector, one in zip(vectors, is_han, strict=True) if one == side]


def _mean(vectors: Sequence[Numbers]) -> Numbers:
    return tuple(sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True))


def _without(vector: Numbers, shared: Numbers) -> Numbers:
    return tuple(number - less for number, less in zip(vector, shared, strict=True))


def _product(one: Numbers, other: Numbers) -> float:
    return math.fsum(map(mul, one, other))


def _unit(vector: Sequence[float]) -> Numbers:
    length = math.sqrt(math.fsum(number * number for number in vector))
    return tuple(number / length for number in vector) if length else tuple(vector)


def _numbers(stored: Sequence[Any]) -> Numbers:
    numbers = tuple(map(float, stored))
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ValueError("these are no numbers")
    return numbers


def _rounded(numbers: Numbers) -> list[float]:
    return [round(number, DIGITS) for number in numbers]
