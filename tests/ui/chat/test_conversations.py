"""The list of conversations: found, named, pinned, deleted and brought back; marked while something goes on."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from devflow.app.core import opened
from devflow.domain.conversation import Conversation, Draft, Origin
from devflow.domain.messages import english
from devflow.ui.models.conversations import ConversationItem, Header, HitItem, grouped, shown_title, when_words
from devflow.ui.pages.chat.session import ChatSession
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.ui.chat.conftest import Chat, OpenChat, eventually

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=8)))


def conversation(title: str, age: timedelta, *, pinned: bool = False) -> Conversation:
    at = (NOW - age).astimezone(UTC)
    return Conversation(
        id=title,
        title=title,
        title_by_user=False,
        origin=Origin.WINDOW,
        project=None,
        kb_id=None,
        leaf_id="x",
        pinned=pinned,
        retrieval=True,
        model=None,
        draft=Draft(),
        queued="",
        created_at=at,
        updated_at=at,
    )


def test_conversations_stand_in_groups_by_day_with_pinned_ones_first() -> None:
    items = grouped(
        english(),
        [
            conversation("release", timedelta(days=9), pinned=True),
            conversation("now", timedelta(minutes=5)),
            conversation("yesterday", timedelta(hours=13)),
            conversation("old", timedelta(days=12)),
        ],
        NOW,
    )
    said = [(type(item).__name__, item.title) for item in items]
    assert said == [
        ("Header", "Pinned"),
        ("ConversationItem", "release"),
        ("Header", "Today"),
        ("ConversationItem", "now"),
        ("Header", "Yesterday"),
        ("ConversationItem", "yesterday"),
        ("Header", "Earlier"),
        ("ConversationItem", "old"),
    ]


def test_a_group_without_conversations_is_left_out() -> None:
    items = grouped(english(), [conversation("now", timedelta(minutes=5))], NOW)
    assert [item.title for item in items if isinstance(item, Header)] == ["Today"]


@pytest.mark.parametrize(
    "age, words",
    [
        (timedelta(minutes=30), "11:30"),
        (timedelta(days=1), "Sun"),
        (timedelta(days=12), "18 Nov"),
        (timedelta(days=400), "2025-10"),
    ],
)
def test_a_rows_time_gets_shorter_the_nearer_it_is(age: timedelta, words: str) -> None:
    assert when_words(english(), NOW - age, NOW) == words


def test_a_title_is_shown_without_the_marks_of_markdown() -> None:
    assert shown_title(english(), "Fix `database is locked`") == "Fix database is locked"
    assert shown_title(english(), "") == "New conversation"


async def test_a_new_conversation_becomes_a_row_with_its_first_word(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        assert _titles(chat) == ["first"]
        chat.press("newConversationButton")
        assert _titles(chat) == ["first"]
        chat.write("s")
        await chat.listed(lambda: len(_titles(chat)) == 2)


async def test_a_conversation_left_without_a_word_is_not_kept(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        chat.press("newConversationButton")
        chat.write("s")
        await chat.listed(lambda: len(_titles(chat)) == 2)
        QTest.keyClick(chat.page.composer.field, Qt.Key.Key_Backspace)
        first = chat.page.list.model.index(_row(chat, "first"), 0)
        chat.page.list.list.setCurrentIndex(first)
        await chat.listed(lambda: _titles(chat) == ["first"])


async def test_search_reaches_every_message_and_opens_it(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("The wombat is a marsupial.", "Something else.")
    async with open_chat(server) as chat:
        await chat.asked("animals?")
        found = chat.page.session.id
        chat.page.start_new()
        await chat.asked("other things")
        QTest.keyClick(chat.page, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
        assert chat.page.list.search.hasFocus()
        QTest.keyClicks(chat.page.list.search, "wombat")
        await chat.listed(lambda: any(isinstance(item, HitItem) for item in chat.page.list.model.items))
        QTest.keyClick(chat.page.list.search, Qt.Key.Key_Return)
        await chat.shown(lambda: "wombat" in chat.answer)
        assert chat.page.session.id == found


async def test_a_search_without_a_hit_says_so(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        chat.page.list.search.setText("zebra")
        await eventually(chat.page.list.nothing.isVisible)
        QTest.keyClick(chat.page.list.search, Qt.Key.Key_Escape)
        await eventually(lambda: _titles(chat) == ["first"])


async def test_renaming_keeps_the_users_title(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        chat.dialogs.will("A better name")
        chat.page.list.list.setFocus()
        QTest.keyClick(chat.page.list.list, Qt.Key.Key_F2)
        await chat.listed(lambda: _titles(chat) == ["A better name"])
        await eventually(lambda: chat.page.top.title.text == "A better name")


async def test_pinning_moves_it_to_the_top_group(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        assert chat.page.session.conversation is not None
        chat.page.conversation_acts.pin(chat.page.session.conversation)
        await chat.listed(lambda: chat.page.list.model.items[0] == Header("Pinned"))


async def test_deleting_offers_undo_which_brings_it_back(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        await chat.asked_in_new("second")
        chat.page.list.list.setFocus()
        QTest.keyClick(chat.page.list.list, Qt.Key.Key_Delete)
        await chat.listed(lambda: _titles(chat) == ["first"])
        await eventually(chat.page.toast.isVisible)
        assert chat.page.toast.words.text() == "Deleted “second”"
        await eventually(lambda: chat.page.session.id is None)
        chat.press("chatUndoButton")
        await chat.listed(lambda: _titles(chat) == ["second", "first"])
        await eventually(lambda: chat.page.top.title.text == "second")


async def test_rows_say_what_runs_and_what_waits(open_chat: OpenChat, server: OpenAIServer, tmp_path: Path) -> None:
    gate = Gate()
    server.script(
        Turn(["Going", gate, " on."]),
        Turn("", calls=[Call("write_file", {"path": "a.txt", "content": "a"})]),
    )
    async with open_chat(server) as chat:
        project = await chat.core.projects.ensure(tmp_path)
        chat.page.acts.set_project(project)
        chat.say("first")
        await chat.listed(lambda: bool(_items(chat)) and _items(chat)[0].conversation.running)
        await eventually(lambda: len(server.requests) == 1)  # the script's first turn is its own
        chat.page.start_new()
        chat.say("second")
        await chat.listed(lambda: any(item.conversation.awaiting for item in _items(chat)))
        spoken = chat.page.list.model.data(
            chat.page.list.model.index(_row(chat, "second"), 0), Qt.ItemDataRole.AccessibleTextRole
        )
        assert spoken == "second, waiting for approval"
        gate.open()
        await chat.listed(lambda: not any(item.conversation.running for item in _items(chat)))


async def test_the_welcome_page_lends_the_composer_until_the_first_message(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        assert chat.page.welcome.isVisible()
        assert not chat.page.list.isVisible()
        assert chat.page.welcome.isAncestorOf(chat.page.composer)
        await chat.asked("first")
        assert not chat.page.welcome.isVisible()
        assert chat.page.list.isVisible()
        assert chat.page.middle.isAncestorOf(chat.page.composer)


async def test_a_suggestion_on_the_welcome_page_is_asked(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.page.welcome.ask.emit("How does a candidate get published?")
        await chat.answered()
        assert chat.last.turn.user.content == "How does a candidate get published?"


async def test_a_link_from_elsewhere_opens_the_very_message(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        assert chat.page.session.id is not None
        address = f"devflow:message/{chat.page.session.id}/{chat.last.turn.user.id}"
        first = chat.page.session.id
        chat.page.start_new()
        assert chat.page.open_link(address)
        await chat.shown(lambda: chat.page.session.id == first and bool(chat.page.session.turns))
        assert not chat.page.open_link("devflow:entry/x")


def _items(chat: Chat) -> list[ConversationItem]:
    return [item for item in chat.page.list.model.items if isinstance(item, ConversationItem)]


def _titles(chat: Chat) -> list[str]:
    return [item.title for item in _items(chat)]


def _row(chat: Chat, title: str) -> int:
    return next(row for row, item in enumerate(chat.page.list.model.items) if item.title == title)


async def test_the_conversation_that_was_open_is_open_again_after_a_restart(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        await chat.asked_in_new("second")
        await chat.desktop.tasks.settled()
    async with open_chat() as chat:
        await chat.shown(lambda: bool(chat.page.session.turns))
        assert chat.page.top.title.text == "second"


async def test_a_conversation_begun_while_the_last_one_is_looked_up_is_not_replaced_by_it(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("What is a candidate?")
        session = ChatSession(chat.page._ctx, chat.page)
        starting = asyncio.create_task(session.reopen())
        session.start_new()
        await starting
        assert session.id is None


async def test_another_processs_conversation_appears_without_a_click(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("first")
        async with opened(chat.core.paths) as other:
            made = await other.conversations.create()
            await other.conversations.rename(made.id, "from elsewhere")
        await chat.listed(lambda: "from elsewhere" in _titles(chat))
        assert chat.page.top.title.text == "first"
