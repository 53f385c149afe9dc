"""The labelled set: groups of entries about one matter, in Chinese and in English, written for this measurement.

A group has a `base`, a `near` one that says the same in another manner, a `contrary` one that denies it in another, and
a `related` one: the same subject and tool, another fact. The measures were tuned on the `dev` groups; the `held-out`
ones were written when that was done, and only counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Literal

Label = Literal["near", "contrary", "related", "open"]
"""Of a pair. `open`: the near one and the contrary one of a group, which may or may not contradict each other."""

LANGUAGES = ("zh", "en")
HALVES = ("dev", "held-out")
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Labelled:
    """One entry. `key` is unique; `group` is shared by those that are about one matter, `number` by both languages'."""

    key: str
    group: str
    number: int
    role: str
    manner: str
    title: str
    content: str
    language: str
    half: str


@dataclass(frozen=True, slots=True)
class Pair:
    one: Labelled
    other: Labelled
    label: Label


def labelled() -> tuple[Labelled, ...]:
    """All entries, both languages and both halves."""
    found: list[Labelled] = []
    for language in LANGUAGES:
        for number, group in enumerate(json.loads((HERE / f"{language}.json").read_text(encoding="utf-8"))):
            for place, entry in enumerate(group["entries"]):
                found.append(
                    Labelled(
                        f"{language}-{number}-{place}",
                        f"{language}-{number}",
                        number,
                        entry["role"],
                        entry.get("manner", ""),
                        entry["title"],
                        entry["content"],
                        language,
                        group["half"],
                    )
                )
    return tuple(found)


def pairs(entries: tuple[Labelled, ...]) -> Iterator[Pair]:
    """Every pair within a group, in both directions."""
    groups: dict[str, list[Labelled]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    for group in groups.values():
        for one, other in permutations(group, 2):
            yield Pair(one, other, label(one, other))


def label(one: Labelled, other: Labelled) -> Label:
    """Of two entries of one group."""
    roles = {one.role, other.role}
    if "related" in roles:
        return "related"
    if roles == {"near", "contrary"}:
        return "open"
    return "contrary" if "contrary" in roles else "near"
