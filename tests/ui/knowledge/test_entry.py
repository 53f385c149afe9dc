"""One entry of the library: its text and facts, its life, and what can be done to it."""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QMenu, QTextEdit, QWidget

from devflow.domain.knowledge import Status
from devflow.store import citations, entries
from devflow.ui.dialogs.compare_entries import CompareEntries
from devflow.ui.dialogs.merge_entries import MergeEntries
from devflow.ui.pages.knowledge.facet_row import FacetGroup
from devflow.ui.widgets.diff import CodeDiff, ProseDiff
from devflow.ui.widgets.entry_editor import EntryEditor
from devflow.ui.widgets.timeline import Timeline
from tests.support.desk import CTRL, USER, Desk, at_the_desk
from tests.support.eventually import eventually
from tests.ui.conftest import ScriptedDialogs

Key = Qt.Key


@at_the_desk
async def test_kp_5_an_edit_stands_in_the_timeline_with_what_it_changed(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Old title", Status.PUBLISHED, content="Raise busy_timeout to 30 s", tags=("sqlite",))
    await open_first(desk, "Old title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "New title", editor)
        desk.type("contentField", "Start writes with BEGIN IMMEDIATE", editor)
        desk.click("saveEntryButton", editor)

    await edit(desk, dialogs, "editEntryButton", hands)
    timeline = desk.find(Timeline, "entryTimeline")
    await eventually(lambda: "Edited: title, text" in desk.texts(timeline))

    assert any(text.startswith("· you · today") and text.endswith("v4") for text in desk.texts(timeline))
    (diff,) = [part for part in timeline.findChildren(QTextEdit) if isinstance(part, CodeDiff | ProseDiff)]
    assert diff.toPlainText().split("\n") == [
        "title: Old title",
        "Raise busy_timeout to 30 s",
        "title: New title",
        "Start writes with BEGIN IMMEDIATE",
    ]
    assert "Published" in desk.texts(timeline)
    assert any("candidate → review → published" in text for text in desk.texts(timeline))


@at_the_desk
async def test_archive_and_restore_by_clicks_with_undo(desk: Desk) -> None:
    entry = await desk.add("Put away", Status.PUBLISHED)
    await open_first(desk, "Put away")

    desk.click("archiveEntryButton")
    await eventually(lambda: desk.library_titles() == [])
    assert await desk.status(entry) is Status.ARCHIVED
    desk.click("libraryUndoButton")
    await eventually(lambda: desk.library_titles() == ["Put away"])
    assert await desk.status(entry) is Status.PUBLISHED

    desk.click("archiveEntryButton")
    await eventually(lambda: desk.library_titles() == [])
    QTest.mouseClick(desk.find(FacetGroup, "statusFilter").row(Status.ARCHIVED), Qt.MouseButton.LeftButton)
    await eventually(lambda: desk.library_titles() == ["Put away"])
    await eventually(lambda: desk.find(QAbstractButton, "restoreEntryButton").isVisible())
    desk.click("restoreEntryButton")
    await eventually(lambda: desk.library_titles() == [])
    assert await desk.status(entry) is Status.CANDIDATE


@at_the_desk
async def test_undo_of_an_archive_chooses_the_entry_that_came_back(desk: Desk) -> None:
    for title in ("One", "Two", "Three"):
        await desk.add(title, Status.PUBLISHED)
    await open_first(desk, "Three")
    QTest.keyClick(desk.library.list, Key.Key_J)
    await eventually(lambda: shown(desk) == "Two")

    desk.click("archiveEntryButton")
    await eventually(lambda: sorted(desk.library_titles()) == ["One", "Three"] and shown(desk) in ("One", "Three"))
    desk.click("libraryUndoButton")
    await eventually(lambda: sorted(desk.library_titles()) == ["One", "Three", "Two"])
    await eventually(lambda: shown(desk) == "Two")
    current = desk.library.model.entry(desk.library.list.current_id)
    assert current is not None
    assert current.title == "Two"


@at_the_desk
async def test_a_new_entry_waits_in_the_inbox_or_is_published_at_once(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.open_library()

    def write(title: str, button: str) -> Callable[[EntryEditor], Awaitable[None]]:
        async def hands(editor: EntryEditor) -> None:
            desk.type("titleField", title, editor)
            desk.type("contentField", "Because it was measured.", editor)
            desk.click(button, editor)

        return hands

    await edit(desk, dialogs, "newEntryButton", write("For the inbox", "saveEntryButton"))
    await eventually(lambda: desk.badge() == "1")
    assert desk.library.bar.words.text() == "“For the inbox” waits in the inbox"
    await edit(desk, dialogs, "newEntryButton", write("For the library", "publishEntryButton"))
    await eventually(lambda: desk.library_titles() == ["For the library"])
    await eventually(lambda: shown(desk) == "For the library")


@at_the_desk
async def test_a_new_entry_without_a_text_is_refused_in_place(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.open_library()
    said: list[str] = []

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "No text", editor)
        desk.click("saveEntryButton", editor)
        said.extend(label.text() for label in editor.findChildren(QLabel) if label.isVisible())
        assert desk.find(QLineEdit, "titleField", editor).text() == "No text"
        desk.click("cancelEntryButton", editor)
        desk.click("discardButton", editor)

    await edit(desk, dialogs, "newEntryButton", hands)
    assert "The content is empty. Write what someone should know." in said


@at_the_desk
async def test_erase_asks_and_then_leaves_nothing(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Private", Status.PUBLISHED)
    await desk.add("Stays", Status.PUBLISHED)
    await desk.open_library()
    desk.desktop.window.open_link(f"devflow:entry/{entry.id}")
    await eventually(lambda: shown(desk) == "Private")

    dialogs.will(False, True)
    for _ in range(2):
        desk.click("moreButton", desk.library.detail)
        menu = desk.library.detail.findChildren(QMenu, "entryMenu")[-1]
        trigger(menu, "eraseEntry")
        menu.close()
        asked = len(dialogs.asked)
        await eventually(lambda asked=asked: len(dialogs.asked) >= max(1, asked))

    await eventually(lambda: desk.library_titles() == ["Stays"])
    await eventually(lambda: shown(desk) == "Stays")
    assert dialogs.asked == [("confirm", "Erase this entry?")] * 2


@at_the_desk
async def test_the_entry_is_copied_as_markdown_and_by_its_id(desk: Desk) -> None:
    entry = await desk.add("Take the lock", Status.PUBLISHED, content="First.", tags=("sqlite",))
    await open_first(desk, "Take the lock")

    for name, text in (("copyEntryId", entry.id), ("copyEntryMarkdown", "# Take the lock\n\nFirst.\n\n`sqlite`\n")):
        desk.click("moreButton", desk.library.detail)
        menu = desk.library.detail.findChildren(QMenu, "entryMenu")[-1]
        trigger(menu, name)
        menu.close()
        assert QGuiApplication.clipboard().text() == text


@at_the_desk
async def test_used_in_leads_to_the_conversation_that_cited_it(desk: Desk) -> None:
    entry = await desk.add("Cited", Status.PUBLISHED)
    chat = await desk.core.conversations.create()
    run = await desk.core.turns.send(chat.id, "A question about nothing in particular")
    await desk.core.turns.wait(run.id)
    message = (await desk.core.conversations.path(chat.id)).messages[-1]
    await desk.core.db.write(lambda unit: citations.record(unit, message.id, entry.id))
    detail = {"conversation": chat.id, "message": message.id}
    await desk.core.knowledge.knowledge_record_reuse(entry.id, actor=USER, detail=detail)
    await open_first(desk, "Cited")

    link = desk.find(QAbstractButton, "usedInLink")
    await eventually(lambda: link.text() == "1 conversation")
    assert "Cited in a chat" in desk.texts(desk.find(Timeline, "entryTimeline"))
    desk.click("usedInLink")
    assert desk.elsewhere.opened == [f"devflow:conversation/{chat.id}"]


@at_the_desk
async def test_a_contradiction_is_named_and_can_be_compared(desk: Desk, dialogs: ScriptedDialogs) -> None:
    one = await desk.add("The first plan", Status.PUBLISHED, content="Write it down.")
    two = await desk.add("Another thought", Status.PUBLISHED, content="Remember each step.")
    strip = desk.find(QWidget, "conflictStrip")
    await open_first(desk, "Another thought")
    assert not strip.isVisible()
    await desk.core.db.write(lambda unit: _contradict(unit, one.id, two.id))
    await eventually(strip.isVisible)
    said = "\n".join(desk.texts(strip))
    assert "May contradict “The first plan”. Chats get both, with dates." in said
    assert "Marked by hand as contradicting" in said

    seen: list[str] = []

    async def look(dialog: CompareEntries) -> int:
        dialog.show()
        seen.extend(desk.texts(dialog))
        return 1

    dialogs.will(look)
    QTest.mouseClick(desk.library.detail.conflict.link, Qt.MouseButton.LeftButton)
    await eventually(lambda: bool(seen))
    assert "Another thought" in seen
    assert "The first plan" in seen
    assert any("changed today" in text for text in seen)


@at_the_desk
async def test_entries_that_resemble_it_are_listed_and_merged_from_here(desk: Desk, dialogs: ScriptedDialogs) -> None:
    text = "When a bounded queue is full, block the producer or raise; do not drop {what}."
    other = await desk.add("Bounded queues", Status.PUBLISHED, content=text.format(what="control events"))
    entry = await desk.add("Back-pressure", Status.PUBLISHED, content=text.format(what="data"))
    await desk.core.knowledge.knowledge_record_reuse(entry.id, actor=USER)
    await open_first(desk, "Back-pressure")
    similar = desk.find(QWidget, "similarEntries")
    await eventually(similar.isVisible)
    assert any("similar" in text and "Published" in text for text in desk.texts(similar))
    assert any(text.startswith("Both say: ") for text in desk.texts(similar))

    async def merge(dialog: MergeEntries) -> int:
        dialog.show()
        assert dialog.ids == (entry.id, other.id), "the one that was used stays"
        dialog.merge()
        await eventually(dialog.isHidden)
        return dialog.result()

    dialogs.will(merge)
    desk.click("mergeSimilarButton", similar)
    await eventually(lambda: desk.library_titles() == ["Back-pressure"])
    assert desk.library.bar.words.text() == "Merged 2 entries into “Back-pressure”"
    timeline = desk.find(Timeline, "entryTimeline")
    await eventually(lambda: "Others merged into it" in desk.texts(timeline))
    assert any("of “Bounded queues”" in text for text in desk.texts(timeline))

    desk.desktop.window.open_link(f"devflow:entry/{other.id}")
    strip = desk.find(QWidget, "mergedStrip")
    await eventually(strip.isVisible)
    assert "Merged into “Back-pressure”." in desk.texts(strip)
    desk.library.detail.merged.acted.emit()
    await eventually(lambda: shown(desk) == "Back-pressure")

    QTest.keyClick(desk.library.list, Key.Key_Z, CTRL)
    await eventually(lambda: sorted(desk.library_titles()) == ["Back-pressure", "Bounded queues"])


@at_the_desk
async def test_a_link_shows_an_entry_that_the_filters_hide_and_leaves_them_alone(desk: Desk) -> None:
    hidden = await desk.add("Archived long ago", Status.ARCHIVED)
    await desk.add("Published", Status.PUBLISHED)
    await open_first(desk, "Published")

    desk.desktop.window.open_link(f"devflow:entry/{hidden.id}")
    await eventually(lambda: shown(desk) == "Archived long ago")

    assert desk.library_titles() == ["Published"]
    assert desk.library.view.status is Status.PUBLISHED
    desk.library.list.setFocus()
    QTest.keyClick(desk.library.list, Key.Key_J)
    QTest.keyClick(desk.library.list, Key.Key_K)
    await eventually(lambda: desk.library_titles() == ["Published"])


@at_the_desk
async def test_a_link_chooses_its_entry_in_a_library_that_was_filled_while_nobody_looked(desk: Desk) -> None:
    named, *_ = [await desk.add(title, Status.PUBLISHED) for title in ("Named", "Newer", "Newest")]
    await desk.built()

    desk.desktop.window.open_link(f"devflow:entry/{named.id}")
    await eventually(lambda: desk.library_titles() == ["Newest", "Newer", "Named"])
    await eventually(lambda: shown(desk) == "Named")

    assert desk.library.list.current_id == named.id
    assert desk.library.list.selected_ids() == (named.id,)


@at_the_desk
async def test_a_link_to_an_erased_entry_says_so(desk: Desk) -> None:
    await desk.open_library()
    desk.desktop.window.open_link("devflow:entry/gone")
    bar = desk.desktop.window._message_bar
    await eventually(lambda: bar.words.text() == "This entry is not in the library any more")


@at_the_desk
async def test_keys_move_search_edit_and_undo(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Older", Status.PUBLISHED)
    await desk.add("Newer", Status.PUBLISHED)
    await open_first(desk, "Newer")
    entries_list = desk.library.list
    QTest.keyClick(entries_list, Key.Key_J)
    await eventually(lambda: shown(desk) == "Older")
    QTest.keyClick(entries_list, Key.Key_Slash)
    assert desk.keyboard() is desk.library.pane.search
    QTest.keyClick(desk.library.pane.search, Key.Key_Escape)
    assert desk.keyboard() is entries_list

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "Oldest", editor)
        QTest.keyClick(desk.find(QLineEdit, "titleField", editor), Key.Key_Return, CTRL)

    dialogs.will(desk.drive(hands))
    QTest.keyClick(entries_list, Key.Key_E)
    await eventually(lambda: "Oldest" in desk.library_titles())
    QTest.keyClick(entries_list, Key.Key_Z, CTRL)
    await eventually(lambda: "Older" in desk.library_titles())


async def open_first(desk: Desk, title: str) -> None:
    await desk.open_library()
    await eventually(lambda: shown(desk) == title)


async def edit(
    desk: Desk, dialogs: ScriptedDialogs, button: str, hands: Callable[[EntryEditor], Awaitable[None]]
) -> None:
    dialogs.will(desk.drive(hands))
    before = len(desk.closed)
    desk.click(button)
    await eventually(lambda: len(desk.closed) > before)


def shown(desk: Desk) -> str:
    """The title on the right."""
    page = desk.library
    return page.detail.text.title.text() if page.detail.isVisible() else ""


def trigger(menu: QMenu, name: str) -> None:
    next(action for action in menu.actions() if isinstance(action, QAction) and action.objectName() == name).trigger()


def _contradict(unit, one: str, two: str) -> None:  # type: ignore[no-untyped-def]
    entries.link(unit, one, two, "conflict", 1.0)
    unit.changed("entry", one)
