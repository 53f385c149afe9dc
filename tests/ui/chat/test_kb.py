"""A conversation with a knowledge base: chosen at the composer's foot, searched on every turn, kept for good."""

from pathlib import Path

import pytest

from devflow.domain.request import Injected, NothingFound, NotUsed
from devflow.ui.pages.chat.kb_picker import KbPicker
from tests.fakes.openai_server import OpenAIServer
from tests.support.pages import ARTICLES, write
from tests.ui.chat.conftest import Chat, OpenChat, eventually
from tests.ui.conftest import ScriptedDialogs

OPENCLAW = "wiki/synthesis/sessions/openclaw.md"


def picker(chat: Chat) -> KbPicker:
    return chat.page.composer.base


async def open_base(chat: Chat, folder: Path, *answers: object) -> None:
    """Through the picker's menu; `answers` are to what is asked after the folder."""
    chat.dialogs.will(str(folder), *answers)
    picker(chat).chosen.emit("open")
    await eventually(lambda: picker(chat).accessibleName().endswith(f": {folder.name}"))


async def test_a_question_is_answered_from_the_pages_of_the_chosen_folder(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("多agent团队怎么分工")
        assert "多 agent 团队如何分工" in chat.answer
        assert OPENCLAW in chat.answer
        (receipt,) = chat.page.session.turns[-1].receipts
        assert isinstance(receipt.pages, Injected)
        assert [item.ref for item in receipt.pages.items] == [OPENCLAW]
        assert chat.last.retrieval.text() == "1 page found"


async def test_the_model_gets_the_pages_below_the_message_and_the_transcript_does_not(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    async with open_chat(server) as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        server.script("见 OpenClaw。")
        await chat.asked("多agent团队怎么分工")
        sent = server.requests[-1].body["messages"][-1]["content"]
        assert sent.startswith("多agent团队怎么分工\n\n---\n[系统检索上下文 / 用户不可见]")
        assert f"路径: {OPENCLAW}" in sent
        assert chat.page.session.turns[-1].user.content == "多agent团队怎么分工"
        server.script("没有。")
        await chat.asked("量子纠缠的实验怎么做")
        earlier, newest = [each["content"] for each in server.requests[-1].body["messages"] if each["role"] == "user"]
        assert earlier == "多agent团队怎么分工"
        assert "未在当前知识库找到" in newest
        assert isinstance(chat.page.session.turns[-1].receipts[0].pages, NothingFound)
        assert chat.last.retrieval.text() == "Nothing in this knowledge base matches"


async def test_a_page_that_was_given_explains_why(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("多agent团队怎么分工")
        (block,) = chat.page.sources.blocks
        assert block.reason.text() == "Body match"
        assert block.reason.accessibleName() == "Why this? Body match"
        block.reason.click()
        assert block.facts.isVisible()
        facts = dict(block.facts.facts)
        assert facts["Found by"] == "Body match"
        assert {"agent", "团队", "分工"} <= set(facts["In the text"].split(", "))


async def test_without_a_base_the_picker_says_so_in_a_word(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        assert picker(chat).accessibleName() == "Knowledge base: No KB"


async def test_a_greeting_searches_no_pages(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("你好。")
        assert chat.page.session.turns[-1].receipts[0].pages == NotUsed("not_triggered")


async def test_choosing_another_base_opens_its_newest_conversation(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("多agent团队怎么分工")
        in_writing = chat.page.session.id
        await open_base(chat, write(tmp_path / "cats", {"wiki/cats.md": "# 养猫\n\n每天喂两次。"}))
        assert chat.page.session.turns == ()
        await chat.asked("多agent团队怎么分工")
        assert OPENCLAW not in chat.answer
        writing = next(base for base in await chat.core.bases.list() if base.name == "writing")
        picker(chat).chosen.emit(writing.id)
        await chat.shown(
            lambda: chat.page.session.id == in_writing and picker(chat).accessibleName().endswith(": writing")
        )


@pytest.mark.expects_log
async def test_the_base_is_there_again_after_a_restart_and_gone_ones_are_greyed(
    open_chat: OpenChat, tmp_path: Path
) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("多agent团队怎么分工")
    (tmp_path / "writing").rename(tmp_path / "elsewhere")
    async with open_chat() as chat:
        await chat.shown(lambda: picker(chat).accessibleName().endswith(": writing"))
        await chat.asked("一人公司怎么经营")
        assert chat.last.retrieval.text() == "Search failed; answered without it"


async def test_a_folder_that_is_none_yet_is_made_one_on_the_users_word(
    open_chat: OpenChat, tmp_path: Path, dialogs: ScriptedDialogs
) -> None:
    folder = write(tmp_path / "articles", {"first.md": "# First\n\ntext", "index.md": "mine"})
    async with open_chat() as chat:
        await open_base(chat, folder, "自媒体文章创作", True)
        assert (folder / "wiki" / "synthesis" / "sessions").is_dir()
        assert "自媒体文章创作" in (folder / "purpose.md").read_text(encoding="utf-8")
        (kept,) = folder.glob(".devflow-backup-*/index.md")
        assert kept.read_text(encoding="utf-8") == "mine"
        assert [kind for kind, _ in dialogs.asked] == ["choose_folder", "prompt", "confirm"]


@pytest.mark.parametrize("answer", [None, ""])
async def test_a_folder_is_left_as_it_is_when_the_user_would_rather_not(
    open_chat: OpenChat, tmp_path: Path, dialogs: ScriptedDialogs, answer: str | None
) -> None:
    folder = write(tmp_path / "articles", {"first.md": "# First\n\ntext"})
    async with open_chat() as chat:
        dialogs.will(str(folder), *([answer] if answer is None else [answer, None]))
        picker(chat).chosen.emit("open")
        await eventually(lambda: bool(dialogs.asked) and not dialogs.answers)
        assert [path.name for path in folder.iterdir()] == ["first.md"]
        assert await chat.core.bases.list() == ()
