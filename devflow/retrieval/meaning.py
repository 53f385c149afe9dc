"""What a search by meaning is made with: the query's vector, the index of the entries', and the model's scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devflow.retrieval.vectors import VectorIndex


@dataclass(frozen=True, slots=True)
class Meaning:
    """`similarity` puts a cosine on the scale that is the same for every model; `floor` is a cosine.

    `strict`: entries that both found before those that keywords alone found before those that the vector alone found.
    """

    index: VectorIndex
    vector: Sequence[float]
    similarity: Callable[[float], float]
    floor: float
    strict: bool = False
