"""Choosing what to digest: what is picked, what is left out and why, what is missing, and what begins."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication

from devflow.ui.dialogs.digest import choose_and_digest
from devflow.ui.dialogs.digest_dialog import DigestDialog
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Turn
from tests.support import hands
from tests.support.desk import Desk, at_the_desk
from tests.support.digests import articles, base_in, begin, by_hand, card, connect, look_at, press, start, status
from tests.support.documents import docx
from tests.support.eventually import eventually
from tests.support.pages import write
from tests.support.window import ScriptedDialogs

LEFT = Qt.MouseButton.LeftButton


def rows(dialog: DigestDialog) -> dict[str, str]:
    """Each file by its name, and what stands beside it."""
    return {file.path.name: dialog.model.words(file) for file in dialog.model.files}


def why_not(dialog: DigestDialog) -> str:
    return "" if dialog.start.isEnabled() else dialog.reason.text


@at_the_desk
async def test_files_that_were_picked_become_pages(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    files = articles(tmp_path / "texts", 2)
    word = tmp_path / "texts" / "计划.docx"
    plan = docx(["# The plan", "First measure, then cut."])
    word.write_bytes(plan)
    with DigestServer() as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")

        async def drive(dialog: DigestDialog) -> None:
            assert dialog.windowTitle() == "Digest into “notes”"
            assert why_not(dialog) == "Add files first."
            assert hands.words(dialog.options).count("scripted · Model") == 1
            await press(dialog, "addFilesButton")
            await eventually(lambda: len(dialog.model.files) == 3)
            assert rows(dialog) == {"000.md": "33 B", "001.md": "33 B", "计划.docx": f"{len(plan)} B"}
            assert dialog.start.text() == "Digest 3 files"
            await start(dialog)

        dialogs.will(by_hand(drive), [*files, word])
        hands.click("digestButton")
        await eventually(lambda: card(desk).isVisible() and card(desk).counts.text == "3 of 3 files", within=20)
        assert status(desk) == "Digest: 3 / 3"
        assert len(list((Path(base.path) / "wiki/synthesis/sessions").glob("*.md"))) == 3
        await eventually(lambda: {"Article 0", "Article 1", "The plan"} <= set(hands.rows("pageList")))


@at_the_desk
async def test_a_folder_shows_what_is_left_out_and_why(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    folder = tmp_path / "material"
    articles(folder, 2)
    (folder / "empty.txt").touch()
    for name in ("a.png", "b.png", "table.xlsx"):
        (folder / name).write_text("x")
    with DigestServer() as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")

        async def drive(dialog: DigestDialog) -> None:
            await press(dialog, "addFolderButton")
            await eventually(lambda: len(dialog.model.files) == 3)
            assert rows(dialog)["empty.txt"] == "left out: empty"
            assert dialog.files.left_out.text == "Left out: 1 cannot be read · 3 of other kinds (.png 2, .xlsx 1)"
            assert dialog.start.text() == "Digest 2 files"
            dialog.files.list.setFocus()
            dialog.files.list.setCurrentIndex(dialog.model.index(0, 0))
            hands.press_on(dialog.files.list, Qt.Key.Key_Delete)
            assert list(rows(dialog)) == ["001.md", "empty.txt"]
            assert dialog.start.text() == "Digest 1 file"
            await press(dialog, "cancelButton")

        dialogs.will(by_hand(drive), folder)
        await choose_and_digest(desk.desktop.window.ctx, base)
        assert await desk.core.digests.of_base(base.id) == ()


@at_the_desk
async def test_what_has_a_page_already_is_marked_and_digested_again_only_on_demand(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    files = articles(tmp_path / "texts", 1)
    with DigestServer() as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        first = await desk.core.digests.start(base.id, files)
        await desk.core.digests.wait(first.id)

        async def drive(dialog: DigestDialog) -> None:
            await eventually(lambda: why_not(dialog) == "All of them have pages already.")
            await eventually(lambda: rows(dialog) == {"000.md": "digested before · 33 B"})
            assert dialog.files.left_out.text == "Left out: 1 digested before"
            hands.click(dialog.options.again)
            assert rows(dialog) == {"000.md": "digested before, once more · 33 B"}
            await start(dialog)

        dialogs.will(by_hand(drive))
        await choose_and_digest(desk.desktop.window.ctx, base, files)
        await eventually(lambda: server.asked("000.md") == 2)
        newest = (await desk.core.digests.of_base(base.id))[0]
        assert newest.force
        await desk.core.digests.wait(newest.id)


@at_the_desk
async def test_without_a_model_the_dialog_says_so_and_goes_on_once_one_is_connected(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    with DigestServer() as server:
        base = await base_in(desk, tmp_path / "notes")

        async def drive(dialog: DigestDialog) -> None:
            assert why_not(dialog) == "Connect a model first."
            assert dialog.connect_model.isVisible()
            assert "cannot write a page" in dialog.connect_model.words.text()
            assert "None is connected." in hands.words(dialog.options)
            await connect(desk, server)
            await eventually(lambda: dialog.start.isEnabled())
            assert not dialog.connect_model.isVisible()
            assert "scripted · Model" in hands.words(dialog.options)
            await start(dialog)

        dialogs.will(by_hand(drive))
        await choose_and_digest(desk.desktop.window.ctx, base, articles(tmp_path / "texts", 1))
        await eventually(lambda: card(desk).counts.text == "1 of 1 file", within=20)


@at_the_desk
async def test_a_folder_that_was_never_set_up_is_initialised_first(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    folder = write(tmp_path / "old", {"wiki/topics/a.md": "# A page of mine"})
    with DigestServer() as server:
        await connect(desk, server)
        base = await desk.core.bases.open(folder)
        await look_at(desk, base)

        async def drive(dialog: DigestDialog) -> None:
            assert why_not(dialog) == "Initialise the knowledge base first."
            assert dialog.set_up.isVisible()
            hands.click(dialog.set_up.link)
            await eventually(lambda: dialog.start.isEnabled())
            assert not dialog.set_up.isVisible()
            assert len(dialog.model.files) == 1  # what was picked is still there
            await start(dialog)

        dialogs.will(by_hand(drive), "What I know of old things.")
        await choose_and_digest(desk.desktop.window.ctx, base, articles(tmp_path / "texts", 1))
        await eventually(lambda: card(desk).counts.text == "1 of 1 file", within=20)
        assert (folder / "wiki/topics/a.md").read_text() == "# A page of mine"
        assert "What I know of old things." in (folder / "purpose.md").read_text()


@at_the_desk
async def test_as_many_files_are_read_at_once_as_were_chosen(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    with DigestServer() as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")

        async def drive(dialog: DigestDialog) -> None:
            assert dialog.options.concurrency == 3
            await press(dialog, "digestConcurrency-5")
            await start(dialog)

        dialogs.will(by_hand(drive))
        await choose_and_digest(desk.desktop.window.ctx, base, articles(tmp_path / "texts", 6))
        (batch,) = await desk.core.digests.of_base(base.id)
        assert batch.concurrency == 5
        await desk.core.digests.wait(batch.id)

        async def look(dialog: DigestDialog) -> None:
            assert dialog.options.concurrency == 5  # as it was chosen last

        dialogs.will(by_hand(look))
        await choose_and_digest(desk.desktop.window.ctx, base)


@at_the_desk
async def test_a_file_that_a_digest_is_at_is_not_digested_twice(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    gate = Gate()
    files = articles(tmp_path / "texts", 3)
    with DigestServer(lambda request, name, before: Turn([gate, page_for(f"{name}\ntext")])) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        batch = await begin(desk, base, files[:2])

        async def drive(dialog: DigestDialog) -> None:
            await eventually(lambda: len(dialog.model.files) == 3)
            assert list(rows(dialog).values()) == ["being digested now", "being digested now", "33 B"]
            assert dialog.start.text() == "Digest 1 file"
            dialog.model.remove(2)
            dialog._say()
            assert why_not(dialog) == "A digest is at these files already."
            gate.open()
            await eventually(lambda: not dialog.model.busy)

        dialogs.will(by_hand(drive))
        await choose_and_digest(desk.desktop.window.ctx, base, files)
        await desk.core.digests.wait(batch.id)


@at_the_desk
async def test_files_that_are_dropped_on_the_wiki_are_picked(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    files = articles(tmp_path / "texts", 2)
    with DigestServer() as server:
        await connect(desk, server)
        await base_in(desk, tmp_path / "notes")

        async def drive(dialog: DigestDialog) -> None:
            await eventually(lambda: list(rows(dialog)) == ["000.md", "001.md"])

        dialogs.will(by_hand(drive))
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
        none, copy = Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction
        enter = QDragEnterEvent(QPointF(400, 300).toPoint(), copy, mime, LEFT, none)
        QApplication.sendEvent(desk.wiki, enter)
        assert enter.isAccepted()
        QApplication.sendEvent(desk.wiki, QDropEvent(QPointF(400, 300), copy, mime, LEFT, none))
        await eventually(lambda: not dialogs.answers)
        await desk.desktop.tasks.settled()


@at_the_desk
async def test_an_empty_base_offers_to_digest(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    base = await desk.core.bases.open(write(tmp_path / "empty", {"wiki/.keep": ""}))
    await look_at(desk, base)
    await eventually(lambda: desk.wiki.detail.nothing.line.text() == "No pages yet")
    assert hands.visible("digestButton")
    dialogs.will(0)
    hands.click("digestEmptyButton")
    await eventually(lambda: dialogs.asked == [("run", "Digest into “empty”")])


@at_the_desk
async def test_a_fresh_base_whose_pages_are_templates_offers_to_digest(desk: Desk, tmp_path: Path) -> None:
    await base_in(desk, tmp_path / "notes")
    await eventually(lambda: hands.visible("digestEmptyButton"))
    hands.click_row("pageList", "Purpose")
    await eventually(lambda: desk.wiki.detail.title.isVisible() and not hands.visible("digestEmptyButton"))


@at_the_desk
async def test_without_a_base_there_is_nothing_to_digest_into(desk: Desk) -> None:
    desk.desktop.window.show_page("knowledge")
    await desk.knowledge.ready
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki.detail.nothing.line.text() == "No knowledge base yet")
    assert not hands.visible("digestButton")


@pytest.mark.parametrize("known", [False, True])
@at_the_desk
async def test_every_control_of_the_dialog_has_a_name_and_is_reached_by_the_keyboard(
    desk: Desk, tmp_path: Path, known: bool
) -> None:
    with DigestServer() as server:
        if known:
            await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        dialog = DigestDialog(desk.desktop.window.ctx, base, desk.desktop.window)
        dialog.add(articles(tmp_path / "texts", 2))
        dialog.show()
        await eventually(lambda: len(dialog.model.files) == 2 and dialog._looked)
        buttons = [button for button in dialog.findChildren(QAbstractButton) if button.isVisible()]
        assert all(button.accessibleName() for button in buttons)
        assert all(button.focusPolicy() & Qt.FocusPolicy.TabFocus for button in buttons)
        assert dialog.files.list.accessibleName() == "Files to digest"
        spoken = dialog.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        assert spoken == "000.md, 33 B, Delete takes it out of the list"
        assert ("digestConnectButton" in {button.objectName() for button in buttons}) is not known
        dialog.close()
        dialog.deleteLater()


@at_the_desk
async def test_opening_the_dialog_again_and_again_leaves_no_widgets(
    desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    base = await base_in(desk, tmp_path / "notes")
    files = articles(tmp_path / "texts", 3)
    counts = []
    for _ in range(20):
        dialogs.will(0)
        await choose_and_digest(desk.desktop.window.ctx, base, files)
        await desk.desktop.tasks.settled()
        await eventually(lambda: not any(isinstance(each, DigestDialog) for each in QApplication.allWidgets()))
        counts.append(len(QApplication.allWidgets()))
    assert counts[-1] - counts[10] < 5
