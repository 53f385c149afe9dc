"""`/` in the composer: commands are offered while one types, run by Enter, and leave nothing in the conversation."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QListView

from devflow.domain.conversation import OFFLINE
from devflow.domain.events import KnowledgeSearchStart
from devflow.ui.pages.chat.command_note import CommandNote
from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.support import hands
from tests.support.pages import ARTICLES, write
from tests.ui.chat.conftest import Chat, OpenChat, eventually
from tests.ui.chat.test_kb import open_base, picker

Key = Qt.Key
SKILL = "---\nname: haiku\ndescription: Answer in three lines\n---\n\nAnswer as a haiku.\n"


def offered(chat: Chat) -> list[str]:
    popup = chat.page.completion.popup
    if not popup.isVisible():
        return []
    return [str(popup.model.index(row, 0).data()) for row in range(popup.model.rowCount())]


def chosen(chat: Chat) -> str:
    current = chat.page.completion.popup.current
    return current.text if current is not None and offered(chat) else ""


def press(chat: Chat, key: Key) -> None:
    QTest.keyClick(chat.page.composer.field, key)


async def typed(chat: Chat, text: str) -> None:
    await eventually(lambda: hands.reach(chat.page.composer.field))
    chat.write(text)


def note(chat: Chat) -> CommandNote:
    return chat.page.composer.command_note


def said(chat: Chat) -> str:
    return note(chat).words.text() if note(chat).isVisible() else ""


def acts(chat: Chat) -> list[str]:
    return [button.text() for button in note(chat).acts if button.isVisible()]


def act(chat: Chat, words: str) -> None:
    button = next(button for button in note(chat).acts if button.text() == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def journal(chat: Chat) -> list[dict[str, object]]:
    files = sorted((chat.core.paths.logs / "retrieval").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.fixture
def two_models() -> Iterator[OpenAIServer]:
    with OpenAIServer(models=["llama-8b", "qwen3-coder"], context_window=32_000) as running:
        yield running


async def test_a_slash_at_the_beginning_offers_every_command_with_what_it_does(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await typed(chat, "/")
        assert {"/new", "/export", "/model", "/kb", "/help"} <= set(offered(chat))
        popup = chat.page.completion.popup
        told = [popup.model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(5)]
        assert "/new, Start a new conversation" in told
        assert popup.accessibleName() == "Commands"


async def test_what_is_typed_filters_and_the_best_one_is_chosen(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await typed(chat, "/")
        press(chat, Key.Key_Down)
        await typed(chat, "k")
        assert (offered(chat), chosen(chat)) == (["/kb"], "/kb")
        await typed(chat, "zz")
        assert offered(chat) == []


@pytest.mark.parametrize("text", ["/usr/x", "a /new", "/ "])
async def test_anywhere_else_a_slash_is_just_a_slash(open_chat: OpenChat, text: str) -> None:
    async with open_chat() as chat:
        await typed(chat, text)
        assert offered(chat) == []


async def test_a_path_is_sent_as_the_message_that_it_is(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("/usr/x is a path")
        assert chat.page.session.turns[-1].user.content == "/usr/x is a path"


async def test_tab_writes_the_name_and_enter_on_it_runs_the_command(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        before = chat.page.session.id
        await typed(chat, "/ne")
        press(chat, Key.Key_Tab)
        assert chat.page.composer.text == "/new "
        chat.enter()
        await chat.shown(lambda: chat.page.session.id != before)
        assert (chat.page.session.turns, chat.page.composer.text) == ((), "")


async def test_new_with_words_asks_them_in_a_new_conversation(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        before = chat.page.session.id
        chat.say("/new What is next?")
        await chat.shown(lambda: len(chat.page.session.turns) == 1 and chat.page.session.id != before)
        await chat.answered()
        assert chat.page.session.turns[0].user.content == "What is next?"
        assert before is not None
        assert [each.content for each in (await chat.core.conversations.path(before)).messages][:1] == ["first"]
        assert (await chat.core.conversations.get(before)).draft.text == ""


async def test_escape_puts_the_commands_away_and_the_text_stays(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await typed(chat, "/ex")
        press(chat, Key.Key_Escape)
        await typed(chat, "p")
        assert (offered(chat), chat.page.composer.text) == ([], "/exp")


async def test_an_input_method_composes_behind_the_slash_and_its_enter_runs_nothing(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await typed(chat, "/")
        shown = offered(chat)
        field = chat.page.composer.field
        QCoreApplication.sendEvent(field, QInputMethodEvent("xin", []))
        press(chat, Key.Key_Return)
        press(chat, Key.Key_Down)
        assert (chat.page.composer.text, offered(chat), chosen(chat)) == ("/", shown, shown[0])
        ended = QInputMethodEvent("", [])
        ended.setCommitString("new")
        QCoreApplication.sendEvent(field, ended)
        press(chat, Key.Key_Return)
        assert chat.page.composer.text == "/new"
        assert chosen(chat) == "/new"


async def test_a_click_takes_a_command_and_the_keyboard_stays_in_the_text(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await typed(chat, "/mo")
        view = chat.find("completionList", QListView)
        assert isinstance(view, QListView)
        middle = view.visualRect(view.model().index(0, 0)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
        assert chat.page.composer.text == "/model "
        assert chat.page.composer.field.hasFocus()
        assert offered(chat) == ["Offline assistant"]


async def test_a_model_is_chosen_by_a_part_of_its_name(open_chat: OpenChat, two_models: OpenAIServer) -> None:
    async with open_chat(two_models) as chat:
        chat.say("/model qwen")
        await eventually(lambda: chat.page.composer.model.shown.model == "qwen3-coder")
        assert chat.page.composer.text == ""
        chat.say("/model OFFLINE")
        await eventually(lambda: chat.page.composer.model.shown == OFFLINE)
        assert two_models.requests == []


async def test_models_are_offered_and_the_one_in_use_is_chosen_first(
    open_chat: OpenChat, two_models: OpenAIServer
) -> None:
    async with open_chat(two_models) as chat:
        await typed(chat, "/model ")
        assert offered(chat) == ["llama-8b", "qwen3-coder", "Offline assistant"]
        assert chosen(chat) == "llama-8b"
        press(chat, Key.Key_Down)
        press(chat, Key.Key_Return)
        await eventually(lambda: chat.page.composer.model.shown.model == "qwen3-coder")
        assert chat.page.composer.text == ""


async def test_a_model_that_is_not_there_is_said_and_the_text_stays(
    open_chat: OpenChat, two_models: OpenAIServer
) -> None:
    async with open_chat(two_models) as chat:
        chat.say("/model gpt")
        await eventually(lambda: bool(said(chat)))
        assert chat.page.composer.text == "/model gpt"
        assert "gpt" in said(chat)
        assert acts(chat) == ["/model llama-8b", "/model qwen3-coder", "/model offline"]
        act(chat, "/model qwen3-coder")
        assert (chat.page.composer.text, said(chat)) == ("/model qwen3-coder", "")
        chat.enter()
        await eventually(lambda: chat.page.composer.model.shown.model == "qwen3-coder")


async def test_a_knowledge_base_is_chosen_by_its_name(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await open_base(chat, write(tmp_path / "cats", {"wiki/cats.md": "# Cats"}))
        await eventually(lambda: len(picker(chat).bases) == 2)
        await typed(chat, "/kb ")
        assert set(offered(chat)) == {"cats", "writing", "No knowledge base"}
        assert chosen(chat) == "cats"
        await typed(chat, "wri")
        press(chat, Key.Key_Return)
        await eventually(lambda: picker(chat).accessibleName().endswith(": writing"))
        chat.say("/kb none")
        await eventually(lambda: picker(chat).accessibleName().endswith(": No KB"))


async def test_of_two_bases_of_one_name_each_can_be_meant(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        for parent in ("work", "home"):
            folder = write(tmp_path / parent / "notes", {"wiki/a.md": "# A"})
            await chat.core.bases.open(folder)
        await eventually(lambda: len(picker(chat).bases) == 2)
        await typed(chat, "/kb notes")
        assert set(offered(chat)) == {"notes (home)", "notes (work)"}
        press(chat, Key.Key_Escape)
        chat.enter()
        await eventually(lambda: set(acts(chat)) == {"/kb notes (work)", "/kb notes (home)"})
        act(chat, "/kb notes (home)")
        chat.enter()
        await eventually(lambda: chat.page.session.base is not None)
        assert chat.page.session.base is not None
        assert chat.page.session.base.path == str(tmp_path / "home" / "notes")


async def test_help_shows_commands_skills_and_keys(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        seen: list[str] = []

        def look(dialog: QDialog) -> int:
            seen.append(dialog.objectName())
            return 1

        chat.dialogs.will(look)
        chat.say("/help")
        await eventually(lambda: seen == ["commandSheet"])
        assert chat.page.composer.text == ""


async def test_an_unknown_command_is_said_beside_the_text_and_sent_to_nobody(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    async with open_chat(server) as chat:
        chat.say("/pdf")
        await eventually(lambda: bool(said(chat)))
        assert said(chat) == "/pdf is no command here."
        assert acts(chat) == ["/export pdf", "Send as a message"]
        assert (chat.page.composer.text, server.requests, chat.page.session.turns) == ("/pdf", [], ())
        await typed(chat, "x")
        assert said(chat) == ""


async def test_tab_leads_from_the_text_to_what_can_be_done_about_it(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await typed(chat, "/pdf")
        chat.enter()
        await eventually(lambda: len(acts(chat)) == 2)
        press(chat, Key.Key_Tab)
        assert note(chat).acts[0].hasFocus()
        QTest.keyClick(note(chat).acts[0], Key.Key_Tab)
        assert note(chat).acts[1].hasFocus()
        QTest.keyClick(note(chat).acts[1], Key.Key_Space)
        await chat.answered()
        assert chat.page.session.turns[-1].user.content == "/pdf"


async def test_a_misspelt_command_is_offered_as_it_is_spelt(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.say("/exprot html")
        await eventually(lambda: bool(said(chat)))
        assert acts(chat)[0] == "/export"
        act(chat, "/export")
        assert chat.page.composer.text == "/export html"
        assert chat.page.composer.field.hasFocus()


async def test_what_stood_behind_a_misspelt_command_is_never_lost(open_chat: OpenChat) -> None:
    text = "and much that I have thought about"
    async with open_chat() as chat:
        chat.say(f"/sedimnt {text}")
        await eventually(lambda: bool(said(chat)))
        act(chat, "/sediment")
        assert chat.page.composer.text == f"/sediment {text}"
        chat.enter()
        await eventually(lambda: said(chat) == "/sediment takes nothing behind it.")
        assert chat.page.composer.text == f"/sediment {text}"
        act(chat, "Send as a message")
        await chat.answered()
        assert chat.page.session.turns[-1].user.content == f"/sediment {text}"


async def test_where_nothing_comes_near_the_commands_can_be_looked_at(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.say("/qqq text")
        await eventually(lambda: acts(chat) == ["/help", "Send as a message"])
        chat.dialogs.will(1)
        act(chat, "/help")
        await eventually(lambda: chat.dialogs.asked[-1:] == [("run", "Commands and keys")])
        assert chat.page.composer.text == "/qqq text"


async def test_it_can_be_sent_as_a_message_all_the_same(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("A format.")
    async with open_chat(server) as chat:
        chat.say("/pdf what is it?")
        await eventually(lambda: bool(said(chat)))
        act(chat, "Send as a message")
        await chat.answered()
        assert chat.page.session.turns[-1].user.content == "/pdf what is it?"
        assert (chat.page.composer.text, said(chat)) == ("", "")


async def test_words_behind_a_command_that_takes_none_are_not_lost(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.say("/help me with this")
        await eventually(lambda: bool(said(chat)))
        assert chat.page.composer.text == "/help me with this"
        assert acts(chat) == ["Send as a message"]


async def test_a_skill_is_a_command_and_what_follows_is_the_message(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("An old silent pond.")
    async with open_chat(server) as chat:
        write(chat.core.paths.home / "skills", {"haiku/SKILL.md": SKILL})
        await typed(chat, "/")  # it was written after the window was opened
        await eventually(lambda: "/haiku" in offered(chat))
        await typed(chat, "hai")
        assert offered(chat) == ["/haiku"]
        press(chat, Key.Key_Return)
        assert chat.page.composer.text == "/haiku "
        chat.say("Tell me of frogs.")
        await chat.answered()
        assert chat.page.session.turns[-1].user.content == "Tell me of frogs."
        sent = server.requests[-1].body["messages"]
        assert "Answer as a haiku." in sent[0]["content"]
        assert sent[-1]["content"] == "Tell me of frogs."


async def test_commands_work_while_an_answer_is_written_and_touch_it_not(
    open_chat: OpenChat, two_models: OpenAIServer
) -> None:
    gate = Gate()
    two_models.script(Turn(["one ", gate, "two"]))
    async with open_chat(two_models) as chat:
        chat.say("count")
        await chat.shown(lambda: bool(chat.page.session.turns) and chat.page.session.turns[-1].working)
        chat.say("/model qwen")
        await eventually(lambda: chat.page.composer.model.shown.model == "qwen3-coder")
        chat.say("/pdf")
        await eventually(lambda: bool(said(chat)))
        assert not chat.page.composer.queue.isVisible()
        gate.open()
        await chat.answered()
        assert chat.answer == "one two"


async def test_a_command_is_no_message_and_the_log_says_that_nothing_was_looked_up(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    """Scenario 5 of the seed (§8)."""
    server.script("你好！", "scripted", "done")
    async with open_chat(server) as chat:
        told: list[object] = []
        chat.core.hub.subscribe(told.append)
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("你好。")
        await chat.asked("当前模型是什么？")
        chat.say("/model scripted")
        await eventually(lambda: len(journal(chat)) == 3)
        assert [line["triggered"] for line in journal(chat)] == [False, False, False]
        assert [line["messagePreview"] for line in journal(chat)] == ["你好。", "当前模型是什么？", "/model scripted"]
        assert journal(chat)[-1]["sessionId"] == chat.page.session.id
        assert not any(isinstance(event, KnowledgeSearchStart) for event in told)
        await chat.asked("再见")
        assert "/model" not in json.dumps(server.requests[-1].body["messages"])
        assert [turn.user.content for turn in chat.page.session.turns] == ["你好。", "当前模型是什么？", "再见"]


async def test_sediment_writes_a_page_and_offers_to_open_it(open_chat: OpenChat, tmp_path: Path) -> None:
    folder = write(tmp_path / "writing", ARTICLES)
    async with open_chat() as chat:
        await open_base(chat, folder)
        await chat.asked("多agent团队怎么分工")
        before = len(chat.page.session.turns)
        chat.say("/sediment")
        await eventually(lambda: said(chat).startswith("Page written: "))
        assert (chat.page.composer.text, len(chat.page.session.turns)) == ("", before)
        assert acts(chat) == ["Open the page"]
        (page,) = made(folder)
        assert "多agent团队怎么分工" in page.read_text(encoding="utf-8")
        assert [line["triggered"] for line in journal(chat) if line["messagePreview"] == "/sediment"] == [False]
        chat.say("/sediment")
        await eventually(lambda: said(chat).startswith("Nothing new since the page was written: "))
        assert made(folder) == [page]


def made(folder: Path) -> list[Path]:
    return [file for file in (folder / "wiki/synthesis/sessions").iterdir() if file.name not in OWN]


OWN = {"writing-guide.md", "openclaw.md"}


async def test_sediment_without_a_knowledge_base_says_what_to_do(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.say("/sediment")
        await eventually(lambda: said(chat) == "There is nothing to write a page of yet.")
        chat.page.composer.set_text("")
        await chat.asked("hello there")
        chat.say("/sediment")
        await eventually(lambda: "knowledge base" in said(chat))
        assert acts(chat) == ["Try again"]


async def test_sediment_waits_for_the_reply_and_says_so(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["one", gate]))
    async with open_chat(server) as chat:
        chat.say("count")
        await chat.shown(lambda: bool(chat.page.session.turns) and chat.page.session.turns[-1].working)
        await typed(chat, "/sedi")
        popup = chat.page.completion.popup
        assert popup.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) == (
            "/sediment, Runs when the reply has ended"
        )
        press(chat, Key.Key_Return)
        await eventually(lambda: bool(said(chat)))
        assert said(chat) == "/sediment: Runs when the reply has ended"
        assert chat.page.composer.text == "/sediment"
        gate.open()
        await chat.answered()


async def test_digest_asks_for_a_knowledge_base_first_and_for_files_then(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        chat.say("/digest")
        await eventually(lambda: acts(chat) == ["Choose one"])
        assert chat.page.composer.text == "/digest"
        chat.page.composer.set_text("")
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        chat.dialogs.will(0)
        chat.say("/digest")
        await eventually(lambda: chat.dialogs.asked[-1][0] == "run")
        await eventually(lambda: chat.page.composer.text == "")
