"""The approval card: it shows exactly what would happen, takes no focus, and decides once."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from devflow.domain.run import CallState
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.tool_line import ToolLine
from devflow.ui.widgets import CodeDiff
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.ui.chat.conftest import Chat, OpenChat, eventually

WRITE = Call("write_file", {"path": "engine.py", "content": "one\nthree\n"})


def _project(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "engine.py").write_text("one\ntwo\n", encoding="utf-8")
    return folder


async def in_project(chat: Chat, folder: Path) -> None:
    chat.page.acts.set_project(await chat.core.projects.ensure(_project(folder)))


async def asks_to_write(chat: Chat, folder: Path) -> ApprovalCard:
    await in_project(chat, folder)
    chat.say("change the engine")
    await chat.waits_for_decision()
    card = chat.page.transcript.card()
    assert card is not None
    return card


async def test_the_card_shows_risk_target_and_the_very_diff(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("I will.", calls=[WRITE]))
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")

        assert card.accessibleName() == "Wants to edit a file: engine.py"
        diff = card.findChild(CodeDiff)
        assert (diff.added, diff.removed) == (1, 1)
        assert "three" in diff.toPlainText()
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\ntwo\n"


async def test_allowing_runs_it_once_even_on_a_double_click(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]), "Done.")
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")
        button = card.approve
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert not button.isEnabled()
        assert not card.deny.isEnabled()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await chat.answered()

        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\nthree\n"
        line = chat.last.findChild(ToolLine)
        assert line.call.state is CallState.DONE
        assert chat.page.transcript.card() is None
        assert len(server.requests) == 2


async def test_a_denial_carries_the_users_reason_to_the_model(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]), "Then not.")
    async with open_chat(server) as chat:
        await asks_to_write(chat, tmp_path / "p")
        reason = chat.find("denyReason", QLineEdit)
        QTest.keyClicks(reason, "use the settings file")
        chat.press("denyButton")
        await chat.answered()

        assert "use the settings file" in server.requests[1].tool_results[0]
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\ntwo\n"
        assert "use the settings file" in chat.last.findChild(ToolLine).head.accessibleName()


async def test_edited_arguments_are_shown_again_before_they_count(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]), "Done.")
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")
        chat.press("editArgumentsButton")
        field = chat.find("argument_content", QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setPlainText("one\nfour\n")
        chat.press("approveButton")
        await chat.shown(lambda: card.call.edited)
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\ntwo\n"
        assert "four" in card.findChild(CodeDiff).toPlainText()

        chat.press("approveButton")
        await chat.answered()
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\nfour\n"


async def test_arguments_that_cannot_work_are_refused_on_the_card(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]))
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")
        chat.press("editArgumentsButton")
        path = chat.find("argument_path", QPlainTextEdit)
        assert isinstance(path, QPlainTextEdit)
        path.setPlainText("../outside.py")
        chat.press("approveButton")
        await eventually(card.problem.isVisible)

        assert card.approve.isEnabled()
        assert path.toPlainText() == "../outside.py"
        assert not (tmp_path / "outside.py").exists()


async def test_text_that_is_no_json_stays_in_the_editor_with_a_word_about_it(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]))
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")
        chat.press("editArgumentsButton")
        editor = card._editor
        assert editor is not None
        editor._view.part(1).click()
        field = chat.find("argumentsJson", QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setPlainText("{ not json")
        chat.press("approveButton")
        assert field.toPlainText() == "{ not json"
        assert editor._problem.text() == "This is not a JSON object."
        assert card.approve.isEnabled()


async def test_a_card_never_takes_the_focus_and_enter_in_the_composer_never_allows(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]))
    async with open_chat(server) as chat:
        await asks_to_write(chat, tmp_path / "p")
        assert QApplication.focusWidget() is chat.page.composer.field
        chat.enter()
        chat.say("and then the tests")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())

        assert chat.page.transcript.card() is not None
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\ntwo\n"


async def test_f6_jumps_to_the_card_and_not_to_its_buttons(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]))
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")
        QTest.keyClick(chat.page, Qt.Key.Key_F6)
        assert QApplication.focusWidget() is card
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
            QTest.keyClick(card, key)
        assert card.approve.isEnabled()


async def test_a_card_is_there_again_after_a_restart_and_its_decision_counts(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]), "Done.")
    async with open_chat(server) as chat:
        await asks_to_write(chat, tmp_path / "p")
        open_one = chat.page.session.id
        assert open_one is not None
    async with open_chat(server) as chat:
        await chat.page.session.open(open_one)
        assert chat.page.transcript.card() is not None
        chat.press("approveButton")
        await chat.answered()
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\nthree\n"


async def test_a_file_that_changed_meanwhile_is_shown_anew_instead_of_written(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]), "Done.")
    async with open_chat(server) as chat:
        card = await asks_to_write(chat, tmp_path / "p")
        (tmp_path / "p" / "engine.py").write_text("one\nother\n", encoding="utf-8")
        chat.press("approveButton")
        await chat.shown(lambda: chat.page.transcript.card() not in (None, card) or bool(card.call.error))
        await chat.waits_for_decision()

        now = chat.page.transcript.card()
        assert now is not None
        assert "other" in now.findChild(CodeDiff).toPlainText()
        assert (tmp_path / "p" / "engine.py").read_text(encoding="utf-8") == "one\nother\n"


async def test_a_tool_call_is_one_line_that_unfolds(open_chat: OpenChat, server: OpenAIServer, tmp_path: Path) -> None:
    server.script(Turn("Reading.", calls=[Call("read_file", {"path": "engine.py"})]), "Read.")
    async with open_chat(server) as chat:
        await in_project(chat, tmp_path / "p")
        await chat.asked("read it")
        line = chat.last.findChild(ToolLine)
        assert line.head.text() == "Read engine.py"
        assert line.height() == 28
        QTest.mouseClick(line.head, Qt.MouseButton.LeftButton)
        shown = [each.toPlainText() for each in line.findChildren(QPlainTextEdit)]
        assert '"path": "engine.py"' in shown[0]
        assert "two" in shown[1]
