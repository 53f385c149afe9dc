"""Ask every question of every set, and print the table beside the bars of the specification."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from . import floor
from .library import library, load
from .quality import Run, ask_all
from .sets import CROSS_LINGUAL, SIX, read_set

# The best simple keyword system on each set (on other questions than these), and the bar of the mean.
SIMPLE = {"cmrc2018": 0.996, "drcd": 0.985, "javaguide": 0.726, "cosqa": 0.42, "claudedocs": 0.617, "libafl": 0.763}
MEAN_BAR = 0.735


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sets")
    parser.add_argument("--runs", type=Path, help="write each run there as <set>.jsonl, for a scorer")
    parser.add_argument("--floor", action="store_true", help="also measure the floor of injection (minutes)")
    options = parser.parse_args(arguments)
    present = [name for name in (*SIX, *CROSS_LINGUAL) if (options.data / name / "corpus.jsonl").is_file()]
    if not present:
        print(f"There are no sets in {options.data}; nothing was measured.", file=sys.stderr)
        return 2
    print(f"{'set':12} {'entries':>7} {'asked':>6} {'recall@3':>9} {'simple':>7} {'p50 ms':>7} {'p95 ms':>7}")
    runs = [_measure(options.data / name, options.runs) for name in present]
    six = [run.recall for run in runs if run.name in SIX]
    if len(six) == len(SIX):
        mean = sum(six) / len(six)
        print(f"mean of six  recall@3 {mean:.4f}   bar {MEAN_BAR}   {'held' if mean >= MEAN_BAR else 'MISSED'}")
    if options.floor:
        floor.measure({name: read_set(options.data / name) for name in present})
    return 0


def _measure(folder: Path, runs: Path | None) -> Run:
    data = read_set(folder)
    with tempfile.TemporaryDirectory() as home, library(Path(home)) as database:
        ids = load(database, data.documents)
        run = ask_all(database, data, ids)
    spent = sorted(run.milliseconds)
    simple = f"{SIMPLE[data.name]:.3f}" if data.name in SIMPLE else "–"
    print(
        f"{data.name:12} {len(ids):7} {len(data.questions):6} {run.recall:9.3f} {simple:>7} "
        f"{spent[len(spent) // 2]:7.2f} {spent[int(0.95 * len(spent))]:7.2f}",
        flush=True,
    )
    if runs is not None:
        runs.mkdir(parents=True, exist_ok=True)
        lines = (
            json.dumps({"id": id, "docs": docs, "ms": ms}, ensure_ascii=False)
            for (id, docs), ms in zip(run.ranked.items(), run.milliseconds, strict=True)
        )
        (runs / f"{data.name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return run


if __name__ == "__main__":
    sys.exit(main())
