"""`@` in the composer: pages of the conversation's knowledge base are offered while one types."""

import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView

from devflow.domain.request import Injected
from tests.support.pages import ARTICLES, write
from tests.ui.chat.conftest import Chat, OpenChat, eventually
from tests.ui.chat.test_kb import open_base

OPENCLAW = "wiki/synthesis/sessions/openclaw.md"
Key = Qt.Key


def offered(chat: Chat) -> list[str]:
    """The titles in the popup; none while it is hidden."""
    popup = chat.page.completion.popup
    if not popup.isVisible():
        return []
    return [str(popup.model.index(row, 0).data()) for row in range(popup.model.rowCount())]


def press(chat: Chat, key: Key) -> None:
    QTest.keyClick(chat.page.composer.field, key)


async def typed(chat: Chat, text: str, *titles: str) -> None:
    """Type, and wait until exactly these are offered."""
    await eventually(lambda: chat.desktop.window.isActiveWindow() or bool(chat.desktop.window.activateWindow()))
    chat.write(text)
    await eventually(lambda: offered(chat) == list(titles))


async def test_the_chosen_page_is_named_in_the_text_and_given_to_the_model(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await typed(chat, "@", "总览", "OpenClaw 自媒体文章", "示例写作方法")
        await typed(chat, "openc", "OpenClaw 自媒体文章")
        press(chat, Key.Key_Return)
        assert chat.page.composer.text == f"[[{OPENCLAW}]] "
        assert offered(chat) == []
        await chat.asked("讲了什么")
        (receipt,) = chat.page.session.turns[-1].receipts
        assert isinstance(receipt.pages, Injected)
        assert receipt.pages.items[0].ref == OPENCLAW
        assert receipt.pages.items[0].reason == "explicit"


async def test_a_page_that_is_offered_says_why(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "kb", {"wiki/topics/a.md": "# Alpha", "wiki/alps.md": "# Beta"}))
        await typed(chat, "@al", "Alpha", "Beta")
        model = chat.page.completion.popup.model
        told = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleDescriptionRole) for row in range(2)]
        assert told == ["Why this? title: al", "Why this? file name: al"]
        assert model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == f"topics/a.md\n{told[0]}"


async def test_arrows_move_tab_takes_and_what_follows_stays_in_the_text(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "kb", {"wiki/a.md": "# Alpha", "wiki/b.md": "# Beta"}))
        await typed(chat, "compare @", "Alpha", "Beta")
        press(chat, Key.Key_Down)
        press(chat, Key.Key_Tab)
        assert chat.page.composer.text == "compare [[wiki/b.md]] "
        assert chat.page.composer.field.hasFocus()
        await typed(chat, "with @", "Alpha", "Beta")
        press(chat, Key.Key_Up)
        press(chat, Key.Key_Up)
        press(chat, Key.Key_Enter)
        assert chat.page.composer.text == "compare [[wiki/b.md]] with [[wiki/a.md]] "


async def test_a_click_takes_a_page_and_leaves_the_keyboard_in_the_text(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "kb", {"wiki/a.md": "# Alpha", "wiki/b.md": "# Beta"}))
        await typed(chat, "@", "Alpha", "Beta")
        view = chat.find("completionList", QListView)
        assert isinstance(view, QListView)
        middle = view.visualRect(view.model().index(1, 0)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
        assert chat.page.composer.text == "[[wiki/b.md]] "
        assert chat.page.composer.field.hasFocus()


async def test_escape_puts_the_popup_away_until_the_next_one_and_enter_sends_again(
    open_chat: OpenChat, tmp_path: Path
) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "kb", {"wiki/a.md": "# Alpha", "wiki/b.md": "# Beta"}))
        await typed(chat, "@a", "Alpha", "Beta")
        press(chat, Key.Key_Escape)
        assert offered(chat) == []
        chat.write("l")
        assert chat.page.completion._asked is None  # nothing is even asked for
        await typed(chat, " @b", "Beta")
        press(chat, Key.Key_Escape)
        chat.enter()
        await chat.answered()
        assert chat.page.session.turns[-1].user.content == "@al @b"


