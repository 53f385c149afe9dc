"""The Inbox and the library in the real window: opening, deciding, scrolling."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from devflow.app.desktop import Desktop
from devflow.ui.pages.inbox import InboxPage
from devflow.ui.pages.knowledge import KnowledgePage
from devflow.ui.pages.knowledge.library_side import LibrarySide

from .homes import Homes, Recipe
from .lag import Lag
from .options import Options
from .report import Line, median, percentile
from .stage import Painted, at_rest, opened, run, until

OPEN_MS, DECISION_MS, BLOCK_MS = 300.0, 50.0, 50.0
CANDIDATES, DECISIONS, PAGES_DOWN = 500, 60, 120


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    inbox = homes.get(Recipe(candidates=CANDIDATES))
    yield from run(_inbox(inbox, options.repeats))
    homes.drop(inbox)
    rows = options.library_rows
    library = homes.get(Recipe(entries=rows))
    yield from run(_library(library, rows, options.repeats))
    homes.drop(library)


async def _inbox(home: Path, repeats: int) -> list[Line]:
    async with opened(home) as desktop:
        made = [await _open_inbox(desktop, InboxPage(desktop.window.ctx)) for _ in range(repeats)]
        page = desktop.window.page("inbox")
        assert isinstance(page, InboxPage)
        desktop.window.show_page("inbox")
        await until(lambda: page.detail.entry is not None)
        await at_rest(desktop)
        lag = Lag()
        lag.start()
        cpu = time.process_time()
        spent = [await _decide(page) for _ in range(DECISIONS)]
        cpu = (time.process_time() - cpu) / DECISIONS * 1000
        lag.stop()
    return [
        Line(f"inbox of {CANDIDATES} opens", median(made), "ms", "median", OPEN_MS, f"fastest {min(made):.0f}"),
        Line(
            "a decision, until the row is gone",
            median(spent),
            "ms",
            "median",
            DECISION_MS,
            f"p95 {percentile(spent, 0.95):.0f}, fastest {min(spent):.0f}",
            cpu,
        ),
        _block("longest stall while deciding", lag),
    ]


async def _open_inbox(desktop: Desktop, page: InboxPage) -> float:
    """A page made anew, shown as a window of its own: until the first candidates and the one to judge are painted."""
    began = time.perf_counter()
    page.resize(1200, 760)
    rows = Painted(page.list.viewport(), lambda: page.model.item(page.model.id_at(0)) is not None)
    text = Painted(page.detail, lambda: page.detail.entry is not None)
    page.show()
    page.activate()
    spent = (max(await rows.at(), await text.at()) - began) * 1000
    await at_rest(desktop)
    page.close()
    page.deleteLater()
    return spent


async def _decide(page: InboxPage) -> float:
    """From the key to the list painted without the row."""
    gone = page.list.current_id
    painted = Painted(page.list.viewport(), lambda: page.model.row_of(gone) < 0)
    began = time.perf_counter()
    QTest.keyClick(page.list, Qt.Key.Key_A)
    spent = (await painted.at() - began) * 1000
    await until(lambda: page.detail.entry is not None and page.detail.entry.id == page.list.current_id)
    await asyncio.sleep(0.05)
    return spent


async def _library(home: Path, rows: int, repeats: int) -> list[Line]:
    opening, opening_lag = [], Lag()
    async with opened(home) as desktop:
        await asyncio.sleep(0.5)
        opening_lag.start()
        for _ in range(repeats):
            fresh = KnowledgePage(desktop.window.ctx)
            opening.append(await _open_library(desktop, fresh))
        opening_lag.stop()
        knowledge = desktop.window.page("knowledge")
        assert isinstance(knowledge, KnowledgePage)
        page = knowledge.library
        desktop.window.show_page("knowledge")
        await page.ready
        await at_rest(desktop)
        lag, spent = Lag(), []
        bar = page.list.verticalScrollBar()
        lag.start()
        for step in range(PAGES_DOWN):
            began = time.perf_counter()
            place = bar.value() + bar.pageStep() if step % 10 else (step * 7919) % max(1, bar.maximum())
            bar.setValue(min(place, bar.maximum()))
            await until(lambda: _filled(page))
            spent.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.01)
        lag.stop()
    return [
        Line(f"library of {rows:,} opens", median(opening), "ms", "median", None, f"fastest {min(opening):.0f}"),
        _block("longest stall while it opens", opening_lag),
        Line("a page down, until its rows are there", median(spent), "ms", "median", None, f"worst {max(spent):.0f}"),
        _block("longest stall while scrolling", lag),
    ]


async def _open_library(desktop: Desktop, page: KnowledgePage) -> float:
    began = time.perf_counter()
    page.resize(1200, 760)
    page.show()
    page.activate()
    library = page.library
    painted = Painted(library.list.viewport(), lambda: library.model.rowCount() > 0 and _filled(library))
    spent = (await painted.at() - began) * 1000
    await at_rest(desktop)
    page.close()
    page.deleteLater()
    return spent


def _filled(page: LibrarySide) -> bool:
    """Whether the rows at the top and the bottom of the list are there."""
    view = page.list.viewport().rect()
    for point in (view.topLeft(), view.center()):
        index = page.list.indexAt(point)
        if index.isValid() and page.model.item(page.model.id_at(index.row())) is None:
            return False
    return True


def _block(name: str, lag: Lag) -> Line:
    detail = f"p99 {percentile(lag.late_ms, 0.99):.0f}"
    return Line(name, lag.worst, "ms", "worst", BLOCK_MS, detail, lag.worst_cpu)
