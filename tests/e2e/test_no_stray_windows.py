"""Nothing flashes: a widget that is shown before it has its place would be a window of its own for a moment."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QMenu, QWidget

from devflow.domain.knowledge import draft
from devflow.knowledge.acts import Actor
from tests.e2e.conftest import Start
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.support import hands
from tests.support.person import Person


class Watch(QObject):
    """Notes every window that is shown and is none by design."""

    def __init__(self) -> None:
        super().__init__()
        self.strays: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            by_design = isinstance(watched, QMainWindow | QDialog | QMenu) or watched.windowType() in (
                Qt.WindowType.Popup,
                Qt.WindowType.ToolTip,
            )
            if not by_design:
                self.strays.append(f"{type(watched).__name__} {watched.objectName()!r} {hands.words(watched)!r}")
        return False


@pytest.fixture
def watch(qapp: QApplication) -> Iterator[Watch]:
    made = Watch()
    qapp.installEventFilter(made)
    yield made
    qapp.removeEventFilter(made)


async def test_no_widget_is_ever_a_window_by_accident(
    start: Start, server: OpenAIServer, watch: Watch, tmp_path: Path
) -> None:
    async with start() as person:
        await person.finds("welcomePage")
        await person.clicks("loadSamplesButton")
        await person.finds("suggestionButton")
        await person.clicks("suggestionButton")
        await person.is_answered("K1")
        await person.connect_by_service(server)

        server.script(
            Turn("I would write it.", calls=[Call("write_file", {"path": "a.txt", "content": "one\n"})]),
            Turn("Done: `a.txt`.\n\n```python\nprint(1)\n```\n"),
            Turn("It broke", cut=True),
        )
        project = await person.core.projects.ensure(tmp_path)
        await person.begins_a_conversation()
        await person.until(lambda: person.desktop.tasks.running == 0, "the picker knows the folder")
        await person.chooses_from("workspacePicker", project.name)
        await person.asks("Write it down, please")
        await person.finds("approvalCard")
        await person.clicks("editArgumentsButton")
        await person.clicks("approveButton")
        await person.is_answered("Done")
        await person.asks("And again?")
        await person.finds("retryButton")

        await _every_page(person)
        await _dialogs(person)
    assert watch.strays == []


async def _every_page(person: Person) -> None:
    rows = [draft(kind="pitfall", title=f"Candidate {n}", content=f"Content {n}", tags=["tag"]) for n in range(3)]
    await person.core.knowledge.knowledge_submit(rows, actor=Actor.ai())
    await person.goes_to("Inbox")
    await person.until(lambda: len(hands.rows("inboxList")) == 3 and hands.current_row("inboxList"), "candidates")
    for key in ("Key_S", "Key_A", "Key_R"):
        person.presses(Qt.Key[key])
        await person.until(lambda: person.desktop.tasks.running == 0, "what the key began")
    await person.goes_to("Knowledge")
    await person.until(lambda: hands.current_row("entryList"), "an entry")
    person.desktop.window.resize(970, 690)
    await person.clicks("filtersButton")


async def _dialogs(person: Person) -> None:
    await person.clicks("newEntryButton")
    await person.clicks("cancelEntryButton")
    await person.misses("entryEditor")
    await person.clicks("navSettings")
    await person.finds("settingsDialog")
    await person.until(lambda: person.desktop.tasks.running <= 1, "every page of the settings")
    await person.clicks("cancelSettingsButton")
    await person.misses("settingsDialog")