async def test_an_address_or_a_word_that_no_page_has_offers_nothing_and_enter_sends(
    open_chat: OpenChat, tmp_path: Path
) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "kb", {"wiki/a.md": "# Alpha"}))
        await typed(chat, "@", "Alpha")
        await typed(chat, "zzz")
        await chat.asked(" write to me@a")
        assert chat.page.session.turns[-1].user.content == "@zzz write to me@a"


async def test_without_a_knowledge_base_nothing_is_offered(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        chat.write("@")
        assert chat.page.completion._asked is None
        assert offered(chat) == []


async def test_an_input_method_composes_behind_the_sign_and_its_enter_chooses_no_page(
    open_chat: OpenChat, tmp_path: Path
) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "writing", ARTICLES))
        await typed(chat, "@", "总览", "OpenClaw 自媒体文章", "示例写作方法")
        field = chat.page.composer.field
        QCoreApplication.sendEvent(field, QInputMethodEvent("shi li", []))
        press(chat, Key.Key_Return)
        assert chat.page.composer.text == "@"
        assert len(offered(chat)) == 3
        ended = QInputMethodEvent("", [])
        ended.setCommitString("示例")
        QCoreApplication.sendEvent(field, ended)
        press(chat, Key.Key_Return)  # the key that ended the composition, as it may still arrive
        assert chat.page.composer.text == "@示例"
        await eventually(lambda: offered(chat) == ["示例写作方法"])
        await eventually(lambda: not field.keys_are_taken)
        press(chat, Key.Key_Return)
        assert chat.page.composer.text == "[[wiki/synthesis/sessions/writing-guide.md]] "


async def test_a_page_written_a_moment_ago_is_offered_and_one_of_another_base_is_not(
    open_chat: OpenChat, tmp_path: Path
) -> None:
    async with open_chat() as chat:
        folder = write(tmp_path / "kb", {"wiki/a.md": "# Alpha"})
        await open_base(chat, write(tmp_path / "other", {"wiki/o.md": "# Other"}))
        await open_base(chat, folder)
        await typed(chat, "@", "Alpha")
        press(chat, Key.Key_Escape)
        write(folder, {"wiki/new.md": "# Newest"})
        chat.page.completion._told = 0.0  # two seconds have passed
        await typed(chat, " @", "Alpha", "Newest")


async def test_a_sign_behind_an_emoji_is_replaced_where_it_stands(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        await open_base(chat, write(tmp_path / "kb", {"wiki/a.md": "# Alpha"}))
        await typed(chat, "😀😀 @al", "Alpha")
        press(chat, Key.Key_Tab)
        assert chat.page.composer.text == "😀😀 [[wiki/a.md]] "


async def test_the_popup_stands_above_the_composer_inside_the_page(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        pages = {f"wiki/n{number:02}.md": f"# Note {number}" for number in range(30)}
        await open_base(chat, write(tmp_path / "kb", pages))
        await chat.asked("hello")
        await eventually(lambda: chat.desktop.window.isActiveWindow() or bool(chat.desktop.window.activateWindow()))
        chat.write("@")
        await eventually(lambda: len(offered(chat)) == 30)
        popup, composer = chat.page.completion.popup, chat.page.composer
        bottom = popup.mapTo(chat.page, QPoint(0, popup.height())).y()
        assert popup.list.viewport().height() == 8 * 32  # eight whole rows
        assert 0 < composer.mapTo(chat.page, QPoint(0, 0)).y() - bottom < 10
        assert popup.accessibleName() == "Pages to refer to"


async def test_ten_thousand_pages_are_offered_at_once(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        folder = tmp_path / "kb"
        for number in range(10_000):
            write(folder, {f"wiki/topics/note-{number:05}.md": f"# Subject {number}"})
        await open_base(chat, folder)
        await eventually(lambda: chat.page.completion._told > 0)
        (base,) = await chat.core.bases.list()
        while (await chat.core.bases.refresh(base, within=1.0)).pending:
            pass
        await eventually(lambda: chat.desktop.window.isActiveWindow() or bool(chat.desktop.window.activateWindow()))
        chat.page.completion._told = time.monotonic()  # the folder was looked at just now
        times = []
        for _ in range(5):
            chat.write("@")
            began = time.perf_counter()
            await eventually(lambda: len(offered(chat)) == 50)
            times.append(time.perf_counter() - began)
            press(chat, Key.Key_Escape)
            chat.write(" ")
        assert min(times) < 0.05, [f"{each * 1000:.0f} ms" for each in times]
