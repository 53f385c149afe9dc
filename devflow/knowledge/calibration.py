"""What a model's cosines mean (spec 04, Lessons): each model squeezes them into a range of its own.

Ten questions in English about ten things, ten in Chinese about ten others, and a text about each are embedded once for
a model. Much of a vector says no more than that it is a question, and in which language: half of what the questions of
a language have in common is taken out of each. What then is left with a text about something else is known to be
unrelated, and tells the zero of the model's scale and its unit; a library that is large enough tells them better
(`retrieval.vectors`).
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
VERSION = 3
"""Of the texts and of what is measured; raise it whenever they change: every model is measured anew."""
SHARED = 0.5
"""So much of what all questions of a language share is taken out of each. With none a Chinese question is nearer to any
Chinese text than to the English answer; with all of it what the question is about goes too."""
DIGITS = 6
HAN = "zh"


@dataclass(frozen=True, slots=True)
class Side:
    """For queries of one kind of script: what they share, as far as it is taken out, and what is unrelated to them."""

    shared: tuple[float, ...]
    unrelated: Unrelated

    def asked(self, vector: Sequence[float]) -> Asked:
        """A query's vector, of any length, as it is compared."""
        rest = tuple(number - shared for number, shared in zip(_unit(vector), self.shared, strict=True))
        return Asked(rest, self.unrelated)


@dataclass(frozen=True, slots=True)
class Scale:
    """A side for queries in Han characters, and one for all others."""

    other: Side
    han: Side

    def asked(self, vector: Sequence[float], *, is_han: bool) -> Asked:
        return (self.han if is_han else self.other).asked(vector)


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
    units = [_unit(text) for text in texts]
    other, han = (_side(queries, units, pairs, is_han=is_han) for is_han in (False, True))
    return None if other is None or han is None else Scale(other, han)


def read(stored: object) -> Scale | None:
    """A stored scale, if it was made with these texts."""
    if not isinstance(stored, Mapping) or stored.get("version") != VERSION:
        return None
    other, han = (_read_side(stored.get(name)) for name in ("other", "han"))
    if other is None or han is None or len(other.shared) != len(han.shared):
        return None
    return Scale(other, han)


def write(scale: Scale) -> dict[str, Any]:
    return {"version": VERSION, "other": _written(scale.other), "han": _written(scale.han)}


def _side(
    queries: Sequence[Sequence[float]], texts: Sequence[Sequence[float]], pairs: Pairs, *, is_han: bool
) -> Side | None:
    own = {place: _unit(queries[place]) for place, name in enumerate(pairs.languages) if (name == HAN) == is_han}
    shared = tuple(SHARED * sum(numbers) / len(own) for numbers in zip(*own.values(), strict=True))
    rests = {place: [number - less for number, less in zip(unit, shared, strict=True)] for place, unit in own.items()}
    products = [
        sum(map(mul, rest, text)) for place, rest in rests.items() for at, text in enumerate(texts) if at != place
    ]
    mean = sum(products) / len(products)
    deviation = math.sqrt(sum((product - mean) ** 2 for product in products) / len(products))
    return None if deviation < 1e-4 else Side(shared, Unrelated(mean, deviation))


def _read_side(stored: object) -> Side | None:
    if not isinstance(stored, Mapping):
        return None
    try:
        shared = tuple(float(number) for number in stored["shared"])
        mean, deviation = float(stored["mean"]), float(stored["deviation"])
    except (KeyError, TypeError, ValueError):
        return None
    if not shared or deviation <= 0 or not all(map(math.isfinite, (*shared, mean, deviation))):
        return None
    return Side(shared, Unrelated(mean, deviation))


def _written(side: Side) -> dict[str, Any]:
    return {
        "shared": [round(number, DIGITS) for number in side.shared],
        "mean": side.unrelated.mean,
        "deviation": side.unrelated.deviation,
    }


def _unit(vector: Sequence[float]) -> tuple[float, ...]:
    length = math.sqrt(math.fsum(number * number for number in vector))
    return tuple(number / length for number in vector) if length else tuple(vector)
