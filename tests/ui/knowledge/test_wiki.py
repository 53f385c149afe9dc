"""The wiki side of the Knowledge tab: bases, pages, one page; real folders, by clicks and keys."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView, QMenu, QTableView

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.statusline import StatusItem
from devflow.ui.widgets.long_markdown import LongMarkdown
from tests.support import hands
from tests.support.desk import CTRL, PAGES, Desk, at_the_desk
from tests.support.eventually import eventually
from tests.support.pages import write
from tests.support.window import OpenWindow, ScriptedDialogs

Key = Qt.Key
NOTES = {
    "purpose.md": "# What for\n\nNotes on the back end.",
    "wiki/topics/sqlite-wal.md": "---\ntitle: SQLite WAL and checkpoints\n---\n\n# Another heading\n\n"
    "Readers see a snapshot.\n\n"
    "See [[wiki/topics/retry.md]], [[wiki/topics/none.md|the lost one]] and [the plan](../sources/plan.md#two).",
    "wiki/topics/retry.md": "# Retry and back-off\n\nWait longer each time. Back to [WAL](sqlite-wal.md).",
    "wiki/sources/plan.md": "# The plan\n\nFirst measure, then cut.",
}


async def opened(desk: Desk, folder: Path, pages: Mapping[str, str] = NOTES) -> KnowledgeBase:
    """Register a folder, make it the current base, and come to the wiki side."""
    base = await desk.core.bases.open(write(folder, pages))
    await desk.core.bases.use(base.id)
    await turn_to_wiki(desk)
    await eventually(
        lambda: desk.wiki._listing is not None and desk.wiki._base is not None and desk.wiki._base.id == base.id
    )
    return base


async def turn_to_wiki(desk: Desk) -> None:
    desk.desktop.window.show_page("knowledge")
    await desk.knowledge.ready
    hands.click("sideWiki")


def titles(desk: Desk) -> list[str]:
    return hands.rows("pageList")


def shown(desk: Desk) -> str:
    """The title of the page beside the list; empty while there is none."""
    detail = desk.wiki.detail
    return detail.title.text() if detail.title.isVisible() else ""


def missing(desk: Desk) -> str:
    """What stands in the page's place; empty while a page does."""
    nothing = desk.wiki.detail.nothing
    return nothing.line.text() if nothing.isVisible() else ""


def status(desk: Desk) -> str:
    item = desk.find(StatusItem, "statusSearch")
    return item.text() if item.isVisible() else ""


def links(desk: Desk) -> dict[str, str]:
    """What stands in the page as a link: its words and where it leads."""
    anchors = [anchor for each in view(desk).views for anchor in hands._anchors(each)]
    return {cursor.selectedText(): address for cursor, address in anchors}


def view(desk: Desk) -> LongMarkdown:
    return desk.find(LongMarkdown, "pageView")


@at_the_desk
async def test_the_pages_of_the_current_base_stand_in_their_folders(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "notes")
    await eventually(lambda: len(titles(desk)) == 7)
    assert [title for title in titles(desk) if title in ("About this base", "topics", "sources")] == [
        "About this base",
        "topics",
        "sources",
    ]
    assert set(titles(desk)) == {
        *("About this base", "What for", "topics", "SQLite WAL and checkpoints", "Retry and back-off"),
        *("sources", "The plan"),
    }
    await eventually(lambda: status(desk) == "Page index: 4 pages, up to date")
    row = desk.wiki.bases.model.item(0)
    assert row is not None
    assert row.words(desk.desktop.window.ctx.t) == "4 pages · current"
    await eventually(lambda: shown(desk) == "What for")


