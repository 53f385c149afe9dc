"""What the pages of a knowledge base cost: the first scan, a turn, a turn after a change, memory, and the window."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .homes import Homes
from .options import Options
from .report import Line, median

COLD_MS = 2.5
"""A page."""
WARM_MS = {100: 15.0, 1_000: 15.0, 10_000: 60.0}
CHANGE_MS = 5.0


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    for pages in options.page_counts:
        yield from _index(pages, options)
    from .pages_window import measure as window

    yield from window(homes, options)


def _index(pages: int, options: Options) -> Iterable[Line]:
    rounds = max(options.repeats, 3) * 3
    command = [sys.executable, "-m", "tests.benchmarks.pages_probe", str(pages), str(rounds)]
    seen = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    stat, look, turn, changed = (_Times(seen[name]) for name in ("stat", "look", "turn", "changed"))
    of = f"{pages:,} pages"
    a_page = 1_000 / pages
    titles = f"all titles after {seen['titles']:.2f} s, all texts after {seen['cold']:.1f} s"
    yield Line(f"first scan, {of}", seen["cold"] * a_page, "ms", "a page", COLD_MS, titles, seen["computing"] * a_page)
    yield stat.line(f"bare stat of every page, {of}")
    share = f", {look.fastest / stat.fastest:.2f} × the bare stat's"
    yield look.line(f"the look at the folder alone, {of}", more=share)
    bar = WARM_MS.get(pages)
    yield turn.line(f"a turn, nothing changed, {of}", bar)
    yield Line(
        f"a turn after one change, beyond that, {of}",
        median(changed.passed) - median(turn.passed),
        "ms",
        "medians",
        CHANGE_MS,
        f"of the fastest {changed.fastest - turn.fastest:.1f}",
        median(changed.computed) - median(turn.computed),
    )
    yield Line(f"page files that a turn opens, nothing changed, {of}", seen["opened"], "", "count", 0.0)
    yield Line(f"memory of the index, {of}", seen["grown"], "MiB", "after the scan")
    times = f"{seen['size'] / seen['text']:.1f} × the text"
    yield Line(f"file of the index, {of}", seen["size"], "MiB", "after the scan", None, times)


@dataclass(frozen=True, slots=True)
class _Times:
    """(seconds passed, seconds of computing) of each round."""

    spent: Sequence[tuple[float, float]]

    @property
    def passed(self) -> list[float]:
        return [passed * 1_000 for passed, _ in self.spent]

    @property
    def computed(self) -> list[float]:
        return [computed * 1_000 for _, computed in self.spent]

    @property
    def fastest(self) -> float:
        return min(self.passed)

    def line(self, measure: str, bar: float | None = None, more: str = "") -> Line:
        detail = f"fastest {self.fastest:.1f}{more}"
        return Line(measure, median(self.passed), "ms", "median", bar, detail, median(self.computed))
