"""What a model's cosines mean (spec 04, Lessons): each model squeezes them into a range of its own.

Ten questions in English about ten things, ten in Chinese about ten others, and a text about each are embedded once for
a model. A question and a text about something else are known to be unrelated: their cosines' mean is the zero of the
model's scale, and what one in ten of them reaches is 0.3, so that the seed's floor of 0.3 means the same for every
model. Texts in one language are nearer each other than in two, whatever they say (e5: Chinese ones .84 where a Chinese
question and an English text have .76), so each pair of languages has a scale of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.retrieval.meaning import FLOOR
from devflow.retrieval.vectors import Line, Lines

GROUP = "embedding_calibration"
"""Settings group: one `Scale` a model, by the model's key."""
PAIRS = Path("embedding") / "pairs.json"
VERSION = 2
"""Of the texts and of what is measured; raise it whenever they change: every model is measured anew."""
UNRELATED_SHARE = 0.1
"""So many unrelated pairs may reach the floor."""
HAN = "zh"


@dataclass(frozen=True, slots=True)
class Scale:
    """Lines for a query in another script, and for one in Han characters."""

    other: Lines
    han: Lines

    def lines(self, query_is_han: bool) -> Lines:
        return self.han if query_is_han else self.other


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
    unrelated: dict[tuple[bool, bool], list[float]] = {}
    for one, query in enumerate(queries):
        for other, text in enumerate(texts):
            if one != other:
                languages = (pairs.languages[one] == HAN, pairs.languages[other] == HAN)
                unrelated.setdefault(languages, []).append(_cosine(query, text))
    lines = {languages: _line(cosines) for languages, cosines in unrelated.items()}
    found = [line for line in lines.values() if line is not None]
    if len(found) < len(lines):
        return None
    by = {languages: line for languages, line in lines.items() if line is not None}
    return Scale((by[False, False], by[False, True]), (by[True, False], by[True, True]))


def read(stored: object) -> Scale | None:
    """A stored scale, if it was made with these texts."""
    if not isinstance(stored, Mapping) or stored.get("version") != VERSION:
        return None
    try:
        numbers = [float(number) for number in stored["lines"]]
    except (KeyError, TypeError, ValueError):
        return None
    if len(numbers) != 8 or not all(map(math.isfinite, numbers)):
        return None
    lines = [Line(numbers[at], numbers[at + 1]) for at in range(0, 8, 2)]
    return Scale((lines[0], lines[1]), (lines[2], lines[3]))


def write(scale: Scale) -> dict[str, Any]:
    return {
        "version": VERSION,
        "lines": [number for line in (*scale.other, *scale.han) for number in (line.slope, line.offset)],
    }


def _line(cosines: Sequence[float]) -> Line | None:
    """From unrelated pairs: their mean is 0, what one in ten reaches is the floor."""
    mean = sum(cosines) / len(cosines)
    floor = sorted(cosines)[math.ceil(len(cosines) * (1 - UNRELATED_SHARE)) - 1]
    if floor - mean < 1e-4:
        return None
    slope = FLOOR / (floor - mean)
    return Line(slope, -slope * mean)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths
