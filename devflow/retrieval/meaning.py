"""What a search by meaning is made with: the query as it is compared, and the index of the entries' vectors."""

from __future__ import annotations

from dataclasses import dataclass

from devflow.retrieval.vectors import Asked, VectorIndex

FLOOR = 0.3
"""The seed's, on a scale that is the same for every model: below it nothing is found by its meaning."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`strict`: entries that both found before those that keywords alone found before those that the vector alone
    found."""

    index: VectorIndex
    asked: Asked
    strict: bool = False
