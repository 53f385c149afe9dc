"""The window over a large library while its search index is made anew: how long it ever stands still."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from devflow.app.desktop import Desktop
from devflow.store import search_fill
from devflow.ui.pages.knowledge import KnowledgePage
from devflow.ui.pages.knowledge.library_side import LibrarySide

from .lag import Lag
from .report import Line, percentile
from .stage import opened, until

STALL_BAR = 50.0
"""Milliseconds (spec 04 and 05: nothing blocks the window longer)."""
MEANWHILE_S, REST_S = 10.0, 3.0
QUERIES = ("lock", "database cache", "-", "a word that is nowhere")


async def measure(home: Path, entries: int) -> list[Line]:
    """Look through the library and search in it, for some seconds of the filling, and as long after it."""
    async with opened(home) as desktop:
        library = _library(desktop)
        first = await desktop.core.db.read(search_fill.filling)
        meanwhile, told, searched = await _use(desktop, library, MEANWHILE_S)
        last = await desktop.core.db.read(search_fill.filling)
        rest = Lag()
        rest.start()
        await asyncio.sleep(REST_S)
        rest.stop()
    name = f"while the index of {entries:,} entries fills"
    indexed = f"{last.done - first.done:,} indexed meanwhile; the status line said “{told}”"
    return [
        Line(f"longest stall of the window in use {name}", meanwhile.worst, "ms", "worst", STALL_BAR, indexed),
        Line(f"most the window computed in one go {name}", meanwhile.worst_cpu, "ms", "worst", STALL_BAR),
        Line(f"longest stall of the window left alone {name}", rest.worst, "ms", "worst", STALL_BAR),
        Line(f"a search of the list {name}", percentile(searched, 0.95), "ms", "p95", detail="from asking to the rows"),
    ]


async def _use(desktop: Desktop, library: LibrarySide, seconds: float) -> tuple[Lag, str, list[float]]:
    """Scroll, search, clear, again and again. What the status line said, and how long each search took."""
    lag, spent, told = Lag(), [], ""
    desktop.window.show_page("knowledge")
    await until(lambda: library.model.rowCount() > 0)
    await desktop.tasks.settled()
    lag.start()
    began, turn = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        bar = library.list.verticalScrollBar()
        for step in range(20):
            bar.setValue(bar.maximum() * step // 19)
            await asyncio.sleep(0.016)
        query = QUERIES[turn % len(QUERIES)]
        turn += 1
        asked = time.perf_counter()
        library._query(query)
        await library._reader.ask()
        spent.append((time.perf_counter() - asked) * 1000)
        told = desktop.window._status.item("index").text() or told
        library._query("")
        await library._reader.ask()
    lag.stop()
    return lag, told, spent


def _library(desktop: Desktop) -> LibrarySide:
    page = desktop.window.page("knowledge")
    assert isinstance(page, KnowledgePage)
    return page.library
