"""Ten thousand pages: the list opens, scrolls, folds and searches, and nothing holds the window up for long."""

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QHoverEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem, QTableView

from devflow.ui.models.moments import local_now
from devflow.ui.pages.knowledge.page_rows import PageDelegate
from devflow.ui.widgets.lists import Index
from tests.benchmarks.lag import Lag
from tests.support import hands
from tests.support.desk import Desk, at_the_desk
from tests.support.eventually import eventually

PAGES, SOME = 10_000, 120
BLOCK_MS = 50
"""The bar for this thread's own work in one go; ten of the tests' machines would not agree on wall time."""
FOLDERS = ("topics", "sources", "entities")
Key = Qt.Key


class Counting(PageDelegate):
    """Counts how often Qt asks for a row's height: while a page is read, each answer waits for the interpreter."""

    asked = 0

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        self.asked += 1
        return super().sizeHint(option, index)


def subject(folder: Path, number: int) -> Path:
    return folder / f"wiki/{FOLDERS[number % 3]}/note-{number:05}.md"


async def opened(desk: Desk, folder: Path, pages: int) -> None:
    """The wiki's side is not yet in front."""
    for number in range(pages):
        file = subject(folder, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Subject {number}\n\nWhat is known of it.", encoding="utf-8")
    base = await desk.core.bases.open(folder)
    await desk.core.bases.use(base.id)
    desk.desktop.window.show_page("knowledge")
    await desk.knowledge.ready


@at_the_desk
async def test_ten_thousand_pages_never_hold_the_window_up(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "kb", PAGES)
    listed = desk.wiki.pane.list
    sizes = Counting(desk.desktop.window.ctx, listed, desk.wiki.pane.model, local_now())
    listed.setItemDelegate(sizes)
    resets: list[int] = []
    desk.wiki.pane.model.modelReset.connect(lambda: resets.append(desk.wiki.pane.model.rowCount()))
    lags: dict[str, float] = {}
    lag = Lag()

    lag.start()
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki.pane.model.rowCount() == PAGES + 3, within=30)
    lag.stop()
    lags["opening, while it is indexed"] = lag.worst_cpu
    lag.start()
    await eventually(lambda: desk.wiki._listing is not None and not desk.wiki._listing.progress.pending, within=60)
    lag.stop()
    lags["until it is indexed"] = lag.worst_cpu
    assert sizes.asked < PAGES / 10, f"{sizes.asked} heights were asked for"
    assert resets == [PAGES + 3], "the looks at a growing index put the list together anew"

    pages = desk.find(QTableView, "pageList")
    acts: dict[str, Callable[[], None]] = {
        "to the end": pages.scrollToBottom,
        "fold": lambda: desk.wiki.pane.list._turn("topics", True),
        "unfold": lambda: desk.wiki.pane.list._turn("topics", False),
    }
    for name, act in acts.items():
        lag.start()
        act()
        await eventually(lambda: desk.desktop.tasks.running == 0)
        lag.stop()
        lags[name] = lag.worst_cpu

    lag.start()
    desk.type("pageSearch", "subject 99")
    await eventually(lambda: 0 < desk.wiki.pane.model.rowCount() < 400)
    QTest.keyClick(desk.wiki.pane.search, Key.Key_Escape)
    await eventually(lambda: desk.wiki.pane.model.rowCount() == PAGES + 3)
    lag.stop()
    lags["search"] = lag.worst_cpu
    assert max(lags.values()) < BLOCK_MS, lags


