"""The editor of an entry: nothing typed is lost, no rule is a surprise, no other's change is overwritten unseen."""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QWidget

from devflow.domain.knowledge import EntryEdit, EventKind, Status
from devflow.ui.widgets.entry_editor import EntryEditor
from tests.support.desk import CTRL, USER, Desk, at_the_desk
from tests.support.eventually import eventually
from tests.ui.conftest import ScriptedDialogs

Key = Qt.Key
Hands = Callable[[EntryEditor], Awaitable[None]]


async def edit(desk: Desk, dialogs: ScriptedDialogs, hands: Hands) -> EntryEditor:
    """Press `e`, let the hands work, wait until the editor is closed."""
    dialogs.will(desk.drive(hands))
    before = len(desk.closed)
    desk.press(Key.Key_E)
    await eventually(lambda: len(desk.closed) > before)
    return desk.closed[-1]


def press(editor: EntryEditor, name: str, key: Key, modifiers: Qt.KeyboardModifier) -> None:
    QTest.keyClick(editor.findChild(QWidget, name), key, modifiers)


@at_the_desk
async def test_ctrl_enter_saves_and_publishes_in_one_act_that_one_undo_takes_back(
    desk: Desk, dialogs: ScriptedDialogs
) -> None:
    entry = await desk.add("Rough title", confidence=0.9)
    await desk.add("Next one", confidence=0.8)
    await desk.arrive("Rough title", "Next one")

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "Better title", editor)
        press(editor, "contentField", Key.Key_Return, CTRL)

    await edit(desk, dialogs, hands)
    await desk.until_listed("Next one")

    published = await desk.core.knowledge.knowledge_get(entry.id)
    assert (published.title, published.status) == ("Better title", Status.PUBLISHED)
    assert desk.said() == "Published “Better title”"
    desk.press(Key.Key_Z, CTRL)
    await desk.until_listed("Rough title", "Next one")
    back = await desk.core.knowledge.knowledge_get(entry.id)
    assert (back.title, back.status) == ("Rough title", Status.CANDIDATE)


@at_the_desk
async def test_save_keeps_the_candidate_in_the_inbox_and_writes_what_changed(
    desk: Desk, dialogs: ScriptedDialogs
) -> None:
    entry = await desk.add("Title", tags=("one",))
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("tagsField", "two、 three, two", editor)
        desk.click("saveEntryButton", editor)

    await edit(desk, dialogs, hands)
    await eventually(lambda: desk.said() == "Saved “Title”")

    assert (await desk.core.knowledge.knowledge_get(entry.id)).tags == ("two", "three")
    event = (await desk.core.knowledge.knowledge_timeline(entry.id))[0]
    assert (event.event, dict(event.changes)) == (EventKind.UPDATED, {"tags": (["one"], ["two", "three"])})
    assert desk.inbox_titles() == ["Title"]


