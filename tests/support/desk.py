"""The window with its library pages, and what a tester's hands and eyes do there."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QStackedWidget, QWidget

from devflow.app.core import Core
from devflow.app.desktop import Desktop
from devflow.domain.knowledge import Entry, Status, draft
from devflow.knowledge.acts import Actor
from devflow.ui.context import UiContext
from devflow.ui.pages.inbox import InboxPage
from devflow.ui.pages.knowledge import KnowledgePage
from devflow.ui.pages.knowledge.library_side import LibrarySide
from devflow.ui.pages.knowledge.wiki_side import WikiSide
from devflow.ui.widgets.entry_editor import EntryEditor
from devflow.ui.widgets.rail import Badge
from devflow.ui.window import Pages
from tests.support.eventually import eventually

T = TypeVar("T", bound=QObject)
USER, AI = Actor.user(), Actor.ai()
NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Elsewhere(QWidget):
    """Stands in for the Chat page: it remembers which addresses it was asked to open."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self.opened: list[str] = []

    def open_link(self, address: str) -> bool:
        self.opened.append(address)
        return True


PAGES = Pages(chat=Elsewhere, knowledge=KnowledgePage, inbox=InboxPage)


@dataclass
class Desk:
    """`hands` are clicks and keys on real widgets; nothing here calls a page's methods but to look."""

    desktop: Desktop
    closed: list[EntryEditor] = field(default_factory=list)
    """Editors that were driven to their end; their widgets may be gone already."""

    @property
    def core(self) -> Core:
        return self.desktop.core

    @property
    def inbox(self) -> InboxPage:
        page = self.desktop.window.page("inbox")
        assert isinstance(page, InboxPage)
        return page

    @property
    def knowledge(self) -> KnowledgePage:
        page = self.desktop.window.page("knowledge")
        assert isinstance(page, KnowledgePage)
        return page

    @property
    def library(self) -> LibrarySide:
        return self.knowledge.library

    @property
    def wiki(self) -> WikiSide:
        return self.knowledge.wiki

    @property
    def elsewhere(self) -> Elsewhere:
        page = self.desktop.window.page("chat")
        assert isinstance(page, Elsewhere)
        return page

    # hands

    def find(self, kind: type[T], name: str, within: QObject | None = None) -> T:
        found = (within or self.desktop.window).findChild(kind, name)
        assert found is not None, f"no {kind.__name__} named {name}"
        return found

    def click(self, name: str, within: QObject | None = None) -> None:
        button = self.find(QAbstractButton, name, within)
        assert button.isVisible(), f"{name} cannot be seen"
        assert button.isEnabled(), f"{name} cannot be clicked"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE, on: QWidget | None = None) -> None:
        QTest.keyClick(on or self.inbox.list, key, modifiers)

    def type(self, name: str, text: str, within: QObject | None = None) -> None:
        """Type into a field, over what is there; beyond ASCII through the input method, as people do."""
        field = self.find(QWidget, name, within)
        QTest.keyClick(field, Qt.Key.Key_A, CTRL)
        if text.isascii():
            QTest.keyClicks(field, text)
        else:
            written = QInputMethodEvent()
            written.setCommitString(text)
            QCoreApplication.sendEvent(field, written)

    async def built(self) -> None:
        """Until every page is there and the window has the keyboard."""
        window = self.desktop.window
        await eventually(lambda: window.isActiveWindow() or window.activateWindow())
        stack = self.find(QStackedWidget, "pages")
        await eventually(lambda: stack.count() == len(("chat", "knowledge", "inbox")))
        await self.library.ready

    async def open_inbox(self) -> None:
        self.desktop.window.show_page("inbox")
        await eventually(lambda: self.desktop.window.current == "inbox")

    async def open_library(self) -> None:
        self.desktop.window.show_page("knowledge")
        await self.library.ready

    async def arrive(self, *titles: str) -> None:
        """Come to the inbox when these are already in it."""
        await self.open_inbox()
        await self.until_listed(*titles)

    async def until_listed(self, *titles: str) -> None:
        """Until the inbox shows these titles, in this order, and judges the current one."""
        await eventually(lambda: self.inbox_titles() == list(titles))
        if titles:
            await eventually(lambda: self.judged() == self.current())

    # eyes

    def inbox_titles(self) -> list[str]:
        return _titles(self.inbox.list.model())

    def library_titles(self) -> list[str]:
        return _titles(self.library.list.model())

    def current(self) -> str:
        return str(self.inbox.list.currentIndex().data() or "")

    def judged(self) -> str:
        entry = self.inbox.detail.entry
        return entry.title if entry is not None else ""

    def keyboard(self) -> QWidget | None:
        """The widget that has the window's keyboard."""
        return self.desktop.window.focusWidget()

    def said(self) -> str:
        """What the undo bar says; empty while it is hidden."""
        bar = self.inbox.bar
        return bar.words.text() if bar.isVisible() else ""

    def badge(self) -> str:
        badge = self.find(Badge, "inboxBadge")
        return badge.text if badge.isVisible() else ""

    def texts(self, widget: QWidget) -> list[str]:
        """Every visible label in a widget."""
        return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]

    # the library behind it

    async def add(self, title: str, status: Status = Status.CANDIDATE, **fields: Any) -> Entry:
        """An entry that came in by itself, in that status by a human's acts."""
        values = {"kind": "pitfall", "content": f"{title}, and say why.", "confidence": 0.5, **fields}
        done = await self.core.knowledge.knowledge_submit([draft(title=title, **values)], actor=AI)
        id = done.entries[0].id
        if status is Status.PUBLISHED:
            await self.core.knowledge.knowledge_approve(id, actor=USER)
        elif status is Status.PENDING_REVIEW:
            await self.core.knowledge.knowledge_update_status(id, "pending_review", actor=USER)
        elif status is Status.ARCHIVED:
            await self.core.knowledge.knowledge_archive(id, actor=USER)
        return await self.core.knowledge.knowledge_get(id)

    async def status(self, entry: Entry) -> Status:
        return (await self.core.knowledge.knowledge_get(entry.id)).status

    def drive(self, hands: Callable[[EntryEditor], Any]) -> Callable[[EntryEditor], Any]:
        """An answer for `ScriptedDialogs.run`: show the editor, let `hands` work in it, wait until it is closed."""

        async def work(editor: EntryEditor) -> int:
            editor.show()
            await eventually(lambda: editor.isActiveWindow() or editor.activateWindow())
            await hands(editor)
            await eventually(editor.isHidden)
            self.closed.append(editor)
            return editor.result()

        return work


def _titles(model: Any) -> list[str]:
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def at_the_desk(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Give an async test its `desk`: the window opens and closes inside the test's own turn of the loop.

    A fixture could not: between a fixture and its test Qt runs events while no asyncio loop does.
    """
    parameters = inspect.signature(test).parameters

    @functools.wraps(test)
    async def opened(**fixtures: Any) -> None:
        open_window = fixtures["open_window"] if "open_window" in parameters else fixtures.pop("open_window")
        async with open_window(PAGES) as desktop:
            desk = Desk(desktop)
            await desk.built()
            await test(desk=desk, **fixtures)

    kept = [parameter for name, parameter in parameters.items() if name not in ("desk", "open_window")]
    asked = inspect.Parameter("open_window", inspect.Parameter.KEYWORD_ONLY)
    opened.__signature__ = inspect.Signature([*kept, asked])  # type: ignore[attr-defined]
    return opened
