"""Recall of the product's own search."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from devflow.retrieval.entries import search_entries
from devflow.store.database import Database

from .sets import BenchmarkSet

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Run:
    """What a set's questions found: document ids, best first, and the milliseconds each took."""

    name: str
    ranked: Mapping[str, tuple[str, ...]]
    milliseconds: tuple[float, ...]
    recall: float  # at 3


def ask_all(database: Database, data: BenchmarkSet, ids: Mapping[str, str]) -> Run:
    ranked: dict[str, tuple[str, ...]] = {}
    spent: list[float] = []
    for question in data.questions:
        started = time.perf_counter()
        found = database.run_read(lambda session, text=question.text: search_entries(session, text, limit=DEPTH))
        spent.append(1000 * (time.perf_counter() - started))
        ranked[question.id] = tuple(ids[hit.entry.id] for hit in found.hits)
    recalls = [
        len(question.relevant.intersection(ranked[question.id][:3])) / len(question.relevant)
        for question in data.questions
    ]
    return Run(data.name, ranked, tuple(spent), sum(recalls) / len(recalls))