@at_the_desk
async def test_a_broken_rule_is_said_under_its_field_and_nothing_is_lost(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title")
    await desk.arrive("Title")
    said: list[str] = []

    async def hands(editor: EntryEditor) -> None:
        field = desk.find(QLineEdit, "titleField", editor)
        field.setFocus()
        desk.type("titleField", "x" * 201, editor)
        said.extend(_visible(editor))
        QTest.keyClick(field, Key.Key_A, CTRL)
        QTest.keyClick(field, Key.Key_Delete)
        press(editor, "contentField", Key.Key_Return, CTRL)
        said.extend(_visible(editor))
        assert editor.isVisible()
        assert field.hasFocus() or editor.focusWidget() is field
        desk.type("titleField", "Short", editor)
        desk.click("saveEntryButton", editor)

    await edit(desk, dialogs, hands)

    assert any(text.startswith("The title has 201 characters; at most 200 fit.") for text in said)
    assert "The title is empty. Give it a title of 1 to 200 characters." in said
    assert (await desk.core.knowledge.knowledge_get(entry.id)).title == "Short"


@at_the_desk
async def test_cancel_with_something_typed_asks_first(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("contentField", "A long text that nobody wants to type twice", editor)
        desk.click("cancelEntryButton", editor)
        assert editor.isVisible()
        assert "What you typed is not saved." in _visible(editor)
        QTest.keyClick(editor, Key.Key_Escape)
        assert editor.isVisible()
        desk.click("discardButton", editor)

    editor = await edit(desk, dialogs, hands)

    assert editor.saved is None
    assert (await desk.core.knowledge.knowledge_get(entry.id)).version == entry.version


@at_the_desk
async def test_cancel_without_a_change_just_closes(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Title")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.click("cancelEntryButton", editor)

    assert (await edit(desk, dialogs, hands)).saved is None


@at_the_desk
async def test_a_change_elsewhere_is_met_before_it_is_overwritten(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title", content="The old text.")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("contentField", "My own text.", editor)
        await _change(desk, entry.id, "Their own text.")
        await eventually(lambda: "This entry changed elsewhere." in _visible(editor))
        press(editor, "contentField", Key.Key_Return, CTRL)  # saving now would overwrite: it shows both instead
        compare = desk.find(QWidget, "compareTexts", editor)
        await eventually(compare.isVisible)
        assert (editor.compare.diff.added, editor.compare.diff.removed) == (1, 1)
        desk.click("keepMineButton", editor)
        assert desk.find(QPlainTextEdit, "contentField", editor).toPlainText() == "My own text."
        desk.click("saveEntryButton", editor)

    await edit(desk, dialogs, hands)

    assert (await desk.core.knowledge.knowledge_get(entry.id)).content == "My own text."
    changes = [event.changes.get("content") for event in await desk.core.knowledge.knowledge_timeline(entry.id)]
    assert ("Their own text.", "My own text.") in changes


@at_the_desk
async def test_taking_the_other_text_keeps_mine_at_hand(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title", content="The old text.")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        content = desk.find(QPlainTextEdit, "contentField", editor)
        desk.type("contentField", "My own text.", editor)
        await _change(desk, entry.id, "Their own text.")
        await eventually(editor.conflict.isVisible)
        desk.click("compareButton", editor)
        desk.click("takeOtherButton", editor)
        assert content.toPlainText() == "Their own text."
        desk.click("putBackButton", editor)
        assert content.toPlainText() == "My own text."
        desk.click("cancelEntryButton", editor)
        desk.click("discardButton", editor)

    await edit(desk, dialogs, hands)
    assert (await desk.core.knowledge.knowledge_get(entry.id)).content == "Their own text."


@at_the_desk
async def test_merging_by_hand_shows_the_other_text_beside_mine(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title", content="The old text.")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("contentField", "My own text.", editor)
        await _change(desk, entry.id, "Their own text.")
        await eventually(editor.conflict.isVisible)
        desk.click("compareButton", editor)
        desk.click("mergeByHandButton", editor)
        other = desk.find(QPlainTextEdit, "otherText", editor)
        assert (other.isVisible(), other.toPlainText()) == (True, "Their own text.")
        desk.type("contentField", "Their own text. My own text.", editor)
        desk.click("saveEntryButton", editor)

    await edit(desk, dialogs, hands)
    assert (await desk.core.knowledge.knowledge_get(entry.id)).content == "Their own text. My own text."


@at_the_desk
async def test_a_status_that_moved_meanwhile_is_no_conflict_of_texts(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title", content="The old text.")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("contentField", "My own text.", editor)
        await desk.core.knowledge.knowledge_approve(entry.id, actor=USER)
        press(editor, "contentField", Key.Key_Return, CTRL)

    await edit(desk, dialogs, hands)
    saved = await desk.core.knowledge.knowledge_get(entry.id)
    assert (saved.content, saved.status) == ("My own text.", Status.PUBLISHED)


@at_the_desk
async def test_an_entry_erased_meanwhile_leaves_what_was_typed_on_the_screen(
    desk: Desk, dialogs: ScriptedDialogs
) -> None:
    entry = await desk.add("Title")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("contentField", "Precious words", editor)
        await desk.core.knowledge.knowledge_erase(entry.id, actor=USER)
        await eventually(lambda: any("was erased" in text for text in _visible(editor)))
        assert desk.find(QPlainTextEdit, "contentField", editor).toPlainText() == "Precious words"
        desk.click("cancelEntryButton", editor)
        desk.click("discardButton", editor)

    await edit(desk, dialogs, hands)


@at_the_desk
async def test_the_editor_warns_of_an_exact_repetition(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Take the lock first", Status.PUBLISHED, content="Begin immediate.")
    await desk.add("Another")
    await desk.arrive("Another")

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "take the LOCK first", editor)
        desk.type("contentField", "Begin  immediate.", editor)
        await eventually(lambda: "“Take the lock first” says exactly the same." in _visible(editor))
        desk.click("cancelEntryButton", editor)
        desk.click("discardButton", editor)

    await edit(desk, dialogs, hands)


@at_the_desk
async def test_the_preview_renders_what_is_written(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Title", content="Use **bold** words.")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.click("previewSide", editor)
        assert editor.form.preview.toPlainText().strip() == "Use bold words."
        desk.click("writeSide", editor)
        desk.click("cancelEntryButton", editor)

    await edit(desk, dialogs, hands)


@at_the_desk
async def test_enter_in_the_title_does_not_save(desk: Desk, dialogs: ScriptedDialogs) -> None:
    entry = await desk.add("Title")
    await desk.arrive("Title")

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "Half a ti", editor)
        QTest.keyClick(desk.find(QLineEdit, "titleField", editor), Key.Key_Return)
        assert editor.isVisible()
        desk.click("cancelEntryButton", editor)
        desk.click("discardButton", editor)

    await edit(desk, dialogs, hands)
    assert (await desk.core.knowledge.knowledge_get(entry.id)).title == "Title"


def _visible(editor: EntryEditor) -> list[str]:
    return [label.text() for label in editor.findChildren(QLabel) if label.isVisible()]


async def _change(desk: Desk, id: str, content: str) -> None:
    current = await desk.core.knowledge.knowledge_get(id)
    await desk.core.knowledge.knowledge_update(id, EntryEdit(current.version, content=content), actor=USER)
