"""What a search by meaning is made with: the query's vector, the index of the entries', and the model's scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from devflow.retrieval.vectors import Line, VectorIndex

FLOOR = 0.3
"""The seed's, on a scale that is the same for every model: below it nothing is found by its meaning."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`lines` put cosines with other texts and with Han texts on one scale: 0 for unrelated ones, 0.3 at the floor.

    `strict`: entries that both found before those that keywords alone found before those that the vector alone found.
    """

    index: VectorIndex
    vector: Sequence[float]
    lines: tuple[Line, Line]
    strict: bool = False
