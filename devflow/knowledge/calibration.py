"""What a model's cosines mean (spec 04, Lessons): each model squeezes them into a range of its own.

Twenty questions about twenty things, and a text about each, are embedded once for a model. A question and a text about
something else are known to be unrelated: their cosines' mean is the zero of the model's scale, and what one in twenty
of them reaches, both in the same language, is 0.3. So the seed's floor of 0.3 means the same for every model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

GROUP = "embedding_calibration"
"""Settings group: one `Scale` a model, by the model's key."""
PAIRS = Path("embedding") / "pairs.json"
VERSION = 1
"""Of the texts; raise it whenever they change: every model is measured anew."""
FLOOR = 0.3
"""The seed's: below it an entry is not found by its meaning."""
UNRELATED_SHARE = 0.05
"""So many unrelated pairs may reach the floor."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines: the mean of unrelated pairs, and the floor. `version` is that of the texts."""

    unrelated: float
    floor: float
    version: int

    def similarity(self, cosine: float) -> float:
        """On the scale that is the same for every model: 0 for unrelated texts, 0.3 at the floor."""
        return FLOOR * (cosine - self.unrelated) / (self.floor - self.unrelated)


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
    """The model's scale; None where all its cosines are the same."""
    spoken = pairs.languages
    unrelated = {
        (one, other): _cosine(query, text)
        for one, query in enumerate(queries)
        for other, text in enumerate(texts)
        if one != other
    }
    alike = sorted(value for (one, other), value in unrelated.items() if spoken[one] == spoken[other])
    mean, floor = sum(unrelated.values()) / len(unrelated), alike[math.ceil(len(alike) * (1 - UNRELATED_SHARE)) - 1]
    return Scale(mean, floor, VERSION) if floor - mean > 1e-4 else None


def read(stored: object) -> Scale | None:
    """A stored scale, if it was made with these texts."""
    if not isinstance(stored, Mapping) or stored.get("version") != VERSION:
        return None
    mean, floor = stored.get("unrelated"), stored.get("floor")
    if not (isinstance(mean, float) and isinstance(floor, float) and math.isfinite(mean) and mean < floor < math.inf):
        return None
    return Scale(mean, floor, VERSION)


def write(scale: Scale) -> dict[str, Any]:
    return asdict(scale)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths
