"""What resembles a candidate: compared beside it, merged with it, or said to be no contradiction; all can be undone."""

from collections.abc import Awaitable, Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDialog, QPlainTextEdit, QWidget

from devflow.domain.knowledge import EntryEdit, EventKind, Status
from devflow.store import entries
from devflow.ui.dialogs.merge_entries import MergeEntries
from tests.support.desk import CTRL, USER, Desk, at_the_desk
from tests.support.eventually import eventually
from tests.ui.conftest import ScriptedDialogs

Key = Qt.Key
TEXT = "When a bounded queue is full, block the producer or raise; do not drop {what}."


@at_the_desk
async def test_a_candidate_is_merged_into_the_published_entry_by_one_key_and_undone_by_one(
    desk: Desk, dialogs: ScriptedDialogs
) -> None:
    there = await desk.add("Back-pressure", Status.PUBLISHED, content=TEXT.format(what="data"), tags=("asyncio",))
    new = await desk.add("Bounded queues", content=TEXT.format(what="control events"), tags=("queues",))
    await judging(desk, "Bounded queues")
    asked: list[list[str]] = []

    async def hands(dialog: MergeEntries) -> None:
        asked.append([combo(dialog, "mergeStays").itemText(row) for row in range(2)])
        fields = dialog.form.fields()
        assert fields.title == "Back-pressure"
        assert "do not drop data." in fields.content
        assert "do not drop control events." in fields.content
        assert fields.tags == ("asyncio", "queues")
        desk.type("titleField", "Bounded queues and back-pressure", dialog)
        desk.click("confirmMergeButton", dialog)

    dialogs.will(drive(desk, hands))
    desk.press(Key.Key_M)

    await eventually(lambda: desk.said() == "Merged 2 entries into “Bounded queues and back-pressure”")
    assert asked == [["Published: Back-pressure", "Candidate: Bounded queues"]]
    assert await desk.status(new) is Status.ARCHIVED
    merged = await desk.core.knowledge.knowledge_get(there.id)
    assert (merged.title, merged.status, merged.tags) == (
        "Bounded queues and back-pressure",
        Status.PUBLISHED,
        ("asyncio", "queues"),
    )
    events = await desk.core.knowledge.knowledge_timeline(there.id)
    assert {event.entry_id for event in events} == {there.id, new.id}
    assert EventKind.MERGED in {event.event for event in events}
    assert desk.inbox.model.rowCount() == 0

    desk.press(Key.Key_Z, CTRL, on=desk.inbox)
    await desk.until_listed("Bounded queues")
    assert (await desk.core.knowledge.knowledge_get(there.id)).title == "Back-pressure"
    assert await desk.status(new) is Status.CANDIDATE


