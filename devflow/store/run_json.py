"""What a run's row keeps as JSON: why it failed, and what its newest request was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from devflow.domain.request import Measure
from devflow.domain.run import Problem


def measure_of(value: object) -> Measure | None:
    try:
        return Measure(**value) if isinstance(value, Mapping) else None
    except TypeError:  # of a newer version: it is only shown
        return None


def of_problem(problem: Problem) -> dict[str, Any]:
    params = {key: value if isinstance(value, int | float | bool) else str(value) for key, value in _params(problem)}
    return {
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
        "params": params,
        "retryable": problem.retryable,
    }


def _params(problem: Problem) -> Iterable[tuple[str, Any]]:
    return (problem.params or {}).items()


def problem_of(raw: Mapping[str, Any]) -> Problem:
    return Problem(raw["code"], raw["message"], raw.get("hint", ""), raw.get("params"), raw.get("retryable", True))
