"""A whole DevFlow without a window: real database, real HTTP server with scripted turns, real files."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from devflow.app.core import Core, close_core, open_core
from devflow.app.paths import app_paths
from devflow.domain.conversation import Conversation, Message, Role
from devflow.domain.events import Event
from devflow.domain.knowledge import Entry, draft
from devflow.domain.provider import ProviderDraft
from devflow.domain.receipt import Receipt
from devflow.domain.run import Run, RunState, ToolCall
from devflow.knowledge.service import Actor
from tests.fakes.openai_server import OpenAIServer
from tests.integration.agent.children import Children


@dataclass
class Bench:
    """One process' core, and what tests ask of it."""

    core: Core
    server: OpenAIServer
    workspace: Path
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.core.hub.subscribe(self.events.append)

    async def conversation(self, *, project: bool = False) -> Conversation:
        made = await self.core.projects.ensure(self.workspace) if project else None
        return await self.core.conversations.create(project_id=made.id if made else None)

    async def ask(self, conversation: Conversation, text: str) -> Run:
        """Send and wait until the run stands still."""
        run = await self.core.turns.send(conversation.id, text)
        return await self.core.turns.wait(run.id)

    async def publish(self, title: str, content: str, *, project_id: str | None = None, kind: str = "pitfall") -> Entry:
        made = await self.core.knowledge.knowledge_create(
            draft(kind=kind, title=title, content=content, project_id=project_id), actor=Actor.user()
        )
        done = await self.core.knowledge.knowledge_approve([made.entries[0].id], actor=Actor.user())
        return done.entries[0]

    async def archive(self, entry: Entry) -> None:
        await self.core.knowledge.knowledge_archive(entry.id, actor=Actor.user())

    async def messages(self, conversation: Conversation) -> tuple[Message, ...]:
        return (await self.core.conversations.path(conversation.id)).messages

    async def answer(self, conversation: Conversation) -> Message:
        """The newest assistant message of the active path."""
        return next(m for m in reversed(await self.messages(conversation)) if m.role is Role.ASSISTANT)

    async def calls(self, conversation: Conversation) -> list[ToolCall]:
        """All calls of the active path, in order."""
        messages = await self.messages(conversation)
        by_message = await self.core.conversations.calls([m.id for m in messages])
        return [call for message in messages for call in by_message.get(message.id, ())]

    async def receipts(self, conversation: Conversation) -> tuple[Receipt, ...]:
        return await self.core.conversations.receipts(conversation.id)

    async def states(self, conversation: Conversation) -> list[RunState]:
        return [run.state for run in await self.core.conversations.runs(conversation.id)]

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def event(self, *kinds: type[Any], patience: float = 10, **values: Any) -> Any:
        """The first event of these kinds, past or to come (within `patience` seconds), with these values."""

        def fits(event: Event) -> bool:
            return isinstance(event, kinds) and all(getattr(event, name) == value for name, value in values.items())

        if seen := next((event for event in self.events if fits(event)), None):
            return seen
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        off = self.core.hub.subscribe(
            lambda event: future.set_result(event) if fits(event) and not future.done() else None
        )
        try:
            return await asyncio.wait_for(future, patience)
        finally:
            off()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


class Processes:
    """Opens cores on one home, each a process of its own as far as locks and the database can tell."""

    def __init__(self, home: Path, server: OpenAIServer, workspace: Path, stack: AsyncExitStack) -> None:
        self._home, self._server, self._workspace, self._stack = home, server, workspace, stack

    async def start(self, *, background: bool = False) -> Bench:
        core = await open_core(app_paths(self._home), background=background)
        self._stack.push_async_callback(self._close, core)
        self._closed: set[int] = getattr(self, "_closed", set())
        return Bench(core, self._server, self._workspace)

    async def stop(self, bench: Bench) -> None:
        await self._close(bench.core)

    async def _close(self, core: Core) -> None:
        if id(core) not in self._closed:
            self._closed.add(id(core))
            await close_core(core)


@pytest.fixture
async def processes(home: Path, server: OpenAIServer, workspace: Path) -> AsyncIterator[Processes]:
    async with AsyncExitStack() as stack:
        yield Processes(home, server, workspace, stack)


@pytest.fixture
async def bench(processes: Processes, server: OpenAIServer) -> Bench:
    """A core whose main model is the scripted server."""
    made = await processes.start()
    await made.core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
    made.events.clear()
    return made


@pytest.fixture
async def offline(processes: Processes) -> Bench:
    """A core without a model: the built-in assistant answers."""
    return await processes.start()


@pytest.fixture
def children(home: Path, tmp_path: Path) -> Iterator[Children]:
    """Starts real processes on the home of the `bench`; whichever is left at the end is killed."""
    made = Children(home, tmp_path / "effects.log")
    yield made
    made.kill_all()
