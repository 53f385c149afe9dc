"""A person who talks to a knowledge base, and everything that a turn leaves behind."""

import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import Conversation, Role
from devflow.domain.digest import FileState
from devflow.domain.events import (
    Event,
    KnowledgeSearchDone,
    KnowledgeSearchEmpty,
    KnowledgeSearchError,
    KnowledgeSearchStart,
    RunChanged,
    TextArrived,
)
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.provider import ProviderDraft
from devflow.domain.receipt import Receipt
from devflow.domain.run import RunState
from devflow.prompt.pages import build_knowledge_context_prompt
from devflow.retrieval.answers import named_pages
from tests.fakes.reading_server import ReadingServer, Shown, context_of, pages_in
from tests.integration.digest.conftest import desk as desk
from tests.support.pages import write

WORDS = {
    KnowledgeSearchStart: "start",
    KnowledgeSearchDone: "done",
    KnowledgeSearchEmpty: "empty",
    KnowledgeSearchError: "error",
    TextArrived: "text",
}


@dataclass(frozen=True)
class Said:
    """One turn: what was asked, what was sent, what was logged, what was answered, what was told meanwhile.

    `sent` is the user's message as the server received it (as the offline assistant was given it). `events`: `start`,
    `done`, `empty` or `error`, then `text` as often as it came, then `end`.
    """

    question: str
    sent: str
    earlier: tuple[str, ...]
    line: dict[str, Any]
    answer: str
    receipt: Receipt
    events: tuple[str, ...]
    told: tuple[str, ...]
    state: RunState

    @property
    def searches(self) -> list[str]:
        return [event for event in self.events if event not in ("text", "end")]

    @property
    def pages(self) -> list[Shown]:
        """The pages in the request."""
        return pages_in(self.sent)

    @property
    def paths(self) -> list[str]:
        return [page.path for page in self.pages]

    @property
    def references(self) -> list[str]:
        """The paths that the end of the answer lists."""
        for heading in ("参考页面", "Reference pages"):
            if heading in self.answer:
                return list(named_pages(self.answer.rpartition(heading)[2]))
        return []

    def found(self, *, least: int = 1) -> None:
        """§7.1: the request, the line and the answer all say that pages were found, and the same ones."""
        assert self.sent.startswith(f"{self.question}\n\n---\n[")
        assert len(self.pages) >= least
        assert self.line["triggered"] is True
        assert self.line["error"] is None
        assert [result["path"] for result in self.line["results"]] == self.paths
        assert [result["hitReason"] for result in self.line["results"]] == [page.reason for page in self.pages]
        assert self.line["wrappedCharCount"] == len(self.sent)
        assert any(page.title in self.answer for page in self.pages), self.answer
        assert self.references
        assert set(self.references) <= set(self.paths), "a page that was not found is no reference"
        assert (self.line["cited"], self.line["unverified"]) == (self.references, [])
        assert self.line["askedBack"] is False
        assert self.events[:2] == ("start", "done")
        assert set(self.events[2:-1]) == {"text"}
        assert self.events[-1] == "end"
        assert list(self.told) == self.paths

    def found_nothing(self) -> None:
        """§7.1 where nothing is there: looked up, said so in the request, the line and the answer."""
        assert self.sent.startswith(f"{self.question}\n\n---\n[")
        assert self.pages == []
        assert (self.line["triggered"], self.line["results"], self.line["error"]) == (True, [], None)
        assert self.line["wrappedCharCount"] == len(self.sent)
        assert "当前知识库未找到相关内容" in self.answer or "Nothing relevant was found in the current" in self.answer
        assert (self.references, self.line["askedBack"]) == ([], False)
        assert self.events[:2] == ("start", "empty")
        assert set(self.events[2:]) == {"text", "end"}

    def looked_for_nothing(self) -> None:
        """§7.1 where no lookup is due: the bare message, a line that says so, no event, and an answer all the same."""
        assert self.sent == self.question
        assert context_of(self.sent) is None
        assert (self.line["triggered"], self.line["results"]) == (False, [])
        assert self.line["wrappedCharCount"] == len(self.question)
        assert self.searches == []
        assert self.answer


@dataclass
class Talk:
    """One core, one model server (None: the offline assistant answers), one conversation at a time."""

    core: Core
    server: ReadingServer | None
    conversation: Conversation | None = None
    heard: list[Event] = field(default_factory=list)

    async def open(self, folder: Path, pages: Mapping[str, str]) -> KnowledgeBase:
        """Open a folder with these pages, and begin a conversation in it."""
        base = await self.core.bases.open(write(folder, pages))
        await self.use(base)
        return base

    async def digest(self, base: KnowledgeBase, files: Sequence[Path]) -> None:
        """Three files at a time; by a model that is connected for it, where none is."""
        async with AsyncExitStack() as stack:
            if self.server is None:
                server = stack.enter_context(ReadingServer())
                draft = ProviderDraft("Digester", server.base_url, models=("scripted",))
                stack.push_async_callback(self.core.models.remove, (await self.core.models.add(draft)).id)
            batch = await self.core.digests.start(base.id, files, concurrency=3)
            done = await self.core.digests.wait(batch.id)
        assert [file.state for file in done.files] == [FileState.DONE] * len(files)

    async def empty(self, folder: Path) -> KnowledgeBase:
        """Initialise an empty folder, and begin a conversation in it."""
        folder.mkdir()  # noqa: ASYNC240 - one folder
        base = await self.core.bases.initialise(folder, "自媒体创作的文章")
        await self.use(base)
        return base

    async def use(self, base: KnowledgeBase | None) -> None:
        """Begin a conversation in that knowledge base."""
        self.conversation = await self.core.conversations.create(kb_id=base.id if base is not None else None)

    @contextlib.asynccontextmanager
    async def window(self, tokens: int) -> AsyncIterator[None]:
        """The main model is another one, with a window of so many tokens."""
        for config in await self.core.models.list():
            await self.core.models.remove(config.id)
        with ReadingServer(context_window=tokens) as server:
            await self.core.models.add(ProviderDraft("Window", server.base_url, models=("scripted",)))
            self.server = server
            yield

    async def ask(self, text: str) -> Said:
        """One turn, to its end."""
        assert self.conversation is not None
        self.heard.clear()
        requests = len(self.server.requests) if self.server is not None else 0
        run = await self.core.turns.send(self.conversation.id, text)
        run = await self.core.turns.wait(run.id)
        path = await self.core.conversations.path(self.conversation.id)
        newest, question = path.messages[-1], path.messages[-2]
        assert (question.role, question.content) == (Role.USER, text), "the message is kept clean"
        receipt = (await self.core.conversations.receipts(self.conversation.id))[-1]
        if self.server is not None:
            (request,) = self.server.requests[requests:]
            users = tuple(str(m["content"]) for m in request.messages if m["role"] == "user")
        else:
            users = (build_knowledge_context_prompt(text, receipt.pages),)
        done = [event for event in self.heard if isinstance(event, KnowledgeSearchDone)]
        return Said(
            question=text,
            sent=users[-1],
            earlier=users[:-1],
            line=self.lines()[-1] if self.conversation.kb_id is not None else {},
            answer=newest.content,
            receipt=receipt,
            events=tuple(self._words()),
            told=done[0].paths if done else (),
            state=run.state,
        )

    def lines(self) -> list[dict[str, Any]]:
        """The log of lookups, whichever day it is."""
        files = sorted((self.core.paths.logs / "retrieval").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]

    def _words(self) -> Iterator[str]:
        for event in self.heard:
            if type(event) in WORDS:
                yield WORDS[type(event)]
            elif isinstance(event, RunChanged) and event.state is RunState.COMPLETED:
                yield "end"


@pytest.fixture
def reader() -> Iterator[ReadingServer]:
    with ReadingServer() as server:
        yield server


@pytest.fixture
async def core(home: Path) -> AsyncIterator[Core]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(opened(app_paths(home)))


@pytest.fixture
async def talk(core: Core, reader: ReadingServer) -> Talk:
    """The main model is one on a real server that answers from what it is sent."""
    await core.models.add(ProviderDraft("Reader", reader.base_url, models=("scripted",)))
    made = Talk(core, reader)
    core.hub.subscribe(made.heard.append)
    return made


@pytest.fixture
def offline(core: Core) -> Talk:
    """No model: the built-in assistant answers."""
    made = Talk(core, None)
    core.hub.subscribe(made.heard.append)
    return made


@pytest.fixture(params=["model", "offline"])
def anyone(request: pytest.FixtureRequest) -> Talk:
    """Each of the two."""
    made: Talk = request.getfixturevalue("talk" if request.param == "model" else "offline")
    return made
