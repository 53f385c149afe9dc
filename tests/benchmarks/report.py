"""What a benchmark says: a measured value beside its bar."""

from __future__ import annotations

import json
import os
import statistics
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One row. `value` is what is held against `bar` (no bar: reported only).

    `computing` is the processor's time for the same, in the same unit, where it is known: what exceeds it was waited
    for, the disk and the machine's other work. `detail` is whatever else was seen.
    """

    measure: str
    value: float
    unit: str
    what: str
    bar: float | None = None
    detail: str = ""
    computing: float | None = None

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        if self.value <= self.bar:
            return "ok"
        return "OVER" if self.computing is None or self.computing > self.bar else "OVER (waiting)"


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least `share` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, -(-int(len(ordered) * share * 1000) // 1000) - 1))]


HEAD = ("measure", "value", "", "of", "bar", "", "computing", "seen besides")


def table(lines: Sequence[Line]) -> str:
    """All lines as a table in plain text."""
    rows = [HEAD, *(_cells(line) for line in lines)]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(HEAD))]
    right = {1, 4, 6}
    return "\n".join(
        "  ".join(
            " " * (width - _width(cell)) + cell if column in right else cell + " " * (width - _width(cell))
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _cells(line: Line) -> tuple[str, ...]:
    bar = "" if line.bar is None else _number(line.bar)
    computing = "" if line.computing is None else _number(line.computing)
    return (line.measure, _number(line.value), line.unit, line.what, bar, line.verdict, computing, line.detail)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def machine() -> str:
    """How busy the machine is: figures of a busy one are upper bounds."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores{load}"


def to_json(lines: Iterable[Line]) -> str:
    return "\n".join(json.dumps(asdict(line), ensure_ascii=False) for line in lines)


def from_json(text: str) -> list[Line]:
    return [Line(**json.loads(line)) for line in text.splitlines() if line.startswith("{")]