@at_the_desk
async def test_a_click_opens_a_page_with_its_facts_and_its_links_work(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "notes")
    await eventually(lambda: "SQLite WAL and checkpoints" in titles(desk))
    hands.click_row("pageList", "SQLite WAL and checkpoints")
    await eventually(lambda: shown(desk) == "SQLite WAL and checkpoints")
    assert desk.wiki.detail.path.text == "wiki / topics / sqlite-wal.md"
    assert "characters" in desk.wiki.detail.facts.text()
    assert "Changed today" in desk.wiki.detail.facts.text()
    assert desk.wiki.detail.cited.text() == "Linked from 1 page"
    assert "Readers see a snapshot." in view(desk).toPlainText()
    assert "title:" not in view(desk).toPlainText()
    assert set(links(desk)) == {"[[wiki/topics/retry.md]]", "the plan"}  # what is not there is no link
    assert "the lost one" in view(desk).toPlainText()

    view(desk).link_activated.emit(links(desk)["the plan"])
    await eventually(lambda: shown(desk) == "The plan" and hands.current_row("pageList") == "The plan")
    assert view(desk).toPlainText().strip() == "First measure, then cut."  # the heading is the title above


@at_the_desk
async def test_who_links_to_a_page_is_one_click_away(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "notes", {**NOTES, "wiki/a.md": "# A\n\n[[wiki/topics/retry.md]]"})
    await eventually(lambda: "Retry and back-off" in titles(desk))
    hands.click_row("pageList", "Retry and back-off")
    await eventually(lambda: desk.wiki.detail.cited.text() == "Linked from 2 pages")
    QTest.mouseClick(desk.wiki.detail.cited, Qt.MouseButton.LeftButton)
    (menu,) = desk.wiki.detail.findChildren(QMenu, "citedByMenu")
    assert [action.text() for action in menu.actions()] == ["A", "SQLite WAL and checkpoints"]
    menu.triggered.emit(next(action for action in menu.actions() if isinstance(action, QAction)))
    menu.close()
    await eventually(lambda: shown(desk) == "A")


@at_the_desk
async def test_groups_fold_by_click_and_key_and_stay_folded(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "notes")
    await eventually(lambda: len(titles(desk)) == 7)
    hands.click_row("pageList", "topics")
    assert "Retry and back-off" not in titles(desk)
    pages = desk.find(QTableView, "pageList")
    hands.click_row("pageList", "The plan")
    QTest.keyClick(pages, Key.Key_Left)
    assert hands.current_row("pageList") == "sources"
    QTest.keyClick(pages, Key.Key_Return)
    assert titles(desk) == ["About this base", "What for", "topics", "sources"]
    QTest.keyClick(pages, Key.Key_Right)
    assert titles(desk)[-1] == "The plan"

    hands.click("sideLibrary")
    hands.click("sideWiki")
    write(tmp_path / "notes", {"wiki/queries/new.md": "# New"})
    await desk.wiki._reader.ask()
    assert titles(desk) == ["About this base", "What for", "topics", "sources", "The plan", "queries", "New"]


@at_the_desk
async def test_the_search_finds_names_first_and_then_texts_and_slash_leads_to_it(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "notes")
    await eventually(lambda: len(titles(desk)) == 7)
    QTest.keyClick(desk.find(QTableView, "pageList"), Key.Key_Slash)
    assert desk.keyboard() is desk.wiki.pane.search
    desk.type("pageSearch", "wal")
    await eventually(
        lambda: (
            titles(desk) == ["Title or file name", "SQLite WAL and checkpoints", "In the text", "Retry and back-off"]
        )
    )
    desk.type("pageSearch", "nothing has this")
    await eventually(lambda: titles(desk) == [] and desk.wiki.pane.nothing.line.text() == "No page matches")
    QTest.keyClick(desk.wiki.pane.search, Key.Key_Escape)
    await eventually(lambda: len(titles(desk)) == 7)


