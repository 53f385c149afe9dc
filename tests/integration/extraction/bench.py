"""A real database, real services, a scripted model and a clock that the test turns."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from devflow.app.paths import app_paths
from devflow.domain.config import KnowledgeConfig
from devflow.domain.conversation import OFFLINE, MessageState, ModelChoice, Origin, Role
from devflow.domain.errors import ProviderFailed
from devflow.domain.events import Event, ExtractionChanged, Hub, RunChanged
from devflow.domain.ids import now as real_now
from devflow.domain.knowledge import Entry
from devflow.domain.request import (
    FinishReason,
    ModelRequest,
    ReasoningChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UserText,
)
from devflow.domain.run import RunState
from devflow.extraction.service import Extraction
from devflow.knowledge.service import Actor, Knowledge
from devflow.knowledge.settings import Settings
from devflow.prompt.templates import Templates
from devflow.store import conversations, extraction_jobs, runs
from devflow.store.database import Database, Unit
from devflow.store.extraction_jobs import Job
from devflow.store.lock import ProcessLock
from devflow.store.migrate import open_database

PATIENCE = 20.0  # seconds until a test gives up what never comes
MODEL = ModelChoice("scripted", "small")

QUESTION = "Why does SQLite say database is locked?"
REPLY = "A deferred transaction cannot upgrade. Use BEGIN IMMEDIATE for writes."


class TurnedClock:
    """Stands still until `advance`."""

    def __init__(self, at: datetime) -> None:
        self._now = at
        self._alarms: list[tuple[datetime, Callable[[], None]]] = []

    def now(self) -> datetime:
        return self._now

    def call_at(self, when: datetime, call: Callable[[], None]) -> Callable[[], None]:
        alarm = (when, call)
        self._alarms.append(alarm)
        return lambda: self._alarms.remove(alarm) if alarm in self._alarms else None

    def advance(self, *, ms: int = 0, **units: float) -> None:
        self._now += timedelta(milliseconds=ms, **units)
        for alarm in [alarm for alarm in self._alarms if alarm[0] <= self._now]:
            self._alarms.remove(alarm)
            alarm[1]()


class Gate:
    """Holds an answer until the test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def arrival(self) -> None:
        """Until an answer stands before the gate."""
        await asyncio.wait_for(self.reached.wait(), PATIENCE)


Answer = str | ProviderFailed | Gate | Exception


class ScriptedProvider:
    """Answers requests in order; keeps them. A `Gate` stands before the next answer."""

    id = MODEL.provider_id

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.requests: list[ModelRequest] = []
        self.window: int | None = None
        self.streaming = 0
        self.most_at_once = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        self.streaming += 1
        self.most_at_once = max(self.most_at_once, self.streaming)
        try:
            answer = self.answers.popleft() if self.answers else '{"items": []}'
            while isinstance(answer, Gate):
                answer.reached.set()
                await answer.opened.wait()
                answer = self.answers.popleft() if self.answers else '{"items": []}'
            if isinstance(answer, Exception):
                raise answer
            yield ReasoningChunk("Let me see [1].")
            for start in range(0, len(answer), 7):
                yield TextChunk(answer[start : start + 7])
            yield StreamEnd(FinishReason.STOP)
        finally:
            self.streaming -= 1

    async def models(self) -> tuple[str, ...]:
        return (MODEL.model,)

    async def context_window(self, model: str) -> int | None:
        return self.window

    async def aclose(self) -> None:
        pass

    def sent(self, place: int = -1) -> str:
        """The conversation's part of a request."""
        (message,) = self.requests[place].messages
        assert isinstance(message, UserText)
        return message.text


@dataclass
class ScriptedModels:
    provider: ScriptedProvider
    choice: ModelChoice | None = MODEL
    local: bool = False

    async def extraction_choice(self) -> ModelChoice | None:
        return self.choice

    async def resolve(self, choice: ModelChoice) -> ScriptedProvider:
        return self.provider

    async def is_local(self, choice: ModelChoice) -> bool:
        return self.local


def item(evidence: str = "Use BEGIN IMMEDIATE for writes", **fields: Any) -> dict[str, Any]:
    return {
        "kind": "pitfall",
        "title": "Take the write lock first",
        "content": "Begin write transactions with `BEGIN IMMEDIATE`.",
        "tags": ["sqlite"],
        "confidence": 0.8,
        "evidence": evidence,
        **fields,
    }


def items(*found: dict[str, Any]) -> str:
    return json.dumps({"items": list(found)}, ensure_ascii=False)


@dataclass
class Bench:
    """One home; `start` and `close` are a start and an end of the application, `die` is a kill."""

    home: Path
    models: ScriptedModels = field(default_factory=lambda: ScriptedModels(ScriptedProvider()))
    clock: TurnedClock = field(default_factory=lambda: TurnedClock(real_now()))
    events: list[ExtractionChanged] = field(default_factory=list)

    async def start(self, *, background: bool = True) -> None:
        paths = app_paths(self.home)
        self.hub = Hub()
        self.hub.subscribe(self._hear)
        self.db: Database = open_database(paths, self.hub)
        self.lock = ProcessLock(paths.locks)
        self.settings = Settings(self.db)
        self.knowledge = Knowledge(self.db, self.settings)
        self.extraction = Extraction(
            self.db,
            self.models,
            self.knowledge,
            self.settings,
            templates=Templates(paths.resources),
            lock=self.lock,
            is_local=self.models.is_local,
            clock=self.clock,
        )
        if background:
            await self.extraction.start()
            await self.settled()

    async def close(self) -> None:
        await self.extraction.close()
        self.db.close()
        self.lock.close()

    async def settled(self) -> None:
        """Until what has happened is worked in, and nothing is left to do while the clock stands."""
        await asyncio.wait_for(self.extraction.settled(), PATIENCE)

    async def restart(self) -> None:
        await self.close()
        await self.start()

    @property
    def provider(self) -> ScriptedProvider:
        return self.models.provider

    def answer(self, *answers: Answer) -> None:
        self.provider.answers.extend(answers)

    async def configure(self, **fields: Any) -> None:
        config = replace(await self.knowledge.knowledge_get_config(), **fields)
        await self.knowledge.knowledge_save_config(KnowledgeConfig(**vars_of(config)), actor=Actor.user())
        await self.settled()

    # conversations -------------------------------------------------------------------------------------------------

    async def conversation(self, *, origin: Origin = Origin.WINDOW, project_id: str | None = None) -> str:
        made = await self.db.write(lambda unit: conversations.create(unit, origin=origin, project_id=project_id))
        return made.id

    async def ready(self, conversation_id: str | None = None) -> str:
        """A conversation of two turns whose last run has just ended; what that triggers has not begun."""
        id = conversation_id or await self.conversation()
        await self.say(id, QUESTION, REPLY, "And with WAL?", "The same holds.")
        self.hub.publish(RunChanged("run", id, RunState.COMPLETED))
        return id

    async def say(self, conversation_id: str, *texts: str, role: Role = Role.USER) -> tuple[str, ...]:
        """Append messages to the active path, user and assistant in turn."""

        def work(unit: Unit) -> tuple[str, ...]:
            ids = []
            speaking = role
            for text in texts:
                leaf = conversations.get(unit.session, conversation_id).leaf_id
                message = conversations.insert_message(
                    unit, conversation_id=conversation_id, parent_id=leaf, role=speaking, content=text
                )
                conversations.move_leaf(unit, conversation_id, before=leaf, to=message.id)
                ids.append(message.id)
                speaking = Role.ASSISTANT if speaking is Role.USER else Role.USER
            return tuple(ids)

        return await self.db.write(work)

    async def begin_run(self, conversation_id: str, *, choice: ModelChoice = MODEL) -> str:
        """A run that has just called the model."""

        def work(unit: Unit) -> str:
            leaf = conversations.get(unit.session, conversation_id).leaf_id or ""
            run = runs.insert(
                unit, conversation_id=conversation_id, user_message_id=leaf, choice=choice, owner=self.lock.id
            )
            runs.set_state(unit, run.id, RunState.CALLING_MODEL, owner=self.lock.id)
            return run.id

        run_id = await self.db.write(work)
        self.hub.publish(RunChanged(run_id, conversation_id, RunState.CALLING_MODEL))
        return run_id

    async def end_run(self, conversation_id: str, run_id: str, state: RunState = RunState.COMPLETED) -> None:
        await self.db.write(lambda unit: runs.set_state(unit, run_id, state, owner=None))
        self.hub.publish(RunChanged(run_id, conversation_id, state))

    async def turn(
        self,
        conversation_id: str,
        question: str = QUESTION,
        reply: str = REPLY,
        *,
        state: RunState = RunState.COMPLETED,
        choice: ModelChoice = MODEL,
    ) -> tuple[str, ...]:
        """A whole run: question, answer, end."""
        asked = await self.say(conversation_id, question)
        run_id = await self.begin_run(conversation_id, choice=choice)
        answered = await self.say(conversation_id, reply, role=Role.ASSISTANT)
        await self.end_run(conversation_id, run_id, state)
        await self.settled()
        return asked + answered

    async def talk(self, turns: int = 2, **options: Any) -> str:
        """A conversation of so many turns; with the default settings its second turn's end extracts it."""
        id = await self.conversation()
        for _ in range(turns):
            await self.turn(id, **options)
        return id

    async def offline_talk(self, turns: int = 2) -> str:
        return await self.talk(turns, choice=OFFLINE)

    # looking -------------------------------------------------------------------------------------------------------

    async def candidates(self) -> tuple[Entry, ...]:
        return (await self.knowledge.knowledge_list_candidates()).entries

    async def jobs(self) -> list[Job]:
        """Every job there is, the oldest first."""
        return list(await self.db.read(extraction_jobs.every))

    async def new_messages(self, conversation_id: str) -> int:
        path = await self.db.read(lambda session: conversations.path(session, conversation_id))
        return sum(m.extracted_at is None and m.state is MessageState.COMPLETE for m in path.messages)

    def states(self) -> list[str]:
        return [str(event.state) for event in self.events]

    def _hear(self, event: Event) -> None:
        if isinstance(event, ExtractionChanged):
            self.events.append(event)


def vars_of(config: KnowledgeConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in KnowledgeConfig.__dataclass_fields__}
