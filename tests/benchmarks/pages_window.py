"""The window beside a large knowledge base: its first scan, and the popup of `@`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtTest import QTest

from devflow.app.desktop import Desktop
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.pages.chat import ChatPage

from .homes import Homes, Recipe
from .lag import Lag
from .options import Options
from .page_folders import make_base
from .report import Line, median, percentile
from .stage import Painted, at_rest, opened, run, until

BLOCK_MS, POPUP_MS = 50.0, 50.0


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    home = homes.get(Recipe())
    root = make_base(home / "kb", options.page_counts[-1])
    yield from run(_measure(home, root, options))
    homes.drop(home)


async def _measure(home: Path, root: Path, options: Options) -> list[Line]:
    of = f"{options.page_counts[-1]:,} pages"
    async with opened(home) as desktop:
        base = await desktop.core.bases.open(root)
        scan = await _first_scan(desktop, base)
        popups = [await _popup(desktop, base) for _ in range(options.repeats)]
    return [
        Line(
            f"longest stall in a first scan, {of}",
            scan.worst,
            "ms",
            "worst",
            BLOCK_MS,
            f"p99 {percentile(scan.late_ms, 0.99):.1f}",
            scan.worst_cpu,
        ),
        Line(f"@ until its pages are painted, {of}", median(popups), "ms", "median", POPUP_MS, _fastest(popups)),
    ]


async def _first_scan(desktop: Desktop, base: KnowledgeBase) -> Lag:
    """With the wiki side in front, as a user waits for it."""
    desktop.window.show_page("knowledge")
    lag = Lag()
    lag.start()
    await desktop.core.bases.use(base.id)
    desktop.window.ctx.events.base_chosen.emit(base)
    desktop.window.ctx.shell.open_link(f"devflow:page/{base.id}/wiki/topics/page-00000.md")
    while (await desktop.core.bases.refresh(base, within=2.0)).pending:
        pass
    lag.stop()
    await at_rest(desktop)
    return lag


async def _popup(desktop: Desktop, base: KnowledgeBase) -> float:
    desktop.window.show_page("chat")
    page = desktop.window.page("chat")
    assert isinstance(page, ChatPage)
    page.completion.set_base(base)
    await at_rest(desktop)
    desktop.window.activateWindow()
    field = page.composer.field
    field.clear()
    field.setFocus()
    await until(field.hasFocus)
    popup = page.completion.popup
    painted = Painted(popup.list.viewport(), lambda: popup.model.rowCount() > 0)
    began = time.perf_counter()
    QTest.keyClicks(field, "@")
    spent = (await painted.at() - began) * 1_000
    field.clear()
    await at_rest(desktop)
    return spent


def _fastest(values: list[float]) -> str:
    return f"fastest {min(values):.0f}"