@at_the_desk
async def test_a_page_that_the_search_lists_says_why(desk: Desk, tmp_path: Path) -> None:
    await opened(desk, tmp_path / "notes")
    await eventually(lambda: len(titles(desk)) == 7)
    model, detail = desk.wiki.pane.model, desk.wiki.detail
    assert model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole) == "purpose.md"
    assert not detail.why.isVisible()

    desk.type("pageSearch", "wal")
    await eventually(lambda: len(titles(desk)) == 4)
    told = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleDescriptionRole) for row in (1, 3)]
    assert told == ["Why this? title: wal; file name: wal", "Why this? content: wal"]
    assert str(model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)).splitlines() == [
        "wiki/topics/sqlite-wal.md",
        told[0],
    ]
    pages = desk.find(QTableView, "pageList")
    pages.setCurrentIndex(model.index(3, 0))
    await eventually(lambda: shown(desk) == "Retry and back-off" and detail.why.isVisible())
    detail.why.button.click()
    assert dict(detail.why.facts.facts) == {"Found by": "every word of the query", "In the text": "wal"}

    QTest.keyClick(desk.wiki.pane.search, Key.Key_Escape)
    await eventually(lambda: not detail.why.isVisible())


@at_the_desk
async def test_the_order_of_the_pages_is_chosen_and_kept(desk: Desk, tmp_path: Path) -> None:
    folder = write(tmp_path / "kb", {"wiki/topics/b.md": "# Beta", "wiki/topics/a.md": "# Alpha"})
    long_ago = time.time() - 40 * 86_400
    os.utime(folder / "wiki/topics/a.md", (long_ago, long_ago))
    await opened(desk, folder, {})
    await eventually(lambda: titles(desk) == ["topics", "Beta", "Alpha"])
    desk.wiki.pane.order_chosen.emit("title")
    await eventually(lambda: titles(desk) == ["topics", "Alpha", "Beta"])
    await eventually(lambda: desk.desktop.tasks.running == 0)
    assert (await desk.core.settings.get("wiki_view"))["order"] == "title"


