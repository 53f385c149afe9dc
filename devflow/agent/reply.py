"""One step: ask the provider, stream its answer into a message, and commit the message with its calls as one.

Text reaches the screen as it comes and the disk every second; calls reach the disk before the screen. A stream that
breaks or is stopped leaves its text, marked partial (spec 03, rule 7).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from devflow.agent.asking import Asking, Scene, scene_of
from devflow.agent.calls import prepare_calls
from devflow.agent.citing import record_citations
from devflow.agent.engine import Engine
from devflow.agent.mending import settle_failed
from devflow.agent.problems import empty_answer, output_limit, problem_of, refused
from devflow.agent.untrusted import has_read_untrusted
from devflow.domain.conversation import Message, MessageState, Role, Usage
from devflow.domain.errors import UserFacing
from devflow.domain.events import MessageStarted, TextArrived
from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ModelRequest,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    TextChunk,
    UsageChunk,
)
from devflow.domain.run import Problem, Run, RunState
from devflow.providers.failures import ContextOverflow
from devflow.providers.protocol import Provider
from devflow.store import conversations, runs
from devflow.store.database import Database, Unit
from devflow.store.runs import NewCall
from devflow.tools.tool import Tool, ToolContext

ANSWER_MAX = 1_000_000
"""Characters of one answer, thinking included: a model that never stops is stopped, and can be continued."""

CHECKPOINT_S = 1.0
"""Streaming text is on disk after at most so many seconds."""


async def reply(engine: Engine, run_id: str) -> None:
    """Do the step that `loop` has claimed. A failure that the user can act on ends the run with its problem."""
    scene = await engine.db.read(lambda session: scene_of(session, run_id))
    context = await engine.tool_context(
        scene.conversation.id, scene.conversation.project, kb_id=scene.conversation.kb_id, only=scene.only
    )
    tools = engine.tools(context, scene.only)
    answer = _Answer(engine, scene.run, scene.path[-1])
    try:
        provider = await engine.models.resolve(scene.run.choice)
        asking = Asking(engine, scene, tools)
        end = await _ask(answer, provider, asking)
    except UserFacing as error:
        await answer.fail(problem_of(error))
        return
    if end is None:
        return
    if problem := _shortcoming(answer, end):
        await answer.fail(problem)
    else:
        calls = await _prepared(engine, scene, tools, context, answer.calls) if answer.calls else ()
        await answer.complete(calls)
    await asking.learn(answer.usage)


async def _prepared(
    engine: Engine, scene: Scene, tools: Mapping[str, Tool], context: ToolContext, asked: Sequence[CallChunk]
) -> tuple[NewCall, ...]:
    """What the model asked for as rows; what it has read by now, this step's pages too, decides which rules hold."""
    at = scene.conversation.id, scene.path[-1].id, scene.run.id
    untrusted = await engine.db.read(lambda session: has_read_untrusted(session, *at))
    seen = replace(context, read_untrusted=untrusted)
    return await prepare_calls(asked, tools, seen, unattended=scene.only is not None)


async def _ask(answer: _Answer, provider: Provider, asking: Asking) -> StreamEnd | None:
    """Send the step's request; once more, shorter, where the server says before its first token that it is too long."""
    request = await asking.compose(provider)
    try:
        end = await _stream(answer, provider, request)
    except ContextOverflow as refusal:
        if answer.begun:
            raise
        request = await asking.compose_shorter(provider, request, refusal)
        end = await _stream(answer, provider, request)
    return end


async def _stream(answer: _Answer, provider: Provider, request: ModelRequest) -> StreamEnd | None:
    """Read the stream to its end; None if the run was stopped by another process meanwhile."""
    end: StreamEnd | None = None
    async with answer.checkpoints(), contextlib.aclosing(provider.stream(request)) as events:
        async for event in events:
            if answer.lost:
                return None
            match event:
                case TextChunk(text):
                    await answer.say(text)
                case ReasoningChunk(text):
                    await answer.think(text)
                case CallChunk():
                    answer.calls.append(event)
                case UsageChunk(input_tokens, output_tokens):
                    answer.usage = Usage(input_tokens, output_tokens)
                case ReplayChunk(value):
                    answer.replay = value
                case StreamEnd():
                    end = event
            if answer.size > ANSWER_MAX:
                end = StreamEnd(FinishReason.LENGTH)
                break
    if end is None:
        raise RuntimeError("a provider's stream ended without StreamEnd and without ProviderFailed")
    return end


def _shortcoming(answer: _Answer, end: StreamEnd) -> Problem | None:
    """Why an answer that came whole is no good end of a step."""
    if end.reason is FinishReason.REFUSED:
        return refused(end.detail)
    if end.reason is FinishReason.LENGTH:
        return output_limit()
    if not answer.text.strip() and not answer.calls:
        return empty_answer()
    return None


