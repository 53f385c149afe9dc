"""The composer: what is typed is never lost, never sent by accident, and goes where it should."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from devflow.domain.conversation import OFFLINE
from devflow.domain.run import RunState
from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.ui.chat.conftest import OpenChat, eventually


async def test_enter_sends_and_the_composer_empties(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("It is four.")
    async with open_chat(server) as chat:
        await chat.asked("What is two and two?")

        assert chat.page.composer.text == ""
        assert chat.answer == "It is four."
        assert server.requests[0].last_user.endswith("What is two and two?")


async def test_shift_enter_breaks_the_line_and_sends_nothing(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.write("one")
        QTest.keyClick(chat.page.composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        chat.write("two")

        assert chat.page.composer.text == "one\ntwo"
        assert chat.page.session.turns == ()


async def test_an_input_methods_enter_never_sends(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        field = chat.page.composer.field
        field.setFocus()
        sent: list[str] = []
        chat.page.composer.submitted.connect(sent.append)

        QApplication.sendEvent(field, QInputMethodEvent("nihao", []))
        chat.enter()
        committed = QInputMethodEvent("", [])
        committed.setCommitString("你好")
        QApplication.sendEvent(field, committed)
        chat.enter()
        assert (sent, field.toPlainText()) == ([], "你好")

        await eventually(lambda: not field._just_composed)
        chat.enter()
        assert sent == ["你好"]
        await chat.answered()


@pytest.mark.parametrize("above", ["nothing", "note", "queue", "both"])
async def test_nothing_moves_when_the_composer_gets_or_loses_the_keyboard(open_chat: OpenChat, above: str) -> None:
    async with open_chat() as chat:
        composer = chat.page.composer
        composer.note.setVisible(above in ("note", "both"))
        composer.queue.show_text("And then?" if above in ("queue", "both") else "")
        places = []
        for on in (False, True, False):
            composer._focused(on)
            composer.layout().activate()
            await eventually(lambda: composer.height() == composer.sizeHint().height())
            parts = (composer.field, composer.send, composer.note.choose, composer.queue.text)
            places.append((composer.height(), [part.mapTo(composer, QPoint(0, 0)) for part in parts]))
        assert places[0] == places[1] == places[2]


async def test_the_composer_grows_to_ten_lines_and_then_scrolls(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        field = chat.page.composer.field
        heights = []
        for count in (1, 2, 10, 14):
            field.set_text("\n".join("line" for _ in range(count)))
            heights.append(field.height())

        assert heights == [22, 44, 220, 220]
        assert field.verticalScrollBar().maximum() > 0


async def test_an_empty_message_cannot_be_sent(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        assert not chat.page.composer.send.isEnabled()
        chat.say("   ")
        assert chat.page.session.turns == ()
        assert chat.page.composer.text == "   "


async def test_a_draft_is_kept_per_conversation_and_over_a_restart(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first question")
        first = chat.page.session.id
        chat.write("half a thought")
        chat.press("newConversationButton")
        await chat.shown(lambda: chat.page.session.id is None) if chat.page.session.id else None
        assert chat.page.composer.text == ""
        chat.write("another one")
        await chat.shown(lambda: chat.page.session.id not in (None, first))
        second = chat.page.session.id
        assert first is not None
        assert second is not None
        await chat.page.session.open(first)
        assert chat.page.composer.text == "half a thought"

    async with open_chat() as chat:
        await chat.page.session.open(second)
        assert chat.page.composer.text == "another one"
        await chat.page.session.open(first)
        assert chat.page.composer.text == "half a thought"


async def test_what_is_typed_while_a_reply_streams_is_queued_and_sent_after_it(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["Writing", gate, " done."]), "And the second.")
    async with open_chat(server) as chat:
        chat.say("first")
        await chat.shown(lambda: bool(chat.page.session.turns) and bool(chat.page.session.turns[0].answers))
        chat.say("second")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())
        assert chat.page.composer.queue.text.text == "second"
        assert chat.page.composer.text == ""

        gate.open()
        await chat.answered(2)
        assert chat.answer == "And the second."
        assert not chat.page.composer.queue.isVisible()


async def test_a_queued_message_can_be_taken_back_into_the_composer(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["Writing", gate, " done."]))
    async with open_chat(server) as chat:
        chat.say("first")
        await chat.shown(lambda: bool(chat.page.session.turns) and bool(chat.page.session.turns[0].answers))
        chat.say("second")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())
        chat.press("editQueuedButton")
        await chat.shown(lambda: not chat.page.composer.queue.isVisible())
        assert chat.page.composer.text == "second"
        gate.open()
        await chat.answered(1)
        assert len(server.requests) == 1


async def test_a_message_that_is_taken_back_is_kept_as_a_draft_before_the_queue_forgets_it(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["Writing", gate, " done."]))
    async with open_chat(server) as chat:
        chat.say("first")
        await chat.shown(lambda: bool(chat.page.session.turns) and bool(chat.page.session.turns[0].answers))
        conversation_id = chat.page.session.id
        assert conversation_id is not None
        conversations = chat.core.conversations
        await conversations.set_queued(conversation_id, "second")
        assert await conversations.unqueue(conversation_id, "typed") == "second\n\ntyped"
        kept = await conversations.get(conversation_id)
        assert (kept.queued, kept.draft.text) == ("", "second\n\ntyped")
        gate.open()
        await chat.answered(1)
        assert len(server.requests) == 1


async def test_a_queued_message_can_be_dropped_and_the_drop_undone(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["Writing", gate, " done."]), "Sent after all.")
    async with open_chat(server) as chat:
        chat.say("first")
        await chat.shown(lambda: bool(chat.page.session.turns) and bool(chat.page.session.turns[0].answers))
        chat.say("second")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())
        chat.press("cancelQueuedButton")
        await chat.shown(lambda: not chat.page.composer.queue.isVisible())
        chat.press("chatUndoButton")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())
        gate.open()
        await chat.answered(2)
        assert chat.answer == "Sent after all."


async def test_stop_keeps_the_text_and_offers_to_go_on(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["Half an answer", gate, " and the rest."]), Turn(" and the rest, later."))
    async with open_chat(server) as chat:
        chat.say("a long one")
        await chat.shown(lambda: bool(chat.page.session.turns) and bool(chat.page.session.turns[0].answers))
        assert not chat.page.composer.send.isVisible()
        chat.press("stopButton")
        await chat.answered()

        assert chat.answer == "Half an answer"
        assert chat.last.end.words.text() == "Stopped. The text so far is kept."
        assert chat.find("retryButton").isEnabled()
        assert chat.page.composer.send.isVisible()
        chat.press("continueButton")
        await chat.shown(lambda: chat.page.session.turns[0].run is not None and _state(chat) is RunState.COMPLETED)
        assert not chat.last.end.isVisible()


def _state(chat: object) -> RunState:
    run = chat.page.session.turns[0].run  # type: ignore[attr-defined]
    assert run is not None
    return run.state


async def test_without_a_folder_the_composer_says_that_file_tools_are_off(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    project = tmp_path / "inkwell"
    project.mkdir()
    async with open_chat(server) as chat:
        assert chat.page.composer.note.isVisible()
        chat.dialogs.will(str(project))
        chat.press("chooseFolderButton") if not chat.page._welcomed else chat.page.composer.note.choose.click()
        await eventually(lambda: chat.page.session.project is not None)

        assert chat.page.composer.workspace.accessibleName().endswith("inkwell")
        assert not chat.page.composer.note.isVisible()
        server.script("Noted.")
        await chat.asked("what is here?")
        assert "read_file" in server.requests[0].tools
        assert chat.page.session.conversation is not None
        assert chat.page.session.conversation.project is not None


async def test_the_offline_assistant_has_no_meter_and_no_word_about_folders(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("anything?")
        assert chat.page.composer.model.shown == OFFLINE
        assert not chat.page.composer.meter.isVisible()
        assert not chat.page.composer.note.isVisible()


async def test_the_meter_says_how_full_the_window_is_and_of_what(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("Hello.")
    async with open_chat(server) as chat:
        await chat.asked("hello there")
        meter = chat.page.composer.meter
        await eventually(meter.isVisible)
        assert "System: " in meter.accessibleName()
        assert "History: " in meter.accessibleName()
        chat.press("contextMeter")
        assert meter.findChild(type(meter._popup), "contextParts") is not None


async def test_a_conversation_keeps_its_own_model(open_chat: OpenChat, server: OpenAIServer) -> None:
    async with open_chat(server) as chat:
        chat.page.composer.model.model_chosen.emit(OFFLINE)
        assert chat.page.composer.model.shown == OFFLINE
        await chat.asked("does anything match?")
        assert server.requests == []
        conversation = chat.page.session.conversation
        assert conversation is not None
        assert conversation.model == OFFLINE


async def test_escape_stops_a_running_reply_and_keeps_what_was_typed(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    async with open_chat(server) as chat:
        chat.say("count")
        await eventually(lambda: chat.page.composer.stop.isVisible() and bool(chat.page.transcript.blocks))
        await eventually(lambda: chat.answer == "One")
        stops: list[bool] = []
        chat.page.composer.stop_wanted.connect(lambda: stops.append(True))
        chat.write("and then")
        chat.page.composer.field.selectAll()
        QTest.keyClick(chat.page.composer.field, Qt.Key.Key_Escape)
        assert not stops  # with a selection Escape is not about the reply

        chat.page.composer.field.moveCursor(QTextCursor.MoveOperation.End)
        QTest.keyClick(chat.page.composer.field, Qt.Key.Key_Escape)
        await chat.answered()
        assert chat.last.turn.run is not None
        assert chat.last.turn.run.state is RunState.CANCELLED
        assert chat.page.composer.text == "and then"
