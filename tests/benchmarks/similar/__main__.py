"""Similar and contradictory entries, beside their bars: `python -m tests.benchmarks.similar [--sizes N…] [--keep DIR]`.

The quality is counted, so it is the same on every machine. Latency is asked in libraries of other entries.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.domain.knowledge import LIBRARY
from devflow.knowledge import contradict
from devflow.knowledge.similar import likenesses
from devflow.store import entry_lists
from devflow.store.database import Database
from devflow.store.entry_lists import Filters
from devflow.store.migrate import open_database
from tests.benchmarks.homes import Homes, Recipe
from tests.benchmarks.report import Line, machine, percentile, table
from tests.benchmarks.similar.labelled import HALVES, LANGUAGES
from tests.benchmarks.similar.measure import PRECISION, RECALL, Counts, filled, measure

ASKED = 200
BAR_MS = 50.0
TOP = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[], help="sizes of libraries to time, say 10000")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the made libraries there and use them again")
    options = parser.parse_args()
    print("\n".join(quality()))
    with tempfile.TemporaryDirectory() as folder:
        homes = Homes(options.keep or Path(folder), print)
        for size in options.sizes:
            print(f"\n{machine()}\n{table(latency(homes, size))}")


def quality() -> list[str]:
    """A row for each language and half: what should be found, and whether it is over its bar."""
    rows = [f"{'':14}{'similar':>34}{'may contradict':>28}   of near ones said to contradict"]
    with tempfile.TemporaryDirectory() as folder, filled(Path(folder)) as (database, ids):
        for half in HALVES:
            for language in LANGUAGES:
                found = measure(database, ids, language, half)
                bars = f"(bars {RECALL:.2f}, {PRECISION:.2f}) {_verdict(found.similar)}"
                rows.append(
                    f"{language} {half:<11}{_figures(found.similar)} {bars:<22} {_figures(found.contrary)}"
                    f"   {found.near_called_contrary} of {found.near}"
                )
                manners = ", ".join(f"{manner} {hit}/{wanted}" for manner, (hit, wanted) in found.manners.items())
                rows.append(f"   by manner: {manners}")
    return rows


def _figures(counts: Counts) -> str:
    recall, precision = f"R {counts.recall:.3f}", f"P {counts.precision:.3f}"
    return f"{recall} ({counts.found}/{counts.wanted}) {precision} ({counts.right}/{counts.said})"


def _verdict(counts: Counts) -> str:
    return "ok" if counts.recall >= RECALL and counts.precision >= PRECISION else "UNDER"


def latency(homes: Homes, size: int) -> list[Line]:
    """One entry's likes with what may contradict it, and the three entries of a prompt held against each other."""
    home = homes.get(Recipe(entries=size))
    database = open_database(app_paths(home), Hub())
    try:
        ids = database.run_read(lambda session: entry_lists.ordered_ids(session, Filters(statuses=LIBRARY), "updated"))
        asked = Random(33).sample(list(ids), ASKED)
        name = f"{size:,} entries"
        alike = [_timed(database, id) for id in asked]
        pairs = [_timed_pairs(database, asked[at : at + TOP]) for at in range(0, ASKED - TOP, TOP)]
    finally:
        database.close()
        homes.drop(home)
    return [
        _p95(f"similar entries, {name}", alike, BAR_MS),
        _p95(f"{TOP} entries of a prompt, {name}", pairs, None),
    ]


def _timed(database: Database, id: str) -> tuple[float, float]:
    began, computing = perf_counter(), process_time()
    database.run_read(lambda session: likenesses(session, id, 5))
    return (perf_counter() - began) * 1e3, (process_time() - computing) * 1e3


def _timed_pairs(database: Database, ids: list[str]) -> tuple[float, float]:
    began, computing = perf_counter(), process_time()
    database.run_read(lambda session: contradict.among(session, ids))
    return (perf_counter() - began) * 1e3, (process_time() - computing) * 1e3


def _p95(name: str, spent: list[tuple[float, float]], bar: float | None) -> Line:
    walls, computing = [wall for wall, _ in spent], [cpu for _, cpu in spent]
    detail = f"median {percentile(walls, 0.5):.1f}"
    return Line(name, percentile(walls, 0.95), "ms", "p95", bar, detail, percentile(computing, 0.95))


if __name__ == "__main__":
    main()
