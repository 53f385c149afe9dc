"""`/export` and Export… in a conversation's menu: a file where one wants it, and the window goes on meanwhile."""

import asyncio
import re
from pathlib import Path

import pypdf
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QMenu, QWidget

from devflow.domain.events import KnowledgeSearchStart
from devflow.ui.dialogs.export import ExportDialog
from devflow.ui.theme import ThemeMode
from devflow.ui.widgets.dialogs import QtDialogs
from tests.fakes.openai_server import OpenAIServer
from tests.support.pages import ARTICLES, write
from tests.ui.chat.conftest import Chat, OpenChat, eventually
from tests.ui.chat.test_kb import open_base
from tests.ui.chat.test_slash_commands import act, acts, said
from tests.ui.conftest import Look

ANSWER = (
    "一人公司：马上翻页，风险、长短、门户、骨头、胶片与〈书名〉，都要看见。\n\n"
    "```python\ndef total(x: int) -> int:\n    return x - 1  # 求和\n```\n\n| 键 | 值 |\n|---|---|\n| 甲 | 1–2 |"
)


def choose(number: int) -> object:
    """Choose the format of that place, and go on."""

    def chosen(dialog: QDialog) -> int:
        assert isinstance(dialog, ExportDialog)
        QTest.mouseClick(dialog.choice.part(number), Qt.MouseButton.LeftButton)
        return QDialog.DialogCode.Accepted

    return chosen


async def exported(chat: Chat, target: Path) -> None:
    await eventually(lambda: said(chat) == f"Saved as {target.name}")


def squeezed(text: str) -> str:
    """Without white space: a page breaks lines where it likes."""
    return re.sub(r"\s", "", text)


async def test_the_command_asks_for_a_place_and_writes_markdown(open_chat: OpenChat, tmp_path: Path) -> None:
    target = tmp_path / "talk.md"
    async with open_chat() as chat:
        await chat.asked("How do I take the write lock?")
        chat.dialogs.will(str(target))
        chat.say("/export markdown")
        await exported(chat, target)
        assert "How do I take the write lock?" in target.read_text(encoding="utf-8")
        assert chat.page.composer.text == ""
        assert acts(chat) == ["Open", "Open the folder"]


async def test_without_a_format_it_is_asked_for_and_remembered(open_chat: OpenChat, tmp_path: Path) -> None:
    target = tmp_path / "talk.html"
    async with open_chat() as chat:
        await chat.asked("你好，世界")
        chat.dialogs.will(choose(1), str(target))
        chat.say("/export")
        await exported(chat, target)
        assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        kept = await chat.core.settings.get("export")
        assert (kept["format"], kept["folder"]) == ("html", str(tmp_path))


async def test_a_pdf_has_the_text_as_it_was_written(open_chat: OpenChat, server: OpenAIServer, tmp_path: Path) -> None:
    target = tmp_path / "对话 🚀.pdf"
    server.script(ANSWER)
    async with open_chat(server) as chat:
        await chat.asked("提示词怎么写？")
        chat.dialogs.will(str(target))
        chat.say("/export pdf")
        await exported(chat, target)
    reader = pypdf.PdfReader(target)
    text = squeezed("".join(page.extract_text() for page in reader.pages))
    for part in (
        "提示词怎么写？",
        "一人公司：马上翻页，风险、长短、门户、骨头、胶片与〈书名〉，都要看见。",
        "deftotal(x:int)->int:",
        "returnx-1#求和",
        "甲",
        "1–2",
        "scripted",
    ):
        assert part in text
    assert reader.metadata is not None
    assert reader.metadata.title == "提示词怎么写？"
    raw = target.read_bytes()
    assert raw.count(b"/Type /FontDescriptor") == raw.count(b"/FontFile") > 0  # every font is in the file


