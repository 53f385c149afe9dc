"""The measures of a run, and whether one run is really worse than another."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from .sets import BenchmarkSet, Question

Ranked = Mapping[str, Sequence[str]]
DEPTHS = (1, 3, 5, 10)
RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the questions: the share of relevant documents among the first 1, 3, 5 and 10, the mean reciprocal
    rank, and the normalised discounted gain, both of the first ten."""

    recall: Mapping[int, float]
    mrr: float
    ndcg: float


def scored(data: BenchmarkSet, ranked: Ranked) -> Scores:
    questions = data.questions
    return Scores(
        {depth: _mean([recall_of(question, ranked, depth) for question in questions]) for depth in DEPTHS},
        _mean([_reciprocal_rank(question, ranked) for question in questions]),
        _mean([_gain(question, ranked) for question in questions]),
    )


def recall_of(question: Question, ranked: Ranked, depth: int = 3) -> float:
    found = frozenset(ranked.get(question.id, ())[:depth])
    return len(question.relevant & found) / len(question.relevant)


def lead(data: BenchmarkSet, mine: Ranked, theirs: Ranked) -> tuple[float, float, float]:
    """(difference, its 2.5 % and 97.5 % bounds) of recall@3, by a bootstrap over the questions, each with both runs.

    `mine` is significantly below where the upper bound is negative.
    """
    chance = random.Random(0)
    differences = [recall_of(q, mine) - recall_of(q, theirs) for q in data.questions]
    means = sorted(_mean(chance.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return _mean(differences), means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def _reciprocal_rank(question: Question, ranked: Ranked) -> float:
    places = [place for place, id in enumerate(ranked.get(question.id, ())[:10], 1) if id in question.relevant]
    return 1 / places[0] if places else 0.0


def _gain(question: Question, ranked: Ranked) -> float:
    found = sum(
        1 / log2(place + 1) for place, id in enumerate(ranked.get(question.id, ())[:10], 1) if id in question.relevant
    )
    best = sum(1 / log2(place + 1) for place in range(1, min(len(question.relevant), 10) + 1))
    return found / best
