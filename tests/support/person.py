"""A person at DevFlow's window, for tests in the user's words: `async with start() as person`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtWidgets import QWidget

from devflow.app.core import Core
from devflow.app.desktop import Desktop
from devflow.domain.conversation import ModelChoice
from devflow.domain.knowledge import Entry, draft
from devflow.domain.provider import ProviderDraft, Roles
from devflow.knowledge.acts import Actor
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands

PATIENCE = 20.0
"""Seconds until a person gives up; a machine with all its cores busy is slow, and then still right."""


class Person:
    """Acts by clicks and keys alone, and reads what is visible. What it may not do by hand yet says so in its name."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop = desktop

    @property
    def core(self) -> Core:
        return self.desktop.core

    # waiting

    async def until(self, condition: Callable[[], object], what: str = "", *, within: float = PATIENCE) -> None:
        """Look at every turn of the loop until `condition()` holds; fails with what the window shows instead."""
        loop = asyncio.get_running_loop()
        end = loop.time() + within
        while not condition():
            if loop.time() > end:
                raise AssertionError(f"waited {within} s for: {what or 'a condition'}\n{hands.everything()}")
            QCoreApplication.sendPostedEvents()
            await asyncio.sleep(0.002)

    async def sees(self, text: str, *, on: str = "mainWindow", within: float = PATIENCE) -> None:
        """Until `text` can be read there."""
        await self.until(lambda: self.reads(text, on=on), f"{text!r} on {on}", within=within)

    async def finds(self, name: str, *, within: float = PATIENCE) -> QWidget:
        """Until a widget of that name is visible."""
        await self.until(lambda: hands.visible(name), f"a visible {name}", within=within)
        return hands.find(name)

    async def misses(self, name: str, *, within: float = PATIENCE) -> None:
        """Until no widget of that name is visible."""
        await self.until(lambda: not hands.visible(name), f"no visible {name}", within=within)

    # looking

    def reads(self, text: str, *, on: str = "mainWindow") -> bool:
        return any(text in hands.words(widget) for widget in hands.visible(on))

    def words(self, name: str) -> str:
        """All that can be read in the visible widgets of that name; empty when there is none."""
        return "\n".join(hands.words(widget) for widget in hands.visible(name))

    @property
    def badge(self) -> str:
        """The number on the Inbox tab; empty while it is hidden."""
        found = hands.visible("inboxBadge")
        return str(found[0].text) if found else ""  # type: ignore[attr-defined]  # our own Badge

    @property
    def answer(self) -> str:
        """The newest answer in the transcript."""
        found = hands.answers()
        return found[-1] if found else ""

    # acting

    async def comes(self) -> None:
        """The window is in front and has the keyboard."""
        await self.until(lambda: hands.reach(self.desktop.window), "the window in front")

    async def clicks(self, target: str | QWidget, at: QPoint | None = None) -> None:
        """Wait until it is there and can be pressed, then click it."""
        if isinstance(target, str):
            await self.until(lambda: any(each.isEnabled() for each in hands.visible(target)), f"an enabled {target}")
        await self.until(lambda: hands.reach(target), "its window in front")
        hands.click(target, at)

    def types(self, text: str) -> None:
        hands.type_text(text)

    def presses(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        hands.press(key, modifiers)

    async def asks(self, text: str) -> None:
        """Type a message into the composer and send it by Enter."""
        await self.clicks("composer")
        self.types(text)
        self.presses(Qt.Key.Key_Return)
        await self.until(lambda: self.words("composer") == "", "the composer gives the text away")

    async def is_answered(self, text: str = "") -> None:
        """Until the run has ended and its answer shows `text`."""
        await self.until(
            lambda: text in self.answer and self.answer and not hands.visible("stopButton"), f"an answer with {text!r}"
        )

    async def goes_to(self, tab: str) -> None:
        """Click a tab of the rail (`Chat`, `Knowledge`, `Inbox`) and wait for its page."""
        await self.clicks(f"nav{tab}")
        await self.finds(f"{tab.lower()}Page")

    async def begins_a_conversation(self) -> None:
        await self.goes_to("Chat")
        await self.shows_the_conversations()
        await self.clicks("newConversationButton")
        await self.until(lambda: not hands.answers(), "an empty conversation")

    async def shows_the_conversations(self) -> None:
        """The list of conversations; a narrow window has it behind a button."""
        if not hands.visible("conversationList"):
            await self.clicks("showConversationsButton")
        await self.finds("conversationList")

    async def chooses_from(self, picker: str, text: str) -> None:
        """Open a picker and choose the row that begins so."""
        await self.clicks(picker)
        hands.choose(text)

    # not by hand

    async def connect_by_service(self, server: OpenAIServer, name: str = "Scripted") -> ModelChoice:
        """Set a model server up as the main model, as the settings dialog does; the composer shows it afterwards."""
        models = self.core.models
        config = await models.add(ProviderDraft(name, server.base_url, "custom", models=tuple(server.models)))
        choice = ModelChoice(config.id, server.models[0])
        await models.save_roles(Roles(main=choice))
        await self.until(lambda: choice.model in _picker(), "the model in the composer")
        return choice

    async def publish_by_service(self, title: str, content: str) -> Entry:
        """An entry that is already in the library when the story begins."""
        knowledge = self.core.knowledge
        made = await knowledge.knowledge_create(draft(kind="pitfall", title=title, content=content), actor=Actor.user())
        return (await knowledge.knowledge_approve(made.entries[0].id, actor=Actor.user())).entries[0]


def _picker() -> str:
    found = hands.visible("modelPicker")
    return found[0].accessibleName() if found else ""
