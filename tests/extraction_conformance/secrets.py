"""Secrets made at run time from published formats, among look-alikes: what was found, and what was taken for one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from devflow.domain.redaction import find_secrets
from tests.unit.extraction.secret_formats import BY_FORMAT, BY_NAME, FREE_CARRIERS, LOOK_ALIKES


@dataclass
class Tally:
    """`wrong` are stretches that were taken for a secret and are none."""

    planted: int = 0
    found: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: dict[str, int] = field(default_factory=dict)
    by_name: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def recall(self) -> float:
        return self.found / self.planted

    @property
    def precision(self) -> float:
        return self.found / (self.found + len(self.wrong))


def tally(rounds: int, seed: int = 20261130) -> Tally:
    """Each secret stands between two look-alikes; it counts as found only if all of it is blotted out."""
    chance, result = random.Random(seed), Tally()
    for _ in range(rounds):
        for name, carrier, secret in planted(chance):
            _count(result, name, carrier, secret, chance)
    return result


def planted(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Name, text, and the secret in it: every format in a carrier of its own, every named one in its own."""
    for name, make in BY_FORMAT.items():
        secret = make(chance)
        yield name, chance.choice(FREE_CARRIERS).format(secret), secret
    for carrier, make in BY_NAME:
        secret = make(chance)
        yield carrier.replace("\n", "⏎"), carrier.format(secret), secret


def _count(result: Tally, name: str, carrier: str, secret: str, chance: random.Random) -> None:
    before, after = (chance.choice(LOOK_ALIKES)(chance) for _ in range(2))
    text = f"{before}\n{carrier}\n{after}"
    start = text.index(secret, len(before) + 1)
    end = start + len(secret)
    hits = find_secrets(text)
    found = any(hit.start <= start and hit.end >= end for hit in hits)
    result.planted += 1
    result.found += found
    result.wrong += [text[hit.start : hit.end] for hit in hits if hit.end <= start or hit.start >= end]
    seen, times = result.by_name.get(name, (0, 0))
    result.by_name[name] = seen + found, times + 1
    if not found:
        result.missed[name] = result.missed.get(name, 0) + 1
