"""A search index made anew in the background: how long opening waits, and a search meanwhile, and how fast it goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.store import search_fill
from devflow.store.database import Database, Unit
from devflow.store.migrate import open_database

from . import filling_window
from .homes import Homes
from .options import Options
from .report import Line, percentile
from .stage import run
from .texts import Words

MEANWHILE_S = 10.0
STALL_BAR = 50.0
"""Milliseconds for which the loop may be busy (spec 04: never blocking the window longer)."""


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    for entries in options.sizes:
        home = homes.get(options.library(entries))
        _outdate(home)
        began = time.perf_counter()
        open_database(app_paths(home), Hub()).close()
        waited = time.perf_counter() - began
        yield Line(f"opening with an outdated index, {entries:,} entries", waited, "s", "once")
        yield from asyncio.run(_meanwhile(home, entries))
        homes.drop(home)
    home = homes.get(options.library(max(options.sizes)))
    _outdate(home)
    yield from run(filling_window.measure(home, max(options.sizes)))
    homes.drop(home)


def _outdate(home: Path) -> None:
    def work(unit: Unit) -> None:
        unit.session.connection().exec_driver_sql("UPDATE search_state SET value = 0 WHERE key = 'version'")

    database = Database(app_paths(home).database, Hub())
    database.run_write(work)
    database.close()


async def _meanwhile(home: Path, entries: int) -> list[Line]:
    """Search while the index fills, for some seconds."""
    questions = [*Words().questions(40)["question"]]
    spent: list[float] = []
    async with opened(app_paths(home)) as core:
        lags: list[float] = []
        watch = asyncio.create_task(_watch(lags))
        first = await core.db.read(search_fill.filling)
        began = time.perf_counter()
        while time.perf_counter() - began < MEANWHILE_S:
            asked = time.perf_counter()
            await core.knowledge.knowledge_search(questions[len(spent) % len(questions)])
            spent.append((time.perf_counter() - asked) * 1000)
            if (await core.db.read(search_fill.filling)).is_full:
                break
        last = await core.db.read(search_fill.filling)
        seconds = time.perf_counter() - began
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch
    name = f"while the index of {entries:,} entries fills"
    each = (last.done - first.done) / seconds
    return [
        Line(f"search {name}", percentile(spent, 0.95), "ms", "p95", detail=f"worst {max(spent):.0f}"),
        Line(f"longest stall of the loop {name}", max(lags), "ms", "worst", STALL_BAR),
        Line(f"entries indexed {name}", each, "/s", "mean", detail=f"{last.done:,} of {last.total:,} after it"),
    ]


async def _watch(lags: list[float]) -> None:
    """How late the loop comes back each time."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append((time.perf_counter() - began - 0.005) * 1000)
