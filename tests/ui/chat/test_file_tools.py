"""Editing and searching in the window: the card, the line, and characters that nobody sees."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from devflow.domain.run import CallState
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.tool_line import CodeText, ToolLine
from devflow.ui.widgets import CodeDiff, NoticeStrip
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.ui.chat.conftest import Chat, OpenChat


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "p"
    made.mkdir()
    (made / "engine.py").write_text("one\ntwo\nthree\n")
    return made


async def ask(chat: Chat, folder: Path) -> ApprovalCard:
    chat.page.acts.set_project(await chat.core.projects.ensure(folder))
    chat.say("go on")
    await chat.waits_for_decision()
    card = chat.page.transcript.card()
    assert card is not None
    return card


async def test_an_edit_is_shown_as_its_diff_and_done_as_shown(
    open_chat: OpenChat, server: OpenAIServer, folder: Path
) -> None:
    edit = Call("edit_file", {"path": "engine.py", "old_text": "two", "new_text": "2"})
    server.script(Turn(calls=[edit]), "Done.")
    async with open_chat(server) as chat:
        card = await ask(chat, folder)
        assert card.accessibleName() == "Wants to edit a file: engine.py"
        diff = card.findChild(CodeDiff)
        assert diff is not None
        assert (diff.added, diff.removed) == (1, 1)
        chat.press("approveButton")
        await chat.answered()
        assert (folder / "engine.py").read_text() == "one\n2\nthree\n"
        line = chat.last.findChildren(ToolLine)[-1]
        assert line.head.text() == "Edit engine.py"


async def test_a_search_is_a_line_with_what_was_looked_for_and_how_much_was_found(
    open_chat: OpenChat, server: OpenAIServer, folder: Path
) -> None:
    search = Call("search_files", {"pattern": "t[wh]", "regex": True, "glob": "*.py"})
    server.script(Turn(calls=[search]), "Found.")
    async with open_chat(server) as chat:
        chat.page.acts.set_project(await chat.core.projects.ensure(folder))
        chat.say("look")
        await chat.answered()
        line = chat.last.findChildren(ToolLine)[-1]
        assert line.call.state is CallState.DONE
        assert line.head.accessibleName().startswith("Search t[wh] · *.py, 2 matching lines")


async def test_hidden_characters_are_spelled_on_the_card_and_in_the_line(
    open_chat: OpenChat, server: OpenAIServer, folder: Path
) -> None:
    content = "one\nsafe\u202e)(live\u2028\\ hidden()\ntwo\n"
    write = Call("write_file", {"path": "engine\u202eyp.py", "content": content})
    server.script(Turn(calls=[write]), "Done.")
    async with open_chat(server) as chat:
        card = await ask(chat, folder)
        assert card.accessibleName() == "Wants to create a file: engine\\u202eyp.py"
        diff = card.findChild(CodeDiff)
        assert diff is not None
        assert "safe\\u202e)(live\\u2028\\ hidden()" in diff.toPlainText()
        assert diff.added == 3
        chat.press("denyButton")
        await chat.answered()
        line = chat.last.findChildren(ToolLine)[-1]
        QTest.mouseClick(line.head, Qt.MouseButton.LeftButton)
        arguments = line.findChildren(CodeText)[0].toPlainText()
        assert "\\u202e" in arguments
        assert "\u202e" not in arguments


async def test_a_file_with_several_names_is_read_only_when_the_card_is_allowed(
    open_chat: OpenChat, server: OpenAIServer, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.txt").write_text("from elsewhere\n")
    (folder / "notes.txt").hardlink_to(tmp_path / "elsewhere.txt")
    server.script(Turn(calls=[Call("read_file", {"path": "notes.txt"})]), "Read.")
    async with open_chat(server) as chat:
        card = await ask(chat, folder)
        assert card.accessibleName() == "Wants to read a file: notes.txt"
        notices = [strip.words.text() for strip in card.findChildren(NoticeStrip) if strip.isVisibleTo(card)]
        assert notices == ["This file has several names (hard links). Another one may lie outside the project folder."]
        chat.press("approveButton")
        await chat.answered()
        assert "from elsewhere" in server.requests[1].tool_results[0]