@at_the_desk
async def test_a_page_that_only_says_more_moves_nothing_in_the_list(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path, SOME)
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki.pane.model.rowCount() == SOME + 3)
    pages = desk.wiki.pane.list
    hands.click_row("pageList", "Subject 60")
    bar = pages.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    resets: list[str] = []
    desk.wiki.pane.model.modelReset.connect(lambda: resets.append("reset"))
    place = bar.value()
    row = pages.indexAt(QPoint(20, 60)).row()
    seen = subject(tmp_path, int(pages.model().index(row, 0).data().split()[1]))
    before, was = seen.stat().st_mtime_ns, picture(pages, row)

    seen.write_text("# Said in other words\n\nAnd more of it.", encoding="utf-8")
    os.utime(seen, ns=(before, before))
    await desk.wiki._reader.ask()

    assert pages.model().index(row, 0).data() == "Said in other words"
    assert picture(pages, row) != was
    assert (resets, bar.value(), hands.current_row("pageList")) == ([], place, "Subject 60")
    assert [index.data() for index in pages.selectedIndexes()] == ["Subject 60"]


@at_the_desk
async def test_a_new_page_comes_into_the_list_without_moving_what_is_on_the_screen(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path, SOME)
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki.pane.model.rowCount() == SOME + 3)
    pages = desk.wiki.pane.list
    hands.click_row("pageList", "Subject 60")
    bar = pages.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    first = pages.indexAt(pages.viewport().rect().topLeft()).data()

    (tmp_path / "wiki/topics/new.md").write_text("# New", encoding="utf-8")
    await desk.wiki._reader.ask()

    assert "New" in hands.rows("pageList")
    assert pages.indexAt(pages.viewport().rect().topLeft()).data() == first
    assert hands.current_row("pageList") == "Subject 60"


@at_the_desk
async def test_headers_are_lower_than_pages_however_groups_fold_and_the_keys_lead_to_both_ends(
    desk: Desk, tmp_path: Path
) -> None:
    await opened(desk, tmp_path, 12)
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki.pane.model.rowCount() == 15)
    pages = desk.wiki.pane.list

    def heights() -> list[int]:
        return [pages.visualRect(pages.model().index(row, 0)).height() for row in range(pages.model().rowCount())]

    group = [28, 48, 48, 48, 48]
    assert heights() == group * 3
    hands.click_row("pageList", "sources")
    assert heights() == [*group, 28, *group]
    hands.click_row("pageList", "topics")
    assert heights() == [28, 28, *group]
    hands.click_row("pageList", "sources")
    assert heights() == [28, *group, *group]
    QTest.keyClick(pages, Key.Key_End)
    assert pages.currentIndex().row() == 10
    QTest.keyClick(pages, Key.Key_Home)
    assert pages.currentIndex().row() == 0
    QTest.keyClick(pages, Key.Key_PageDown)
    QTest.keyClick(pages, Key.Key_Up)
    assert 0 < pages.currentIndex().row() < 11
    row = pages.currentIndex().row()
    QTest.keyClick(pages, Key.Key_J)
    QTest.keyClick(pages, Key.Key_K)
    assert pages.currentIndex().row() == row


def picture(pages: QTableView, row: int):  # type: ignore[no-untyped-def]
    return pages.viewport().grab(pages.visualRect(pages.model().index(row, 0))).toImage()


@at_the_desk
async def test_the_chosen_page_is_filled_within_the_inset_and_the_one_below_the_pointer_too(
    desk: Desk, tmp_path: Path
) -> None:
    await opened(desk, tmp_path, 12)
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki.pane.model.rowCount() == 15)
    pages, theme = desk.wiki.pane.list, desk.desktop.window.ctx.theme
    hands.click_row("pageList", "Subject 3")
    chosen, other = pages.currentIndex().row(), pages.model().rowCount() - 1
    edge, fill = QPoint(3, 24), QPoint(14, 24)
    assert picture(pages, chosen).pixelColor(edge) == picture(pages, other).pixelColor(edge)
    assert picture(pages, chosen).pixelColor(fill) == theme.color("selection")

    place = QPointF(pages.visualRect(pages.model().index(other, 0)).center())
    QApplication.sendEvent(pages.viewport(), QHoverEvent(QEvent.Type.HoverMove, place, place, QPointF()))
    assert picture(pages, other).pixelColor(fill) == theme.color("surface-hover")