@at_the_desk
async def test_what_changes_in_the_folder_shows_while_one_looks(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    await opened(desk, folder)
    await eventually(lambda: "The plan" in titles(desk))
    hands.click_row("pageList", "The plan")
    await eventually(lambda: shown(desk) == "The plan")
    write(folder, {"wiki/sources/plan.md": "# The plan, again\n\nCut at once.", "wiki/topics/fresh.md": "# Fresh"})
    (folder / "wiki/topics/retry.md").unlink()
    assert desk.wiki._clock.isActive()
    await eventually(lambda: "Fresh" in titles(desk) and "Retry and back-off" not in titles(desk))
    await eventually(lambda: shown(desk) == "The plan, again" and "Cut at once." in view(desk).toPlainText())
    assert hands.current_row("pageList") == "The plan, again"


@at_the_desk
async def test_a_page_that_changes_while_it_is_read_stays_at_the_place(desk: Desk, tmp_path: Path) -> None:
    long = "# Long\n\n" + "\n\n".join(f"Paragraph {number} of a long page." for number in range(300))
    folder = tmp_path / "kb"
    await opened(desk, folder, {"wiki/long.md": long})
    await eventually(lambda: shown(desk) == "Long" and "Paragraph 299" in view(desk).toPlainText())
    bar = desk.wiki.detail._scroll.verticalScrollBar()
    await eventually(lambda: bar.maximum() > 3_000)
    bar.setValue(2_500)
    write(folder, {"wiki/long.md": long + "\n\nOne more."})
    await desk.wiki._reader.ask()
    await eventually(lambda: "One more." in view(desk).toPlainText() and bar.value() == 2_500)


@at_the_desk
async def test_the_keyboard_chooses_a_base_and_is_not_called_back_meanwhile(desk: Desk, tmp_path: Path) -> None:
    await desk.core.bases.open(write(tmp_path / "cats", {"wiki/cat.md": "# Cat"}))
    await opened(desk, tmp_path / "notes")
    await eventually(lambda: hands.current_row("kbList") == "notes")
    bases = desk.find(QListView, "kbList")
    QTest.keyClick(bases, Key.Key_Up)
    await desk.wiki._reader.ask()
    assert hands.current_row("kbList") == "cats"
    QTest.keyClick(bases, Key.Key_Return)
    await eventually(lambda: titles(desk) == ["wiki", "Cat"])


@at_the_desk
async def test_what_cannot_be_a_page_is_listed_with_the_reason(desk: Desk, tmp_path: Path) -> None:
    folder = write(tmp_path / "kb", {"wiki/good.md": "# Good"})
    (folder / "wiki/huge.md").write_bytes(b"x" * 5_000_001)
    (folder / "wiki/picture.md").write_bytes(b"\x00\x01\x02\xff\xfe" * 20)
    await opened(desk, folder, {})
    await eventually(lambda: titles(desk) == ["wiki", "Good", "Skipped", "huge", "picture"])
    await eventually(lambda: status(desk) == "Page index: 1 page, up to date")
    hands.click_row("pageList", "huge")
    await eventually(lambda: shown(desk) == "huge")
    assert "Larger than 5 MB: this page is skipped, and never searched." in desk.texts(desk.wiki.detail)


@at_the_desk
async def test_choosing_a_base_makes_it_the_current_one_and_a_gone_folder_is_grey(desk: Desk, tmp_path: Path) -> None:
    other = await desk.core.bases.open(write(tmp_path / "archive", {"wiki/a.md": "# A"}))
    await desk.core.bases.open(write(tmp_path / "cats", {"wiki/cat.md": "# Cat", "wiki/tom.md": "# Tom"}))
    (tmp_path / "archive").rename(tmp_path / "elsewhere")
    await opened(desk, tmp_path / "notes")
    t = desk.desktop.window.ctx.t

    def rows() -> list[str]:
        items = [desk.wiki.bases.model.item(row) for row in range(desk.wiki.bases.model.rowCount())]
        return [f"{item.base.name}: {item.words(t)}" for item in items if item is not None]

    await eventually(lambda: rows() == ["cats: 2 pages", "notes: 4 pages · current", "archive: Folder not found"])
    hands.click_row("kbList", "cats")
    await eventually(lambda: titles(desk) == ["wiki", "Cat", "Tom"] or titles(desk) == ["wiki", "Tom", "Cat"])
    current = await desk.core.bases.current()
    assert current is not None
    assert current.name == "cats"
    await eventually(lambda: rows()[0] == "cats: 2 pages · current")

    hands.click_row("kbList", "archive")
    await eventually(lambda: missing(desk) == "Folder not found")
    assert other.path in desk.wiki.detail.nothing.sentence.text()
    assert status(desk) == "Page index: the folder is not there"
    assert desk.find(StatusItem, "statusLibrary").isHidden()


@at_the_desk
async def test_a_folder_is_opened_and_another_is_made_a_base_on_the_users_word(
    desk: Desk, tmp_path: Path, dialogs: ScriptedDialogs
) -> None:
    await turn_to_wiki(desk)
    await eventually(lambda: missing(desk) == "No knowledge base yet")
    dialogs.will(str(write(tmp_path / "notes", NOTES)))
    desk.click("openKbButton")
    await eventually(lambda: "The plan" in titles(desk))
    folder = write(tmp_path / "plain", {"one.md": "text"})
    dialogs.will(str(folder), "to see whether it works")
    desk.click("initKbButton")
    await eventually(lambda: hands.rows("kbList") == ["notes", "plain"] and hands.current_row("kbList") == "plain")
    assert "to see whether it works" in (folder / "purpose.md").read_text(encoding="utf-8")
    assert [kind for kind, _ in dialogs.asked] == ["choose_folder", "choose_folder", "prompt"]
    await eventually(lambda: desk.wiki._base is not None and desk.wiki._base.name == "plain")


@at_the_desk
async def test_an_address_opens_the_page_whatever_is_shown(desk: Desk, tmp_path: Path) -> None:
    cats = await desk.core.bases.open(write(tmp_path / "cats", {"wiki/猫 粮.md": "# 喂猫\n\n每天两次。"}))
    notes = await opened(desk, tmp_path / "notes")
    hands.click("sideLibrary")
    desk.desktop.window.show_page("chat")
    desk.desktop.window.open_link(f"devflow:page/{notes.id}/wiki/topics/retry.md")
    await eventually(
        lambda: shown(desk) == "Retry and back-off" and hands.current_row("pageList") == "Retry and back-off"
    )
    assert desk.desktop.window.current == "knowledge"
    desk.desktop.window.open_link(f"devflow:page/{cats.id}/wiki/%E7%8C%AB%20%E7%B2%AE.md")
    await eventually(lambda: shown(desk) == "喂猫")
    current = await desk.core.bases.current()
    assert current is not None
    assert current.id == notes.id  # to look at a page changes nothing for the chats
    desk.desktop.window.open_link(f"devflow:page/{cats.id}/wiki/gone.md")
    await eventually(lambda: missing(desk) == "This page is gone")


class Editor(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


@at_the_desk
async def test_open_in_editor_gives_the_file_to_the_system(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    await opened(desk, folder)
    await eventually(lambda: shown(desk) == "What for")
    editor = Editor()
    QDesktopServices.setUrlHandler("file", editor, "open")
    try:
        desk.click("openInEditorButton")
    finally:
        QDesktopServices.unsetUrlHandler("file")
    assert [Path(file) for file in editor.opened] == [folder / "purpose.md"]


async def test_the_side_that_was_looked_at_last_is_there_after_a_restart(
    open_window: OpenWindow, tmp_path: Path
) -> None:
    async with open_window(PAGES) as desktop:
        desk = Desk(desktop)
        await desk.built()
        await opened(desk, tmp_path / "notes")
    async with open_window(PAGES) as desktop:
        desk = Desk(desktop)
        await desk.built()
        desk.desktop.window.show_page("knowledge")
        await desk.knowledge.ready
        await eventually(lambda: len(titles(desk)) == 7)
        QTest.keyClick(desk.find(QTableView, "pageList"), Key.Key_F, CTRL)
        assert desk.keyboard() is desk.wiki.pane.search


@at_the_desk
async def test_a_digest_of_a_moment_ago_has_its_mark_and_an_older_one_has_none(desk: Desk, tmp_path: Path) -> None:
    """The row paints a dot; what it goes by is the page's origin and when it was written."""
    folder = write(tmp_path / "kb", {"wiki/synthesis/sessions/old.md": "---\nmade_by: digest\n---\n\n# Old\n\ntext"})
    yesterday = time.time() - 86_400
    os.utime(folder / "wiki/synthesis/sessions/old.md", (yesterday, yesterday))
    await opened(desk, folder, {})
    await eventually(lambda: titles(desk) == ["synthesis / sessions", "Old"])
    plain = row_picture(desk, "Old")
    write(folder, {"wiki/synthesis/sessions/old.md": "---\nmade_by: digest\n---\n\n# Old\n\nnew text"})
    await desk.wiki._reader.ask()
    assert accents(row_picture(desk, "Old"), desk) > accents(plain, desk)


def row_picture(desk: Desk, title: str):  # type: ignore[no-untyped-def]
    pages = desk.find(QTableView, "pageList")
    row = titles(desk).index(title)
    return pages.viewport().grab(pages.visualRect(pages.model().index(row, 0))).toImage()


def accents(picture, desk: Desk) -> int:  # type: ignore[no-untyped-def]
    accent = desk.desktop.window.ctx.theme.color("accent").rgb()
    return sum(picture.pixel(x, y) == accent for x in range(picture.width()) for y in range(picture.height()))