async def test_paper_is_light_whatever_the_window_is(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await chat.asked("hello there")
        drawn: list[bytes] = []
        for theme in (ThemeMode.LIGHT, ThemeMode.DARK):
            chat.desktop.window.ctx.theme.set_mode(theme)
            target = tmp_path / f"{theme.value}.pdf"
            chat.dialogs.will(str(target))
            chat.say("/export pdf")
            await exported(chat, target)
            contents = pypdf.PdfReader(target).pages[0].get_contents()
            assert contents is not None
            drawn.append(contents.get_data())
        chat.desktop.window.ctx.theme.set_mode(ThemeMode.LIGHT)
    colours = [set(re.findall(rb"^[\d. ]+ (?:scn|rg)$", each, re.MULTILINE)) for each in drawn]
    assert colours[0] == colours[1] != set()


async def test_the_menu_exports_any_conversation(open_chat: OpenChat, tmp_path: Path) -> None:
    target = tmp_path / "first.md"
    async with open_chat() as chat:
        await chat.asked("The first conversation")
        first = chat.page.session.conversation
        assert first is not None
        await chat.asked_in_new("The second one")
        menu = chat.page.conversation_acts.menu(chat.page, first)
        chat.dialogs.will(choose(0), str(target))
        item(menu, "exportConversation").trigger()
        await exported(chat, target)
        assert "The first conversation" in target.read_text(encoding="utf-8")
        menu.deleteLater()


def files(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.is_file()]


def item(menu: QMenu, name: str) -> QAction:
    return next(action for action in menu.actions() if action.objectName() == name)


@pytest.mark.parametrize("replace", [True, False])
async def test_a_file_that_is_there_is_replaced_on_the_users_word_alone(
    open_chat: OpenChat, tmp_path: Path, replace: bool
) -> None:
    target = tmp_path / "talk.md"
    target.write_text("mine", encoding="utf-8")
    async with open_chat() as chat:
        await chat.asked("hello there")
        chat.dialogs.will(str(target), replace)
        chat.say("/export md")
        await eventually(lambda: ("confirm", "Replace the file?") in chat.dialogs.asked)
        if replace:
            await exported(chat, target)
        await chat.desktop.tasks.settled()
        assert (target.read_text(encoding="utf-8") == "mine") is not replace
        assert files(tmp_path) == ["talk.md"]


async def test_a_folder_that_takes_no_file_is_told_with_a_way_to_try_again(open_chat: OpenChat, tmp_path: Path) -> None:
    target = tmp_path / "gone" / "talk.md"
    async with open_chat() as chat:
        await chat.asked("hello there")
        chat.dialogs.will(str(target))
        chat.say("/export md")
        await eventually(lambda: "cannot be written" in said(chat))
        target.parent.mkdir()
        act(chat, "Try again")
        await exported(chat, target)


async def test_an_empty_conversation_and_an_unknown_format_are_said(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.say("/export")
        await eventually(lambda: said(chat) == "There is nothing to export yet.")
        assert chat.page.composer.text == "/export"
        chat.page.composer.set_text("")
        chat.say("/export docx")
        await eventually(lambda: "docx" in said(chat))
        assert acts(chat) == ["/export markdown", "/export html", "/export pdf"]
        assert chat.page.composer.text == "/export docx"


async def test_an_export_searches_no_pages(open_chat: OpenChat, tmp_path: Path) -> None:
    target = tmp_path / "talk.md"
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await chat.asked("多agent团队怎么分工")
        told: list[object] = []
        chat.core.hub.subscribe(told.append)
        chat.dialogs.will(str(target))
        chat.say("/export md")
        await exported(chat, target)
        assert not any(isinstance(event, KnowledgeSearchStart) for event in told)
        assert "wiki/synthesis/sessions/openclaw.md" in target.read_text(encoding="utf-8")


async def test_qts_own_question_about_a_file_never_holds_up_the_loop(look: Look, tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("mine", encoding="utf-8")
    window = QWidget()
    dialogs = QtDialogs(look, window)

    async def accept() -> None:
        await eventually(lambda: window.findChild(QFileDialog) is not None)
        dialog = window.findChild(QFileDialog)
        assert dialog is not None
        dialog.accept()

    pressing = asyncio.ensure_future(accept())
    chosen = await dialogs.choose_save("Save", str(tmp_path / "there.md"), ["Markdown (*.md)"])
    await pressing
    assert chosen == str(tmp_path / "there.md")
