"""The transcript: what is said appears where the reader is, and nothing but the reader moves the page."""

import asyncio

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from devflow.domain.conversation import Role
from devflow.domain.run import RunState
from devflow.store import conversations as rows
from devflow.store.database import Unit
from devflow.ui.pages.chat.composer_field import ComposerField
from devflow.ui.pages.chat.lines import WaitingLine
from devflow.ui.pages.chat.turn_block import TurnBlock
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.ui.chat.conftest import Chat, OpenChat, eventually

LONG = "\n\n".join(f"Paragraph {number} of an answer that is longer than the window." for number in range(60))


async def conversation_of(chat: Chat, turns: int) -> str:
    """A conversation of so many questions and answers, written as rows."""
    made = await chat.core.conversations.create()

    def work(unit: Unit) -> None:
        parent = None
        for number in range(turns):
            for role, text in ((Role.USER, f"Question {number}"), (Role.ASSISTANT, f"Answer {number}, in *short*.")):
                message = rows.insert_message(unit, conversation_id=made.id, parent_id=parent, role=role, content=text)
                rows.move_leaf(unit, made.id, before=parent, to=message.id)
                parent = message.id
        rows.set_fields(unit, made.id, title="A long one")

    await chat.core.db.write(work)
    return made.id


async def test_text_streams_in_with_a_caret_and_ends_without_one(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One **two**", gate, " three."]))
    async with open_chat(server) as chat:
        chat.say("count")
        await chat.shown(lambda: bool(chat.page.session.turns) and bool(chat.page.session.turns[0].answers))
        view = next(iter(chat.last.answers.values())).text
        assert view is not None
        await eventually(lambda: "two" in view.toPlainText())
        assert view.streaming
        gate.open()
        await chat.answered()
        assert not view.streaming
        assert view.toPlainText() == "One two three."


async def test_the_view_follows_the_end_only_while_the_reader_is_there(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    gate, second = Gate(), Gate()
    server.script(Turn([LONG, gate, "\n\nMore text.", second, "\n\nThe end."]))
    async with open_chat(server) as chat:
        transcript = chat.page.transcript
        bar = transcript.verticalScrollBar()
        chat.say("tell me much")
        await eventually(lambda: bar.maximum() > 500 and bar.value() == bar.maximum())
        assert transcript.following

        bar.setValue(200)
        assert not transcript.following
        gate.open()
        await eventually(lambda: "More text" in chat.answer and not transcript.pill.isHidden())
        assert bar.value() == 200

        QTest.mouseClick(transcript.pill, Qt.MouseButton.LeftButton)
        assert bar.value() == bar.maximum()
        second.open()
        await chat.answered()
        await eventually(lambda: bar.value() == bar.maximum())
        assert transcript.pill.isHidden()


async def test_completion_does_not_move_what_is_being_read(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn([LONG, gate, "\n\nThe end."]))
    async with open_chat(server) as chat:
        bar = chat.page.transcript.verticalScrollBar()
        chat.say("tell me much")
        await eventually(lambda: bar.maximum() > 500)
        bar.setValue(300)
        top = chat.last.mapTo(chat.page.transcript, chat.last.rect().topLeft()).y()
        gate.open()
        await chat.answered()
        await chat.desktop.tasks.settled()
        assert chat.last.mapTo(chat.page.transcript, chat.last.rect().topLeft()).y() == top


async def test_the_newest_hundred_messages_are_loaded_and_older_ones_on_scroll(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        transcript = chat.page.transcript
        await chat.page.session.open(await conversation_of(chat, 90))
        await eventually(lambda: len(transcript.blocks) == 50)
        assert transcript.blocks[-1].turn.user.content == "Question 89"
        bar = transcript.verticalScrollBar()
        await eventually(lambda: bar.maximum() > 2000 and bar.value() == bar.maximum())

        bar.setValue(400)
        assert not transcript.following
        first = transcript.blocks[0]
        top = _top(transcript, first)
        await eventually(lambda: len(transcript.blocks) >= 70)
        await eventually(lambda: _top(transcript, first) == top)


async def test_a_message_found_far_back_is_shown_at_once(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        transcript = chat.page.transcript
        long_one = await conversation_of(chat, 300)
        path = await chat.core.conversations.path(long_one)
        wanted = path.messages[100]
        await chat.page.session.open(long_one, wanted.id)
        await eventually(lambda: transcript.block_of(wanted.id) is not None)
        block = transcript.block_of(wanted.id)
        assert block is not None
        await eventually(lambda: 0 <= _top(transcript, block) < transcript.height())


async def test_an_answer_can_be_asked_for_again_and_both_stay(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("First answer.", "Second answer.")
    async with open_chat(server) as chat:
        await chat.asked("why?")
        chat.press("regenerateButton")
        await chat.shown(lambda: chat.answer == "Second answer." and not chat.last.turn.open_run)
        assert chat.last.answer_siblings.words.text() == "2/2"
        chat.press("previousSibling")
        await chat.shown(lambda: chat.answer == "First answer.")
        assert chat.last.answer_siblings.words.text() == "1/2"


async def test_an_edited_question_is_an_alternative_and_destroys_nothing(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script("About cats.", "About dogs.")
    async with open_chat(server) as chat:
        await chat.asked("cats?")
        chat.last.user.edit()
        field = chat.find("editMessageField", ComposerField)
        assert isinstance(field, ComposerField)
        field.set_text("dogs?")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await chat.shown(lambda: chat.answer == "About dogs." and not chat.last.turn.open_run)
        assert chat.last.turn.user.content == "dogs?"
        assert chat.last.user_siblings.words.text() == "2/2"
        chat.press("previousSibling")
        await chat.shown(lambda: chat.last.turn.user.content == "cats?")
        assert chat.answer == "About cats."


async def test_escape_leaves_the_editor_and_the_question_as_it_was(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("cats?")
        chat.last.user.edit()
        QTest.keyClick(chat.find("editMessageField"), Qt.Key.Key_Escape)
        assert not chat.last.user.editing
        assert len(chat.page.session.turns) == 1


async def test_branching_opens_a_new_conversation_with_the_path_so_far(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script("One.", "Two.")
    async with open_chat(server) as chat:
        await chat.asked("first")
        await chat.asked("second")
        old = chat.page.session.id
        first = chat.page.transcript.blocks[0]
        first._branch_answer()
        await chat.shown(lambda: chat.page.session.id != old and len(chat.page.session.turns) == 1)
        assert chat.answer == "One."


async def test_a_dead_server_is_a_clear_sentence_with_retry(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script(Turn(status=401, error="no such key"), "Now it works.")
    async with open_chat(server) as chat:
        await chat.asked("hello?")
        assert chat.last.turn.run is not None
        assert chat.last.turn.run.state is RunState.FAILED
        assert len(chat.last.end.words.text()) > 10
        assert chat.last.end.hint.text() != ""
        assert chat.find("openProvidersButton").isVisible()
        chat.press("retryButton")
        await chat.shown(lambda: chat.answer == "Now it works." and not chat.last.turn.open_run)
        assert not chat.last.end.isVisible()


async def test_a_regeneration_that_fails_leaves_the_answer_with_the_failure_and_retry_below(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script("First.", Turn(status=400, error="no"), "Second.")
    async with open_chat(server) as chat:
        await chat.asked("why?")
        chat.press("regenerateButton")
        await chat.shown(lambda: not chat.last.turn.open_run and chat.last.end.isVisible() and chat.answer == "First.")
        assert chat.last.turn.run is not None
        assert chat.last.turn.run.state is RunState.FAILED
        assert not _is_shown(chat, "continueButton")
        chat.press("retryButton")
        await chat.shown(lambda: chat.answer == "Second." and not chat.last.turn.open_run)
        assert not chat.last.end.isVisible()
        assert chat.last.answer_siblings.words.text() == "2/2"


async def test_a_run_that_a_limit_has_ended_asks_on_a_card_whether_to_go_on(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    same = Turn("", calls=[Call("knowledge_search", {"query": "lock"})])
    server.script(same, same, same, "At last.")
    async with open_chat(server) as chat:
        await chat.asked("find it")
        end = chat.last.end
        assert end.words.text() == "The run stopped: the model asked for the same tool call 3 times in a row."
        assert end.frame.property("role") == "card"
        assert not _is_shown(chat, "retryButton")
        chat.press("continueButton")
        await chat.shown(lambda: chat.answer == "At last." and not chat.last.turn.open_run)
        assert not end.isVisible()


def _is_shown(chat: Chat, name: str) -> bool:
    return any(each.isVisible() for each in chat.page.findChildren(QWidget, name))


async def test_thinking_is_folded_and_unfolds(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script(Turn("It is four.", reasoning="Two and two make four."))
    async with open_chat(server) as chat:
        await chat.asked("two and two?")
        fold = chat.find("thinking")
        assert "make four" not in chat.answer
        QTest.mouseClick(fold, Qt.MouseButton.LeftButton)
        thought = next(iter(chat.last.answers.values()))._thought
        assert thought is not None
        assert thought.toPlainText() == "Two and two make four."


async def test_copying_an_answer_gives_its_markdown(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("It is **four**.")
    async with open_chat(server) as chat:
        await chat.asked("two and two?")
        chat.press("copyAnswerButton")
        assert QGuiApplication.clipboard().text() == "It is **four**."


async def test_a_message_saved_as_a_candidate_is_offered_to_be_opened(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script("Take the write lock first.")
    async with open_chat(server) as chat:
        await chat.asked("how?")
        chat.last._save_answer()
        await eventually(chat.page.toast.isVisible)
        assert chat.page.toast.words.text() == "Saved to the inbox"
        assert chat.page.toast.button.text() == "Open"
        waiting = await chat.core.knowledge.knowledge_list_candidates()
        assert [entry.content for entry in waiting.entries] == ["Take the write lock first."]


async def test_leaving_a_streaming_conversation_and_coming_back_shows_all_of_it(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["First part.", gate, " Last part."]))
    async with open_chat(server) as chat:
        chat.say("tell")
        await eventually(lambda: bool(chat.page.transcript.blocks) and chat.answer == "First part.")
        streaming = chat.page.session.id
        assert streaming is not None
        chat.page.start_new()
        await chat.page.session.open(streaming)
        assert chat.answer == "First part."
        gate.open()
        await chat.answered()
        assert chat.answer == "First part. Last part."


async def test_what_a_human_typed_keeps_its_lines_and_cites_nothing(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.page.composer.field.set_text("one\ntwo [K1]")
        chat.enter()
        await chat.answered()
        assert chat.last.user.text.toPlainText().replace("\u2028", "\n") == "one\ntwo [K1]"


async def test_acts_come_by_keyboard_too(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("anything?")
        chat.last.user.setFocus(Qt.FocusReason.ShortcutFocusReason)
        await asyncio.sleep(0)
        assert chat.last.user_acts.isVisible()
        names = [button.accessibleName() for button in chat.last.user_acts.buttons.values()]
        assert names == ["Copy", "Edit and send again", "Save as candidate", "Branch from here"]


async def test_a_question_waits_with_a_quiet_line_until_the_first_words(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    before, after = Gate(), Gate()
    server.script(Turn(["One", after, " two."], before=before))
    async with open_chat(server) as chat:
        chat.say("count")
        await eventually(lambda: _waiting(chat) == ["Waiting for the first words…"])
        below = chat.last.user.geometry().bottom()
        assert chat.find("waitingLine").mapTo(chat.last, QPoint(0, 0)).y() > below
        before.open()
        await eventually(lambda: chat.answer == "One")
        assert _waiting(chat) == []
        after.open()
        await chat.answered()
        assert _waiting(chat) == []


async def test_the_quiet_line_goes_when_the_answer_fails(open_chat: OpenChat, server: OpenAIServer) -> None:
    before = Gate()
    server.script(Turn(status=400, before=before))
    async with open_chat(server) as chat:
        chat.say("count")
        await eventually(lambda: bool(_waiting(chat)))
        before.open()
        await chat.answered()
        assert chat.last.turn.run is not None
        assert chat.last.turn.run.state is RunState.FAILED
        assert _waiting(chat) == []


def _waiting(chat: Chat) -> list[str]:
    return [line.text() for line in chat.page.findChildren(WaitingLine) if line.isVisible()]


def _top(transcript: QWidget, block: TurnBlock) -> int:
    return block.mapTo(transcript, block.rect().topLeft()).y()
