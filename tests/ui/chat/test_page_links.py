"""Pages that an answer names: links where they were found for the question, marked where they were not."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextBrowser

from devflow.ui.pages.chat import ChatPage
from devflow.ui.pages.knowledge import KnowledgePage
from devflow.ui.widgets.markdown import formats
from devflow.ui.window import Pages
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.support.pages import ARTICLES, write
from tests.ui.chat.conftest import Chat, OpenChat, eventually
from tests.ui.chat.test_kb import open_base
from tests.ui.conftest import OpenWindow, ScriptedDialogs

OPENCLAW = "wiki/synthesis/sessions/openclaw.md"
QUESTION = "多agent团队怎么分工"


def text(chat: Chat) -> QTextBrowser:
    found = [block.text for block in chat.last.answers.values() if block.text is not None]
    return found[-1]


def links(chat: Chat) -> dict[str, str]:
    found = {cursor.selectedText().strip(): address for cursor, address in hands._anchors(text(chat))}
    return {words: address for words, address in found.items() if words}


def doubted(chat: Chat) -> str:
    """Everything in the answer that has the ground of what is unverified."""
    found, block = "", text(chat).document().begin()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            if place.fragment().charFormat().property(formats.REFERENCE) == 2:
                found += place.fragment().text()
            place += 1
        block = block.next()
    return found.replace(formats.PAD, " ").strip()


async def answered(chat: Chat, server: OpenAIServer, folder: Path, answer: str) -> None:
    await open_base(chat, write(folder, ARTICLES))
    server.script(answer)
    await chat.asked(QUESTION)


async def test_a_page_that_was_found_is_a_link_however_it_is_written(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    async with open_chat(server) as chat:
        answer = f"见 [[{OPENCLAW}]]，[这篇]({OPENCLAW})，`{OPENCLAW}` 和 [1]。\n\n参考页面\n- 「OpenClaw」: {OPENCLAW}"
        await answered(chat, server, tmp_path / "writing", answer)
        (base,) = await chat.core.bases.list()
        address = f"devflow:page/{base.id}/{OPENCLAW}"
        assert links(chat) == {f"[[{OPENCLAW}]]": address, "这篇": address, OPENCLAW: address, "P1": address}
        assert doubted(chat) == ""


async def test_a_page_that_was_not_found_is_marked_and_leads_nowhere(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    async with open_chat(server) as chat:
        answer = "参考页面\n- 「示例」: wiki/topics/made-up.md\n- [另一篇](wiki/other.md) 与 `wiki/third.md`，[P9]"
        await answered(chat, server, tmp_path / "writing", answer)
        assert links(chat) == {}
        assert doubted(chat).split() == ["wiki/topics/made-up.md?", "另一篇?", "wiki/third.md?", "P9?"]


async def test_a_page_that_a_given_page_names_is_none_that_was_made_up(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    async with open_chat(server) as chat:
        folder = write(tmp_path / "kb", {"wiki/a.md": "# 多 agent 分工\n\n参见 [[wiki/b.md]]", "wiki/b.md": "# 别的"})
        await open_base(chat, folder)
        server.script("参见 [[wiki/b.md]] 与 wiki/c.md。")
        await chat.asked(QUESTION)
        assert list(links(chat)) == ["[[wiki/b.md]]"]
        assert doubted(chat) == "wiki/c.md?"


async def test_without_a_knowledge_base_paths_are_just_words(open_chat: OpenChat, server: OpenAIServer) -> None:
    async with open_chat(server) as chat:
        server.script("写进 wiki/notes.md 吧。")
        await chat.asked("怎么记笔记")
        assert links(chat) == {}
        assert doubted(chat) == ""


async def test_a_press_on_a_source_opens_the_page_on_the_wiki_side(
    open_window: OpenWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    async with open_window(Pages(chat=ChatPage, knowledge=KnowledgePage)) as desktop:
        page = desktop.window.page("chat")
        assert isinstance(page, ChatPage)
        chat = Chat(desktop, page, dialogs)
        desktop.window.resize(1280, 800)
        if not page.list.loaded:
            await chat.listed(lambda: page.list.loaded)
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked(QUESTION)
        page.panes.want_sources(True)
        await eventually(lambda: any(block.isVisible() for block in page.sources.blocks))
        (block,) = page.sources.blocks
        assert block.accessibleName() == "P1 OpenClaw 自媒体文章"
        assert block.reason.text() == "Body match"
        QTest.mouseClick(block, Qt.MouseButton.LeftButton)
        knowledge = desktop.window.page("knowledge")
        assert isinstance(knowledge, KnowledgePage)
        await eventually(lambda: knowledge.wiki.detail.title.text() == "OpenClaw 自媒体文章")
        assert desktop.window.current == "knowledge"
        assert knowledge.wiki.detail.isVisible()


async def test_a_base_chosen_on_the_wiki_side_is_the_one_the_chat_goes_on_in(
    open_window: OpenWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    async with open_window(Pages(chat=ChatPage, knowledge=KnowledgePage)) as desktop:
        page = desktop.window.page("chat")
        assert isinstance(page, ChatPage)
        chat = Chat(desktop, page, dialogs)
        if not page.list.loaded:
            await chat.listed(lambda: page.list.loaded)
        await chat.core.bases.open(write(tmp_path / "cats", {"wiki/cats.md": "# 养猫\n\n每天喂两次。"}))
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked(QUESTION)
        in_writing = page.session.id
        knowledge = desktop.window.page("knowledge")
        assert isinstance(knowledge, KnowledgePage)
        await knowledge.ready
        desktop.window.show_page("knowledge")
        hands.click("sideWiki")
        await eventually(lambda: hands.rows("kbList") == ["cats", "writing"])
        hands.click_row("kbList", "cats")
        await eventually(lambda: page.session.base is not None and page.session.base.name == "cats")
        assert page.session.turns == ()
        hands.click_row("kbList", "writing")
        await eventually(lambda: page.session.id == in_writing and len(page.session.turns) == 1)
