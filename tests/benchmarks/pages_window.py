"""The window beside a large knowledge base: its first scan, and the popup of `@`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtTest import QTest

from devflow.app.desktop import Desktop
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.pages.chat import ChatPage
from devflow.ui.pages.knowledge import KnowledgePage

from .homes import Homes, Recipe
from .lag import Lag
from .options import Options
from .page_folders import make_base
from .report import Line, median, percentile
from .stage import Painted, at_rest, opened, run, until

BLOCK_MS, POPUP_MS = 50.0, 50.0
REST_S = 5.0
"""So long nothing is asked of the window: what it is late by then is the machine's other work."""
HEAVY = {
    "3,000 table rows": "| a | b | c |\n|---|---|---|\n" + "".join(f"| {n} | 值 | value |\n" for n in range(3_000)),
    "1,000,000 brackets": "[" * 1_000_000,
    "100,000 characters": "Words and `code`, 中文字与 **重点**，说明原因。" * 20 + "\n\n",
}
HEAVY["100,000 characters"] *= 100_000 // len(HEAVY["100,000 characters"])


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    home = homes.get(Recipe())
    root = make_base(home / "kb", options.page_counts[-1])
    for name, text in HEAVY.items():
        (root / "wiki" / f"{name}.md").write_text(f"# {name}\n\n{text}", encoding="utf-8")
    yield from run(_measure(home, root, options))
    homes.drop(home)


async def _measure(home: Path, root: Path, options: Options) -> list[Line]:
    of = f"{options.page_counts[-1]:,} pages"
    async with opened(home) as desktop:
        rest = Lag()
        rest.start()
        await asyncio.sleep(REST_S)
        rest.stop()
        base = await desktop.core.bases.open(root)
        scan = await _first_scan(desktop, base)
        stalls = [await _opening(desktop, base, name) for name in HEAVY]
        popups = [await _popup(desktop, base) for _ in range(options.repeats)]
    return [
        Line("longest stall while nothing happens, for comparison", rest.worst, "ms", "worst", None, _p99(rest)),
        Line(
            f"longest stall in a first scan, {of}",
            scan.worst,
            "ms",
            "worst",
            BLOCK_MS,
            _p99(scan),
            scan.worst_cpu,
        ),
        *stalls,
        Line(
            f"@ until its pages are painted, {of}",
            median(passed for passed, _ in popups),
            "ms",
            "median",
            POPUP_MS,
            f"fastest {min(passed for passed, _ in popups):.0f}",
            median(computing for _, computing in popups),
        ),
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


async def _opening(desktop: Desktop, base: KnowledgeBase, name: str) -> Line:
    """A page that is dear to render, from the click to its last word."""
    desktop.window.show_page("knowledge")
    page = desktop.window.page("knowledge")
    assert isinstance(page, KnowledgePage)
    detail = page.wiki.detail
    lag = Lag()
    lag.start()
    began = time.perf_counter()
    desktop.window.ctx.shell.open_link(f"devflow:page/{base.id}/wiki/{name}.md")
    await until(lambda: detail.title.text() == name and detail.view.whole)
    spent = time.perf_counter() - began
    lag.stop()
    await at_rest(desktop)
    seen = f"{_p99(lag)}, whole after {spent:.1f} s"
    return Line(f"longest stall while a page of {name} opens", lag.worst, "ms", "worst", BLOCK_MS, seen, lag.worst_cpu)


async def _popup(desktop: Desktop, base: KnowledgeBase) -> tuple[float, float]:
    """Milliseconds that passed from the key, and those of computing."""
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
    began, computing = time.perf_counter(), time.process_time()
    QTest.keyClicks(field, "@")
    spent = (await painted.at() - began) * 1_000
    computing = (time.process_time() - computing) * 1_000
    field.clear()
    await at_rest(desktop)
    return spent, computing


def _p99(lag: Lag) -> str:
    return f"p99 {percentile(lag.late_ms, 0.99):.0f}"
