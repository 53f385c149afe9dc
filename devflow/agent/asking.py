"""What a step asks: the rows it is made from, a request that fits, and what its size teaches about the model.

A server that says before its first token that the request is too long is asked once more with a shorter one: by the
window that it named, else by a smaller one (decision 20).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devflow.agent.engine import Engine
from devflow.domain.conversation import Conversation, Message, Usage
from devflow.domain.errors import UserFacing
from devflow.domain.request import ModelRequest
from devflow.domain.run import Run, ToolCall
from devflow.prompt.compose import Turn, compose_turn
from devflow.prompt.estimate import estimated
from devflow.prompt.too_long import TooLong
from devflow.providers.failures import ContextOverflow
from devflow.providers.protocol import Provider
from devflow.store import conversations, runs
from devflow.store.database import Session
from devflow.tools.tool import Tool

log = logging.getLogger(__name__)

SHORTER = 0.9
"""A second request that is not at least this much shorter would be refused like the first."""
SMALLER_WINDOW = 0.75
"""Of what was sent: the window that is believed in where a refusal names none that helps."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the step is made from. `only` are the tools of a headless run, which nobody can be asked about."""

    run: Run
    conversation: Conversation
    path: tuple[Message, ...]
    calls: Mapping[str, tuple[ToolCall, ...]]
    replays: Mapping[str, Mapping[str, Any]]
    question: str
    only: tuple[str, ...] | None


def scene_of(session: Session, run_id: str) -> Scene:
    row = runs.row_of(session, run_id)
    run = runs.to_run(row)
    path = conversations.path_to(session, runs.tip_of(row))
    return Scene(
        run=run,
        conversation=conversations.get(session, row.conversation_id),
        path=path,
        calls=runs.calls_of(session, [message.id for message in path]),
        replays=conversations.replays(session, row.conversation_id, run.choice),
        question=conversations.message(session, row.user_message_id).content,
        only=runs.tools_of(session, run_id),
    )


@dataclass(slots=True)
class Asking:
    """The requests of one step."""

    engine: Engine
    scene: Scene
    tools: Mapping[str, Tool]
    _composed: ModelRequest | None = None

    async def compose(self, provider: Provider) -> ModelRequest:
        """The request, in the window that the model has; raises `TooLong` where it cannot be made to fit."""
        run, engine = self.scene.run, self.engine
        told = await provider.context_window(run.choice.model)
        window = engine.calibration.window(run.choice, told)
        receipt = await engine.lookups.receipt_for(run.id, window)
        turn = Turn(
            model=run.choice.model,
            messages=self.scene.path,
            calls=self.scene.calls,
            question=self.scene.question,
            receipt=receipt,
            project=self.scene.conversation.project,
            tools=tuple(tool.spec for tool in self.tools.values()),
            skills=run.skill.text if run.skill is not None else "",
            window=window,
            ratio=await engine.calibration.ratio(run.choice),
            replays=self.scene.replays,
        )
        request = compose_turn(turn, engine.templates)
        await engine.db.write(lambda unit: runs.write_measure(unit, run.id, request.measure))
        self._composed = request
        return request

    async def compose_shorter(self, provider: Provider, sent: ModelRequest, refusal: ContextOverflow) -> ModelRequest:
        """A request that is shorter than the one that was refused; raises the refusal where there is none."""
        choice, calibration, before = self.scene.run.choice, self.engine.calibration, estimated(sent)
        told = await provider.context_window(choice.model)
        limits = refusal.limits
        ratio = await calibration.ratio(choice)
        await calibration.overflowed(choice, told=told, estimated=before, window=limits.window, sent=limits.sent)
        try:
            request = await self.compose(provider)
            if estimated(request) > SHORTER * before:
                calibration.shrink(choice, told, int(before * ratio * SMALLER_WINDOW))
                request = await self.compose(provider)
        except TooLong:
            raise refusal from None
        if estimated(request) > SHORTER * before:
            raise refusal
        log.info(
            "%s refused about %d tokens as too long; asked again with about %d",
            choice.model,
            before,
            estimated(request),
        )
        return request

    async def learn(self, usage: Usage | None) -> None:
        """Hold the estimate against what the server counted; not worth failing an answer that is there."""
        if self._composed is None or usage is None:
            return
        try:
            await self.engine.calibration.observe(
                self.scene.run.choice, estimated=estimated(self._composed), counted=usage.input_tokens
            )
        except UserFacing as error:
            log.warning("what %s counted was not kept: %s", self.scene.run.choice.model, error)
