"""A real window with its Chat page over a real database, and a model server that answers from a script."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from devflow.app.core import Core
from devflow.domain.conversation import ModelChoice
from devflow.domain.knowledge import Entry, draft
from devflow.domain.provider import ProviderDraft, Roles
from devflow.knowledge.acts import Actor
from devflow.ui.pages.chat import ChatPage
from devflow.ui.pages.chat.turn_block import TurnBlock
from devflow.ui.window import Pages
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.support.waiting import until
from tests.ui.conftest import OpenWindow, ScriptedDialogs

if TYPE_CHECKING:
    from devflow.app.desktop import Desktop


@dataclass(slots=True)
class Chat:
    """The page in its window, and the few acts that most tests begin with."""

    desktop: "Desktop"
    page: ChatPage
    dialogs: ScriptedDialogs

    @property
    def core(self) -> Core:
        return self.desktop.core

    @property
    def last(self) -> TurnBlock:
        return self.page.transcript.blocks[-1]

    @property
    def answer(self) -> str:
        """The text of the newest answer as it is shown."""
        blocks = [block for block in self.last.answers.values() if block.text is not None]
        return blocks[-1].text.source if blocks and blocks[-1].text is not None else ""

    def write(self, text: str) -> None:
        self.page.composer.field.setFocus()
        hands.type_into(self.page.composer.field, text)

    def enter(self) -> None:
        QTest.keyClick(self.page.composer.field, Qt.Key.Key_Return)

    def say(self, text: str) -> None:
        """Type and send."""
        self.write(text)
        self.enter()

    async def shown(self, condition: Callable[[], bool]) -> None:
        """Until the page has read what makes `condition` true."""
        await until(condition, self.page.session.shown, timeout=10)

    async def listed(self, condition: Callable[[], bool]) -> None:
        await until(condition, self.page.list.read, timeout=10)

    async def answered(self, turns: int = 1) -> None:
        """Until the newest of so many turns is finished, one way or the other."""
        await self.shown(lambda: len(self.page.session.turns) == turns and not self.page.session.turns[-1].open_run)

    async def asked(self, text: str) -> None:
        """Send and wait for the end of the answer."""
        turns = len(self.page.session.turns) + 1
        self.say(text)
        await self.answered(turns)

    async def asked_in_new(self, text: str) -> None:
        """The same in a conversation of its own."""
        self.page.start_new()
        await self.asked(text)

    async def waits_for_decision(self) -> None:
        await self.shown(lambda: self.page.transcript.card() is not None)

    def find(self, name: str, kind: type[QWidget] = QWidget) -> QWidget:
        """The visible widget with that objectName; the newest where there are several."""
        found = [each for each in self.page.findChildren(kind, name) if each.isVisible()]
        assert found, f"no visible {name}"
        return found[-1]

    def press(self, name: str) -> None:
        QTest.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    async def publish(self, title: str, content: str, kind: str = "pitfall") -> Entry:
        knowledge = self.core.knowledge
        made = await knowledge.knowledge_create(draft(kind=kind, title=title, content=content), actor=Actor.user())
        await knowledge.knowledge_approve(made.entries[0].id, actor=Actor.user())
        return await knowledge.knowledge_get(made.entries[0].id)

    async def connect(self, server: OpenAIServer) -> ModelChoice:
        """Set the scripted server up as the main model."""
        config = await self.core.models.add(
            ProviderDraft("Scripted", server.base_url, "custom", models=tuple(server.models))
        )
        choice = ModelChoice(config.id, server.models[0])
        await self.core.models.save_roles(Roles(main=choice))
        await until(lambda: self.page.composer.model.shown == choice, self.page.composer.model.known)
        return choice


OpenChat = Callable[..., contextlib.AbstractAsyncContextManager[Chat]]


@pytest.fixture
def open_chat(open_window: OpenWindow, dialogs: ScriptedDialogs) -> OpenChat:
    """`async with open_chat() as chat:` or, with a model, `open_chat(server)`; may be opened again: a restart."""

    @contextlib.asynccontextmanager
    async def opened(server: OpenAIServer | None = None) -> AsyncIterator[Chat]:
        async with open_window(Pages(chat=ChatPage)) as desktop:
            page = desktop.window.page("chat")
            assert isinstance(page, ChatPage)
            chat = Chat(desktop, page, dialogs)
            desktop.window.resize(1280, 800)
            if not page.list.loaded:
                await chat.listed(lambda: page.list.loaded)
            if server is not None and not await desktop.core.models.list():
                await chat.connect(server)
            yield chat

    return opened


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(models=["scripted"], context_window=32_000) as running:
        yield running


async def eventually(condition: Callable[[], bool]) -> None:
    """Let the loop turn until `condition` holds: for what no signal tells of."""
    async with asyncio.timeout(10):
        while not condition():
            QCoreApplication.sendPostedEvents()  # a chain of zero timers leaves Qt no room for its own
            await asyncio.sleep(0)
