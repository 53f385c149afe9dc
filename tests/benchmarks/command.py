"""The command line as a whole process, from its start to its end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from .homes import Homes
from .options import Options
from .report import Line, median


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    entries = options.full.entries
    home = homes.get(options.library(entries))
    for words in (["--version"], ["knowledge", "search", "缓存 timeout", "--json"]):
        _run(home, words)
        runs = [_run(home, words) for _ in range(options.repeats)]
        detail = f"fastest {min(wall for wall, _ in runs):.2f} s"
        name = " ".join(words[:2])
        wall, cpu = median(wall for wall, _ in runs), median(cpu for _, cpu in runs)
        yield Line(f"devflow {name}, {entries:,} entries", wall, "s", "median", None, detail, cpu)
    homes.drop(home)


def _run(home: Path, words: list[str]) -> tuple[float, float]:
    """Seconds from start to end, and seconds of computing."""
    before, began = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "devflow", "--home", str(home), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, spent