@at_the_desk
async def test_which_one_stays_and_whose_text_it_has_are_chosen(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Back-pressure", Status.PUBLISHED, content=TEXT.format(what="data"))
    new = await desk.add("Bounded queues", content=TEXT.format(what="control events"))
    await judging(desk, "Bounded queues")

    async def hands(dialog: MergeEntries) -> None:
        choose(dialog, "mergeStays", new.id)
        assert dialog.form.fields().title == "Bounded queues"
        choose(dialog, "mergeTextFrom", new.id)
        assert dialog.form.fields().content == new.content
        originals = dialog.findChild(QPlainTextEdit, "mergeOriginals")
        assert originals is not None
        assert "do not drop data." in originals.toPlainText()
        desk.click("confirmMergeButton", dialog)

    dialogs.will(drive(desk, hands))
    desk.click("mergeButton")
    await eventually(lambda: desk.said() == "Merged 2 entries into “Bounded queues”")
    merged = await desk.core.knowledge.knowledge_get(new.id)
    assert (merged.content, merged.status) == (new.content, Status.PUBLISHED), "one of them was published"


@at_the_desk
async def test_marked_candidates_are_merged_together(desk: Desk, dialogs: ScriptedDialogs) -> None:
    for number, word in enumerate(("rice", "fonts", "locks")):
        await desk.add(f"About {word}", content=f"All about {word}.", confidence=0.9 - number / 10)
    await desk.arrive("About rice", "About fonts", "About locks")
    for key in (Key.Key_X, Key.Key_J, Key.Key_X, Key.Key_J, Key.Key_X):
        desk.press(key)
    assert desk.find(QAbstractButton, "mergeButton").isVisible()

    async def hands(dialog: MergeEntries) -> None:
        assert combo(dialog, "mergeStays").count() == 3
        desk.click("confirmMergeButton", dialog)

    dialogs.will(drive(desk, hands))
    desk.press(Key.Key_M)
    await eventually(lambda: desk.said() == "Merged 3 entries into “About rice”")
    await desk.until_listed("About rice")
    content = desk.inbox.detail.entry.content if desk.inbox.detail.entry is not None else ""
    assert [word in content for word in ("rice", "fonts", "locks")] == [True] * 3


@at_the_desk
async def test_what_changed_meanwhile_is_shown_and_what_was_typed_stays(desk: Desk, dialogs: ScriptedDialogs) -> None:
    there = await desk.add("Back-pressure", Status.PUBLISHED, content=TEXT.format(what="data"))
    await desk.add("Bounded queues", content=TEXT.format(what="control events"))
    await judging(desk, "Bounded queues")

    async def hands(dialog: MergeEntries) -> None:
        desk.type("contentField", "Typed by hand.", dialog)
        edit = EntryEdit(version=there.version, content="Changed in another window.")
        await desk.core.knowledge.knowledge_update(there.id, edit, actor=USER)
        desk.click("confirmMergeButton", dialog)
        await eventually(dialog.stale.isVisible)
        assert "Changed in another window." in dialog.originals.toPlainText()
        assert dialog.form.fields().content == "Typed by hand."
        desk.press(Key.Key_Escape, on=dialog)
        assert dialog.isVisible()
        assert dialog.discard.isVisible(), "what was typed is not thrown away by one key"
        desk.click("confirmMergeButton", dialog)

    dialogs.will(drive(desk, hands))
    desk.press(Key.Key_M)
    await eventually(lambda: desk.said().startswith("Merged 2 entries"))
    assert (await desk.core.knowledge.knowledge_get(there.id)).content == "Typed by hand."


@at_the_desk
async def test_where_nothing_resembles_it_merging_is_not_offered_and_the_key_says_why(desk: Desk) -> None:
    await desk.add("Cooking rice takes ten minutes")
    await desk.arrive("Cooking rice takes ten minutes")
    await desk.desktop.tasks.settled()
    assert not desk.find(QAbstractButton, "mergeButton").isVisible()
    desk.press(Key.Key_M)
    await eventually(
        lambda: any("Nothing resembles this candidate" in text for text in desk.texts(desk.desktop.window))
    )


@at_the_desk
async def test_a_contradiction_is_named_with_its_reason_compared_and_denied_and_the_denial_undone(
    desk: Desk, dialogs: ScriptedDialogs
) -> None:
    there = await desk.add("The first plan", Status.PUBLISHED, content="Write it down.")
    new = await desk.add("Another thought", content="Remember each step.")
    await desk.core.db.write(lambda unit: entries.link(unit, new.id, there.id, "conflict", 1.0))
    await judging(desk, "Another thought")
    strip = desk.find(QWidget, "contradictionStrip")
    await eventually(strip.isVisible)
    assert "May contradict “The first plan”" in desk.texts(desk.inbox.detail)
    assert "Marked by hand as contradicting" in strip.accessibleName()
    await eventually(lambda: (alike := row_of(desk, new.id).alike) is not None and alike.contradicting == 1)

    seen: list[str] = []
    stray = Strays()

    async def hands(dialog: QDialog) -> None:
        seen.extend(desk.texts(dialog))
        for side, title in (("compareOther", "The first plan"), ("compareThis", "Another thought")):
            assert title in desk.texts(desk.find(QWidget, side, dialog))
        desk.click("dismissContradictionButton", dialog)

    dialogs.will(drive(desk, hands))
    desk.click("compareSimilarButton", desk.inbox)
    await eventually(lambda: desk.said() == "“The first plan” is no contradiction")
    assert stray.shown == []
    assert any("They may contradict each other." in text for text in seen)
    await eventually(lambda: not strip.isVisible())
    await eventually(lambda: "No contradiction found" in desk.texts(desk.inbox.detail))

    desk.press(Key.Key_Z, CTRL)
    await eventually(strip.isVisible)


@at_the_desk
async def test_a_contradiction_that_the_texts_betray_is_told_by_the_words_that_exclude_each_other(desk: Desk) -> None:
    await desk.add("Always retry a failed request", Status.PUBLISHED, content="Always retry a failed request at once.")
    await desk.add("Never retry a failed request", content="Never retry a failed request at once.")
    await judging(desk, "Never retry a failed request")
    strip = desk.find(QWidget, "contradictionStrip")
    await eventually(strip.isVisible)
    assert "Opposite words: “never” against “always”" in strip.accessibleName()


@at_the_desk
async def test_from_comparing_it_is_one_click_to_merging(desk: Desk, dialogs: ScriptedDialogs) -> None:
    await desk.add("Back-pressure", Status.PUBLISHED, content=TEXT.format(what="data"))
    await desk.add("Bounded queues", content=TEXT.format(what="control events"))
    await judging(desk, "Bounded queues")

    async def compare(dialog: QDialog) -> None:
        assert not any("contradict" in text for text in desk.texts(dialog))
        desk.click("compareMergeButton", dialog)

    async def merge(dialog: MergeEntries) -> None:
        desk.click("confirmMergeButton", dialog)

    dialogs.will(drive(desk, compare), drive(desk, merge))
    desk.click("compareSimilarButton", desk.inbox)
    await eventually(lambda: desk.said().startswith("Merged 2 entries"))


class Strays(QObject):
    """Parts of a dialog that were shown before they had their place: a window of their own for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []
        QCoreApplication.instance().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        shown = event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow()
        if shown and not isinstance(watched, QDialog):
            self.shown.append(watched.objectName())
        return False


async def judging(desk: Desk, title: str) -> None:
    """Until that candidate and what resembles it are on the screen."""
    await desk.arrive(title)
    await eventually(lambda: desk.inbox.detail.similar.current is not None)


def row_of(desk: Desk, id: str) -> Any:
    return desk.inbox.model.item(id)


def combo(dialog: QDialog, name: str) -> QComboBox:
    found = dialog.findChild(QComboBox, name)
    assert found is not None
    return found


def choose(dialog: QDialog, name: str, data: object) -> None:
    box = combo(dialog, name)
    box.setCurrentIndex(box.findData(data))


def drive(desk: Desk, hands: Callable[[Any], Awaitable[None]]) -> Callable[[QDialog], Awaitable[int]]:
    """Show the dialog, let `hands` work in it, wait until it is closed."""

    async def work(dialog: QDialog) -> int:
        dialog.show()
        await eventually(lambda: dialog.isActiveWindow() or dialog.activateWindow())
        await hands(dialog)
        await eventually(dialog.isHidden)
        return dialog.result()

    return work
