"""Near-duplicates: named while one writes, and silent about everything else."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from devflow.domain.knowledge import Status
from devflow.ui.widgets.entry_editor import EntryEditor
from tests.support.desk import Desk, at_the_desk
from tests.support.eventually import eventually
from tests.ui.conftest import ScriptedDialogs


@at_the_desk
async def test_the_editor_names_an_entry_that_says_nearly_the_same(desk: Desk, dialogs: ScriptedDialogs) -> None:
    text = "A deferred transaction that upgrades fails at once when another connection wrote meanwhile."
    await desk.add("Deferred transactions fail when they upgrade", Status.PUBLISHED, content=text)
    await desk.add("Cooking rice takes ten minutes and a lid", Status.PUBLISHED)
    await desk.add("Rough note")
    await desk.arrive("Rough note")

    async def hands(editor: EntryEditor) -> None:
        desk.type("titleField", "Cooking rice is easy", editor)
        desk.type("contentField", "Nothing like the others at all, said in other words.", editor)
        await eventually(lambda: editor.looked == 1)
        assert not editor.repeats.isVisible()
        desk.type("titleField", "Deferred transactions fail when upgrading", editor)
        desk.type("contentField", text.replace("meanwhile", "before"), editor)
        await eventually(editor.repeats.isVisible)
        said = [label.text() for label in editor.repeats.findChildren(QLabel)]
        assert "“Deferred transactions fail when they upgrade” says something similar." in said
        desk.click("cancelEntryButton", editor)
        desk.click("discardButton", editor)

    dialogs.will(desk.drive(hands))
    desk.press(Qt.Key.Key_E)
    await eventually(lambda: len(desk.closed) == 1)
