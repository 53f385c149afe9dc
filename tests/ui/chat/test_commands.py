"""Commands in the window: the card shows what would run to the letter, and the line what it prints meanwhile."""

import itertools
import json
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QPlainTextEdit

from devflow.domain.run import CallState
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.tool_line import LiveOutput, ToolLine, WrappedCode
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.support.processes import marked, new_mark
from tests.ui.chat.conftest import Chat, OpenChat, eventually


def shell(line: str, **arguments: Any) -> Call:
    return Call("run_command", {"shell": line, **arguments})


def command(*words: str, **arguments: Any) -> Call:
    return Call("run_command", {"command": list(words), **arguments})


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


async def asks(chat: Chat, folder: Path) -> ApprovalCard:
    chat.page.acts.set_project(await chat.core.projects.ensure(_made(folder)))
    chat.say("run it")
    await chat.waits_for_decision()
    card = chat.page.transcript.card()
    assert card is not None
    return card


def words_of(card: ApprovalCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(QLabel))


def line_of(card: ApprovalCard) -> str:
    return card.findChild(WrappedCode).toPlainText()


def live(chat: Chat) -> str:
    """What the last turn shows of a running command."""
    shown = chat.last.findChild(LiveOutput)
    return shown.text if shown is not None and shown.isVisible() else ""


async def test_the_card_shows_the_exact_words_the_folder_and_the_program(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "p" / "sub").mkdir(parents=True)
    server.script(Turn("", calls=[command("echo", "a b", "$(rm x)", folder="sub", timeout=30)]))
    async with open_chat(server) as chat:
        card = await asks(chat, tmp_path / "p")
        assert card.accessibleName() == "Wants to run a command: echo 'a b' '$(rm x)'"
        assert line_of(card) == "echo 'a b' '$(rm x)'"
        words = words_of(card)
        assert str(tmp_path / "p" / "sub") in words
        assert "echo, without a shell" in words
        assert "30 seconds" in words
        assert "Runs" in words.splitlines()


async def test_the_card_of_a_shell_line_says_who_reads_it(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    line = "git status\n" + " " * 400 + "; rm -rf x # \u202e\x1b[2K"
    server.script(Turn("", calls=[shell(line)]))
    async with open_chat(server) as chat:
        card = await asks(chat, tmp_path / "p")
        assert card.accessibleName().startswith("Wants to run a shell line: git status ; rm -rf x # \\u202e\\x1b[2K")
        assert line_of(card) == line.replace("\u202e", "\\u202e").replace("\x1b", "\\x1b")
        assert "A shell (/bin/sh)" in words_of(card)
        shown = card.findChild(WrappedCode)
        # Nothing of it is to the right of what is seen, or above or below.
        assert shown.horizontalScrollBar().maximum() == 0
        await eventually(lambda: shown.verticalScrollBar().maximum() == 0)


async def test_edited_words_are_shown_again_before_they_run(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[command("echo", "one")]), "Done.")
    async with open_chat(server) as chat:
        card = await asks(chat, tmp_path / "p")
        chat.press("editArgumentsButton")
        field = chat.find("argument_command", QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setPlainText(json.dumps(["no-such-program"]))
        chat.press("approveButton")
        await eventually(card.foot.problem.isVisible)
        field.setPlainText(json.dumps(["echo", "two"]))
        chat.press("approveButton")
        await chat.shown(lambda: card.call.edited)
        assert line_of(card) == "echo two"
        chat.press("approveButton")
        await chat.answered()
        line = chat.last.findChild(ToolLine)
        assert line.call.result.endswith("two")
        assert '["echo", "two"]' in server.requests[1].tool_results[0]


async def test_output_is_shown_while_it_runs_and_folds_when_it_is_done(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    wait = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; while [ ! -e end ]; do sleep 0.02; done; exit 4"
    server.script(Turn("", calls=[shell(wait)]), "Done.")
    async with open_chat(server) as chat:
        await asks(chat, tmp_path / "p")
        chat.press("approveButton")
        await eventually(lambda: live(chat) == "one")
        (tmp_path / "p" / "go").touch()
        await eventually(lambda: live(chat) == "one\ntwo")
        (tmp_path / "p" / "end").touch()
        await chat.answered()
        line = chat.last.findChild(ToolLine)
        assert line.call.state is CallState.DONE
        assert chat.last.findChild(LiveOutput) is None or live(chat) == ""
        assert "Exit code 4" in line.head.accessibleName()
        assert line.head.text() == f"Run {wait}"


async def test_output_is_there_again_after_looking_at_another_conversation(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    mark = new_mark()
    server.script(Turn("", calls=[shell(f"echo begun; sleep {mark}")]))
    async with open_chat(server) as chat:
        await asks(chat, tmp_path / "p")
        chat.press("approveButton")
        await eventually(lambda: live(chat) == "begun")
        first = chat.page.session.id
        assert first is not None
        chat.page.start_new()
        chat.page.session.open(first)
        await eventually(lambda: bool(chat.page.transcript.blocks) and live(chat) == "begun")
        chat.press("stopButton")
        await chat.answered()
        assert chat.last.findChild(ToolLine).call.state is CallState.CANCELLED
        assert "Stopped" in chat.last.findChild(ToolLine).head.accessibleName()
        assert marked(mark) == []


async def test_a_reader_who_scrolled_up_in_the_output_is_left_there(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    wait = "seq 40; while [ ! -e go ]; do sleep 0.02; done; echo more; while [ ! -e end ]; do sleep 0.02; done"
    server.script(Turn("", calls=[shell(wait)]), "Done.")
    async with open_chat(server) as chat:
        await asks(chat, tmp_path / "p")
        chat.press("approveButton")
        await eventually(lambda: live(chat).endswith("40"))
        bar = chat.last.findChild(LiveOutput).findChild(QPlainTextEdit).verticalScrollBar()
        await eventually(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
        bar.setValue(3)
        (tmp_path / "p" / "go").touch()
        await eventually(lambda: live(chat).endswith("more"))
        assert bar.value() == 3
        (tmp_path / "p" / "end").touch()
        await chat.answered()


async def test_endless_output_does_not_hold_up_the_window(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[command("yes", timeout=2)]), "Done.")
    async with open_chat(server) as chat:
        await asks(chat, tmp_path / "p")
        beats: list[float] = []
        timer = QTimer()
        timer.setInterval(5)
        timer.timeout.connect(lambda: beats.append(time.perf_counter()))
        chat.press("approveButton")
        await eventually(lambda: live(chat) != "")
        timer.start()
        await chat.answered()
        timer.stop()
        gaps = sorted(later - earlier for earlier, later in itertools.pairwise(beats))
        assert len(beats) > 100
        assert gaps[int(len(gaps) * 0.99)] < 0.05
        assert gaps[-1] < 0.25


async def test_quitting_while_a_command_runs_is_quick_and_leaves_nothing(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    mark = new_mark()
    server.script(
        Turn("", calls=[shell(f"trap '' TERM; setsid sleep {mark} & echo begun; sleep {mark}; sleep {mark}")])
    )
    async with open_chat(server) as chat:
        await asks(chat, tmp_path / "p")
        chat.press("approveButton")
        await eventually(lambda: live(chat) == "begun")
        began = time.monotonic()
    assert time.monotonic() - began < 2
    assert marked(mark) == []