@dataclass(slots=True)
class _Answer:
    """The assistant message as it grows. Its row is made with the first character and is `streaming` until the end."""

    engine: Engine
    run: Run
    parent: Message
    calls: list[CallChunk] = field(default_factory=list)
    usage: Usage | None = None
    replay: Mapping[str, Any] | None = None
    message_id: str | None = None
    lost: bool = False
    size: int = 0
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _dirty: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def begun(self) -> bool:
        return bool(self.size or self.calls)

    @property
    def text(self) -> str:
        return "".join(self._text)

    async def say(self, text: str) -> None:
        await self._add(self._text, text, reasoning=False)

    async def think(self, text: str) -> None:
        await self._add(self._reasoning, text, reasoning=True)

    async def _add(self, parts: list[str], text: str, *, reasoning: bool) -> None:
        if not text:
            return
        parts.append(text)
        self.size += len(text)
        if self.message_id is None:
            self.message_id = (await self._db.write(self._begin)).id
            self.engine.hub.publish(MessageStarted(self.run.id, self.run.conversation_id, self.message_id))
        self._dirty.set()
        self.engine.hub.publish(
            TextArrived(self.run.id, self.run.conversation_id, self.message_id, text, reasoning=reasoning)
        )

    @contextlib.asynccontextmanager
    async def checkpoints(self) -> AsyncIterator[None]:
        """Write what has come every second while the stream is open; what is left when it ends, at the end."""
        task = asyncio.create_task(self._keep_writing())
        try:
            yield
        finally:
            task.cancel()
            try:
                await asyncio.wait({task})  # not `await task`, whose end would hide that we are being stopped ourselves
            finally:
                if self.message_id is not None and self._dirty.is_set():
                    await self._db.write(self._checkpoint)
            if not task.cancelled():
                task.result()  # a checkpoint that the disk refused

    async def _keep_writing(self) -> None:
        while True:
            await self._dirty.wait()
            await asyncio.sleep(CHECKPOINT_S)
            self._dirty.clear()
            await self._db.write(self._checkpoint)

    async def complete(self, calls: Sequence[NewCall]) -> None:
        """The whole message and its calls in one transaction; if it is the run's last, what it cites too."""
        done = await self._db.write(lambda unit: self._complete(unit, calls))
        if done is None:
            return
        self.engine.message_ended(self.run, done)
        if calls:
            self.engine.calls_changed(self.run, done)

    async def fail(self, problem: Problem) -> None:
        failed = await self._db.write(lambda unit: settle_failed(unit, self.run.id, problem))
        if self.message_id is not None:
            self.engine.message_ended(self.run, self.message_id)
        if failed is not None:
            self.engine.run_changed(failed)

    # on the store's thread -----------------------------------------------------------------------------------------

    def _begin(self, unit: Unit) -> Message:
        message = conversations.insert_message(
            unit,
            conversation_id=self.run.conversation_id,
            parent_id=self.parent.id,
            role=Role.ASSISTANT,
            content=self.text,
            run_id=self.run.id,
            state=MessageState.STREAMING,
            choice=self.run.choice,
        )
        runs.append_message(unit, self.run.id, message.id)
        return message

    def _checkpoint(self, unit: Unit) -> None:
        assert self.message_id is not None
        self.lost = not self._is_ours(unit)
        state = MessageState.PARTIAL if self.lost else MessageState.STREAMING
        self._write(unit, self.message_id, state, announce=self.lost)

    def _complete(self, unit: Unit, calls: Sequence[NewCall]) -> str | None:
        """None if another process stopped the run meanwhile: then what came is a cut answer, and its calls are none."""
        if not self._is_ours(unit):
            return None
        message_id = self.message_id or self._begin(unit).id
        self._write(unit, message_id, MessageState.COMPLETE, announce=True)
        if calls:
            runs.insert_calls(unit, self.run.id, message_id, calls)
        else:
            record_citations(unit, self.run, message_id)
        return message_id

    def _is_ours(self, unit: Unit) -> bool:
        run = runs.get(unit.session, self.run.id)
        return run.state is RunState.CALLING_MODEL and run.owner == self.engine.lock.id

    def _write(self, unit: Unit, message_id: str, state: MessageState, *, announce: bool) -> None:
        conversations.write_message(
            unit,
            message_id,
            content=self.text,
            reasoning="".join(self._reasoning),
            state=state,
            usage=self.usage,
            replay=self.replay if state is MessageState.COMPLETE else None,
            announce=announce,
        )

    @property
    def _db(self) -> Database:
        return self.engine.db
