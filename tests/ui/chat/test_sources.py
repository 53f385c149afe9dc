"""What was looked up is said under the question, shown beside it, and one click from the library."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from devflow.domain.conversation import OFFLINE
from devflow.domain.knowledge import Status
from devflow.knowledge.acts import Actor
from devflow.ui.pages.chat.lines import RetrievalLine
from tests.fakes.openai_server import OpenAIServer, Turn
from tests.ui.chat.conftest import Chat, OpenChat, eventually

TITLE = "A deferred transaction does not wait when it upgrades"
CONTENT = "Writing inside a read transaction returns SQLITE_BUSY at once, whatever busy_timeout says."
QUESTION = "Why does a deferred transaction not wait when it upgrades?"


async def test_the_line_says_what_was_found_and_the_sources_come_up(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("Because the upgrade fails at once [K1].")
    async with open_chat(server) as chat:
        entry = await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)

        assert _line(chat).text() == "1 library entry found"
        assert chat.page.sources.isVisible()
        block = chat.page.sources.blocks[0]
        assert block.accessibleName() == f"K1 {TITLE}"
        assert block.excerpt.text.startswith("Writing inside")
        await eventually(lambda: "Title match" in block.reason.text())
        assert block.source.item.ref == entry.id


async def test_a_reference_opens_its_entry_and_an_unknown_one_is_marked(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script("At once [K1], and also [K7].")
    async with open_chat(server) as chat:
        entry = await chat.publish(TITLE, CONTENT)
        followed: list[str] = []
        chat.page.turn_acts.open_link.connect(followed.append)
        await chat.asked(QUESTION)
        view = next(iter(chat.last.answers.values())).text
        assert view is not None
        assert "K7?" in view.toPlainText()
        assert "K1?" not in view.toPlainText()
        assert f"devflow:entry/{entry.id}" in view.toHtml()
        view.link_activated.emit(f"devflow:entry/{entry.id}")
        assert followed == [f"devflow:entry/{entry.id}"]


async def test_a_cited_source_counts_as_reused(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("At once [K1].")
    async with open_chat(server) as chat:
        await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        await eventually(lambda: "reused 1×" in chat.page.sources.blocks[0].reason.text())


async def test_an_archived_source_says_that_it_is_gone(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("At once [K1].")
    async with open_chat(server) as chat:
        entry = await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        await chat.core.knowledge.knowledge_archive(entry.id, actor=Actor.user())
        await eventually(lambda: chat.page.sources.blocks[0].reason.text() == "No longer in the library")
        assert (await chat.core.knowledge.knowledge_get(entry.id)).status is Status.ARCHIVED


async def test_helpful_and_not_helpful_are_kept(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("At once [K1].")
    async with open_chat(server) as chat:
        entry = await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        block = chat.page.sources.blocks[0]
        QTest.mouseClick(block.helpful, Qt.MouseButton.LeftButton)
        await chat.shown(lambda: chat.page.sources.blocks[0].source.verdict == 1)
        QTest.mouseClick(block.unhelpful, Qt.MouseButton.LeftButton)
        await chat.shown(lambda: chat.page.sources.blocks[0].source.verdict == -1)
        assert not block.helpful.isChecked()
        assert chat.page.session.id is not None
        receipts = await chat.core.conversations.receipts(chat.page.session.id)
        assert receipts[-1].feedback == {entry.id: -1}


async def test_a_press_on_the_line_opens_the_closed_sources_again(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("At once [K1].")
    async with open_chat(server) as chat:
        await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        chat.press("closeSourcesButton")
        assert not chat.page.sources.isVisible()
        assert not chat.page.top.sources.isChecked()
        QTest.mouseClick(_line(chat), Qt.MouseButton.LeftButton)
        assert chat.page.sources.isVisible()
        QTest.mouseClick(_line(chat), Qt.MouseButton.LeftButton)  # a press that changed nothing would look broken
        assert not chat.page.sources.isVisible()


async def test_nothing_found_is_said_plainly(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.asked("what about quantum cats?")
        assert _line(chat).text() == "Nothing in the library matches"
        assert _line(chat).inert
        assert not chat.page.sources.isVisible()


async def test_retrieval_can_be_switched_off_for_one_conversation(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("Without it.", "With it [K1].")
    async with open_chat(server) as chat:
        await chat.publish(TITLE, CONTENT)
        chat.page.start_new()
        chat.page.top.retrieval.click()
        await chat.asked(QUESTION)
        assert _line(chat).text() == "Retrieval is off for this conversation"
        assert TITLE not in server.requests[0].system
        chat.page.top.retrieval.click()
        await chat.shown(lambda: chat.page.session.retrieval)
        await chat.asked(QUESTION)
        assert TITLE in server.requests[1].system


async def test_the_offline_assistant_answers_with_references(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        assert chat.page.composer.model.shown == OFFLINE
        assert "[K1]" in chat.answer


async def test_a_narrow_window_lays_the_sources_over_and_folds_the_list(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script(Turn("At once [K1]."))
    async with open_chat(server) as chat:
        await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        assert chat.page.sources.parentWidget() is chat.page.panes.splitter

        chat.desktop.window.resize(1100, 700)
        await eventually(lambda: chat.page.sources.parentWidget() is chat.page.panes)
        assert not chat.page.sources.isVisible()
        assert chat.page.list.isVisible()
        chat.press("sourcesButton")
        assert chat.page.sources.isVisible()
        assert chat.page.sources.geometry().right() == chat.page.panes.width() - 1

        chat.desktop.window.resize(1000, 700)
        await eventually(lambda: not chat.page.list.isVisible())
        chat.press("showConversationsButton")
        assert chat.page.list.isVisible()

        chat.desktop.window.resize(1280, 800)
        await eventually(lambda: chat.page.list.parentWidget() is chat.page.panes.splitter)
        assert not chat.page.top.list_button.isVisible()


def _line(chat: Chat) -> RetrievalLine:
    return chat.last.retrieval


async def test_every_source_explains_why_it_was_given(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("At once [K1].")
    async with open_chat(server) as chat:
        await chat.publish(TITLE, CONTENT)
        await chat.asked(QUESTION)
        block = chat.page.sources.blocks[0]
        await eventually(lambda: "Title match" in block.reason.text())
        assert block.reason.accessibleName().startswith("Why this? Title match")
        assert "title: deferred, transaction" in block.reason.toolTip()
        assert not block.facts.isVisible()

        block.reason.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(block.reason, Qt.Key.Key_Space)
        assert block.facts.isVisible()
        facts = dict(block.facts.facts)
        assert facts["Found by"] == "words"
        assert {"deferred", "transaction", "upgrades"} <= set(facts["In the title"].split(", "))
        assert "transaction" in facts["In the text"]
        assert facts["Score"] == "1.00, the best has 1.00"
        assert "Similarity" not in facts
        assert chat.page.sources.isVisible(), "a press on the reason opens no entry"
