"""The inbox of 500 and the library of 50,000: `python -m tests.benchmarks.ui_library`.

Bars of spec 05: the inbox of 500 opens in 300 ms, a decision is done in 50 ms, nothing blocks Qt's thread for more than
50 ms. A stall counts by what this thread computed, so that a busy machine does not fail the bar.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")

CANDIDATES, DECISIONS = 500, 25
ENTRIES = 50_000
OPEN_MS, DECIDE_MS, BLOCK_MS = 300.0, 50.0, 50.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds; `stall` is the longest this thread computed in one go while the library scrolled."""

    inbox_open: float
    decide: float
    decide_worst: float
    decide_work: float
    """What this process computed for one decision; a wait beyond it is the disk or the machine's other work."""
    library_open: float
    library_stall: float
    stall: float


def measured() -> Figures:
    """Open real windows over two homes and act by keys."""
    import qasync
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication(["devflow-bench"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    with tempfile.TemporaryDirectory() as folder:
        inbox = qasync.run(_inbox(app, Path(folder) / "inbox"))
        library = qasync.run(_library(app, Path(folder) / "library"))
    return Figures(*inbox, *library)


async def _inbox(app: object, home: Path) -> tuple[float, float, float, float]:
    from PySide6.QtCore import Qt

    from devflow.domain.knowledge import draft
    from tests.support.desk import AI

    desk, garbage = await _open(app, home)
    drafts = [
        draft(
            kind="pitfall",
            title=f"Candidate {number}",
            content=f"Number {number} says why. " * 12,
            confidence=(number % 100) / 100,
        )
        for number in range(CANDIDATES)
    ]
    await desk.core.knowledge.knowledge_submit(drafts, actor=AI)
    await desk.desktop.tasks.settled()
    garbage.settle()
    page = desk.inbox
    began = time.perf_counter()
    desk.desktop.window.show_page("inbox")
    await _until(lambda: page.model.rowCount() == CANDIDATES and page.detail.entry is not None)
    opened = (time.perf_counter() - began) * 1000
    await desk.desktop.tasks.settled()
    decided: list[float] = []
    worked: list[float] = []
    for _ in range(DECISIONS):
        rows = page.model.rowCount()
        began, work = time.perf_counter(), time.process_time()
        desk.press(Qt.Key.Key_A)
        await _until(lambda rows=rows: page.model.rowCount() < rows)
        decided.append((time.perf_counter() - began) * 1000)
        worked.append((time.process_time() - work) * 1000)
        await desk.desktop.tasks.settled()
    await desk.desktop.close()
    garbage.close()
    return opened, statistics.median(decided), max(decided), statistics.median(worked)


async def _library(app: object, home: Path) -> tuple[float, float, float]:
    from tests.benchmarks.lag import Lag

    desk, garbage = await _open(app, home)
    await desk.core.db.write(_fill)
    await desk.desktop.tasks.settled()
    garbage.settle()
    page, lag = desk.library, Lag()
    lag.start()
    began = time.perf_counter()
    desk.desktop.window.show_page("knowledge")
    await _until(lambda: page.model.rowCount() == ENTRIES and page.model.item(page.model.id_at(0)) is not None)
    opened = (time.perf_counter() - began) * 1000
    await desk.desktop.tasks.settled()
    lag.stop()
    opening_stall = lag.worst_cpu
    bar = page.list.verticalScrollBar()
    lag.start()
    for step in range(60):  # a hand on the scroll bar, from the top to the end
        bar.setValue(bar.maximum() * step // 59)
        await asyncio.sleep(0.016)
    last = page.model.id_at(ENTRIES - 1)
    await _until(lambda: page.model.item(last) is not None)
    await desk.desktop.tasks.settled()
    lag.stop()
    await desk.desktop.close()
    garbage.close()
    return opened, opening_stall, lag.worst_cpu


async def _open(app, home: Path):  # type: ignore[no-untyped-def]
    from devflow.app.desktop import Desktop
    from devflow.app.paths import app_paths
    from devflow.ui.garbage import GarbageCollector
    from tests.support.desk import PAGES, Desk

    garbage = GarbageCollector()  # as the application does
    desktop = await Desktop.open(app, app_paths(home), pages=PAGES)
    desktop.window.resize(1280, 800)
    desktop.window.show()
    desk = Desk(desktop)
    await desk.built()
    return desk, garbage


def _fill(unit) -> None:  # type: ignore[no-untyped-def]
    """Rows straight into the table: the list reads nothing else."""
    from sqlalchemy import text

    statement = text(
        """
        WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < :count)
        INSERT INTO entries (id, kind, title, content, tags, status, confidence, reuse_count, source_ref, normal_hash,
            created_at, updated_at, version, embedding_status, embedding_attempts)
        SELECT printf('id-%06d', value), 'pitfall', 'Entry ' || value, :content, '["tag"]', 'published', 1.0, 0,
            'manual', 'hash-' || value, '2026-01-01 00:00:00', datetime('2026-01-01', '+' || value || ' seconds'),
            1, 'none', 0 FROM n
        """
    )
    unit.session.execute(statement, {"count": ENTRIES, "content": "Some words that say why. " * 40})


async def _until(condition: Callable[[], object]) -> None:
    from PySide6.QtCore import QCoreApplication

    async with asyncio.timeout(60):
        while not condition():
            QCoreApplication.sendPostedEvents()
            await asyncio.sleep(0.001)


def main() -> int:
    found = measured()
    rows = (
        (f"inbox of {CANDIDATES} opens", found.inbox_open, OPEN_MS),
        (
            f"a decision (median of {DECISIONS}; worst {found.decide_worst:.0f} ms; work {found.decide_work:.0f} ms)",
            found.decide,
            DECIDE_MS,
        ),
        (f"library of {ENTRIES:,} opens, longest block", found.library_stall, BLOCK_MS),
        (f"library of {ENTRIES:,} scrolls, longest block", found.stall, BLOCK_MS),
    )
    for words, value, bar in rows:
        print(f"{words}: {value:.0f} ms (bar {bar:.0f} ms) {'held' if value <= bar else 'NOT held'}")
    print(f"library of {ENTRIES:,} opens: {found.library_open:.0f} ms")
    return 0 if all(value <= bar for _, value, bar in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
