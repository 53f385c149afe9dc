"""Start-up, memory at rest, and how long quitting takes: whole processes, seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from .homes import Homes, Recipe
from .options import Options
from .report import Line, median, percentile

START_S, RSS_MIB, QUIT_S, STALL_MS = 1.0, 150.0, 2.0, 50.0


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    first = [_first_start(homes) for _ in range(options.repeats)]
    yield Line("very first start, the database is made", median(run["interactive"] for run in first), "s", "median")
    yield Line("resident memory after it", median(run["rss_mib"] for run in first), "MiB", "median", RSS_MIB)
    for what, recipe in (("empty home", Recipe()), (options.full_name, options.full)):
        home = homes.get(recipe)
        start_once(home)  # warm: files in the system's cache, byte code compiled
        runs = [start_once(home) for _ in range(options.repeats)]
        interactive = [run["interactive"] for run in runs]
        cpu = median(run["cpu"] for run in runs)
        detail = f"fastest {min(interactive):.2f} s"
        listed = [run["listed"] for run in runs if "listed" in run]
        if listed:
            detail += f", list filled at {median(listed):.2f} s"
        yield Line(f"start to interactive, {what}", median(interactive), "s", "median", START_S, detail, cpu)
        stall, stall_cpu = median(run["stall_ms"] for run in runs), median(run["stall_cpu_ms"] for run in runs)
        yield Line(f"longest stall in the 5 s after, {what}", stall, "ms", "median", STALL_MS, "", stall_cpu)
        rss = median(run["rss_mib"] for run in runs)
        yield Line(f"resident memory at rest, {what}", rss, "MiB", "median", RSS_MIB)
        quits = [run["quit"] for run in runs]
        yield Line(f"quit, {what}", median(quits), "s", "median", QUIT_S, f"p95 {percentile(quits, 0.95):.2f} s")
        homes.drop(home)


def _first_start(homes: Homes) -> dict[str, float]:
    home = homes.get(Recipe())
    homes.drop(home)
    return start_once(home / "new")


def start_once(home: Path, ask: str = "") -> dict[str, float]:
    """Start, type, rest (or ask), close; what the witness saw, in seconds from the start, and `quit`: seconds from the
    click on close to the end of the process."""
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    command = [sys.executable, "-m", "tests.benchmarks.start_probe", str(home), repr(time.monotonic())]
    process = subprocess.Popen([*command, ask] if ask else command, stdout=subprocess.PIPE, env=environ, text=True)
    out, _ = process.communicate(timeout=120)
    ended = time.monotonic()
    if process.returncode != 0:
        raise RuntimeError(f"the window ended with {process.returncode}")
    seen: dict[str, float] = json.loads(out.splitlines()[-1])
    return {**seen, "quit": ended - seen["closing_at"]}
