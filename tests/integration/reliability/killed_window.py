"""One life of a window with a human before it, in a process that may be killed at a point chosen beforehand.

It is the real core on the real home. Whoever sits before it allows, denies, edits, clicks twice, changes files behind
the cards, stops, retries and continues, all by a seed, until the conversation is answered. What it decides is written
down before it is decided, and every effect when it begins (`ledger`), so that afterwards both can be counted.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from devflow.agent import reply as reply_module
from devflow.agent.turns import Decision
from devflow.app.core import Core, close_core, open_core
from devflow.app.paths import app_paths
from devflow.domain.conversation import Conversation, MessageState
from devflow.domain.errors import Refused, UserFacing
from devflow.domain.knowledge import draft
from devflow.domain.run import ACTIVE_STATES, CallState, Run, RunState, ToolCall
from devflow.knowledge.service import Actor
from devflow.store import conversations, runs
from devflow.store.database import Session
from tests.integration.reliability.killed_model import QUESTION, SECOND, mark_of
from tests.integration.reliability.killed_points import Doom, Ledger, shown_of, watch_tools, watch_writes

CHECKPOINT_S = 0.02
"""Streaming text goes to the disk so often here, so that kills meet it."""

STUCK_S = 20.0
"""Nobody waits longer than so many seconds for a run to move."""

ABANDONED_S = 8.0
"""A run whose process is gone must not seem to go on for so long in a window that lives (it looks every 2 s)."""

LOOK_S = 0.03

LEFT_S = 1.0
"""A queued message that has not been sent so long after the run's end will not be."""


def live(spec: Mapping[str, Any]) -> int:
    """The life that `spec` describes (`Life`); 0 when the conversation is answered."""
    life = Life(**spec)
    asyncio.run(_live(life))
    return 0


@dataclass(frozen=True)
class Life:
    """`doom` is where it ends itself: `[kind, name, count]`, the count-th time that it comes there; None: nowhere.

    Of two windows at once (`alone` is False) one writes the messages (`types`), both do everything else.

    Kinds: `write` (a transaction whose function's name contains the name), each `before`, `inside` or `after` it as the
    name's prefix says; `tool` (`before`, `during`, `after` the effect); `event` (a hub event of that class).
    """

    home: str
    conversation: str
    folder: str
    ledger: str
    log: str
    seed: str
    types: bool = True
    alone: bool = True
    doom: tuple[str, str, int] | None = None


async def _live(life: Life) -> None:
    ledger = Ledger(Path(life.ledger))
    doom = Doom(ledger, life.doom)
    reply_module.CHECKPOINT_S = CHECKPOINT_S
    watch_writes(doom)
    watch_tools(doom, ledger)
    core = await open_core(app_paths(Path(life.home)), background=True)
    core.hub.subscribe(doom.hears)
    try:
        if life.alone:
            await _nobody_is_left_behind(core, life.conversation)
        await Human(core, life, ledger, random.Random(life.seed)).sees_it_through()
        doom.comes_at_the_end()
    finally:
        await close_core(core)


async def _nobody_is_left_behind(core: Core, conversation_id: str) -> None:
    """Right after a start: what a dead process was at is in a true state, and offered or shown to the human."""

    def look(session: Session) -> None:
        alive = False
        for run in runs.of_conversation(session, conversation_id):
            owned = core.lock.is_alive(run.owner)
            alive = alive or owned
            states = {call.state for call in runs.calls_of_run(session, run.id)}
            assert owned or run.state not in ACTIVE_STATES, f"{run.state} without a living owner after a start"
            assert owned or CallState.EXECUTING not in states, "a call seems to be running and nobody runs it"
            if run.state in (RunState.COMPLETED, RunState.CANCELLED):
                assert not states & {CallState.AWAITING, CallState.APPROVED}, f"open calls in a run that is {run.state}"
            if run.state is RunState.AWAITING_APPROVAL:
                assert owned or CallState.AWAITING in states, "it waits, and there is no card to decide"
        messages = conversations.path(session, conversation_id).messages
        assert alive or all(message.state is not MessageState.STREAMING for message in messages)

    await core.db.read(look)


class Human:
    def __init__(self, core: Core, life: Life, ledger: Ledger, chance: random.Random) -> None:
        self._core, self._ledger, self._random = core, ledger, chance
        self._conversation, self._types, self._folder = life.conversation, life.types, Path(life.folder)
        self._moved = self._dead_since = time.monotonic()
        self._left_at: float | None = None
        self._seen: object = None

    async def sees_it_through(self) -> None:
        """Act until both questions are answered; who writes none, until the newest is."""
        if self._random.random() < 0.2:
            await self._renew_the_library()
        over = False
        while not over:
            over = await self._act()

    async def _act(self) -> bool:
        """Do the next thing that there is to do; whether there is nothing left."""
        every = await self._core.conversations.runs(self._conversation)
        if not every:
            await self._say(QUESTION)
            return not self._types
        newest = every[-1]
        if not self._types and newest.state is RunState.COMPLETED:
            return True
        if self._types and len(every) == 1 and (newest.state is RunState.COMPLETED or self._random.random() < 0.02):
            await self._say(SECOND)
            return False
        match newest.state:
            case RunState.AWAITING_APPROVAL:
                await self._decide(newest)
            case RunState.INTERRUPTED | RunState.FAILED | RunState.CANCELLED:
                await self._go_on(newest)
            case RunState.COMPLETED:
                await self._core.turns.wait(newest.id)
                return True
            case _:
                await self._wait(newest)
        return False

    # acts -----------------------------------------------------------------------------------------------------------

    async def _say(self, text: str) -> None:
        """Once: whoever opens the window again sees whether it is there; one that stayed queued is taken back first."""
        conversation = await self._core.conversations.get(self._conversation)
        messages = (await self._core.conversations.path(self._conversation)).messages
        there = any(message.content == text for message in messages)
        if not self._types:
            return
        if there or (conversation.queued and not self._stays(conversation)):
            await asyncio.sleep(LOOK_S)
            return
        if conversation.queued:
            await self._core.conversations.set_queued(self._conversation, "")
        self._ledger.note(says=text)
        await self._core.turns.send(self._conversation, text)
        self._ledger.note(said=text)

    async def _decide(self, run: Run) -> None:
        waiting = [call for call in await self._calls(run) if call.state is CallState.AWAITING]
        if not waiting:
            return
        call = self._random.choice(waiting)
        dice = self._random.random()
        if dice < 0.15:
            self._change_behind(call)
        if dice < 0.25:
            await asyncio.sleep(self._random.uniform(0, 0.03))
        shown = call.shown_hash
        choice = self._random.random()
        if choice < 0.2:
            await self._tell(call, Decision(False, reason=f"Not now, {call.id}.", shown=shown))
        elif choice < 0.35 and "as asked" in call.arguments:
            edited = call.arguments.replace("as asked", "as edited")
            self._ledger.note(edits=mark_of(call.arguments))
            await self._tell(call, Decision(True, arguments=edited, shown=shown))
        elif choice < 0.4:
            scope: Literal["conversation", "always"] = self._random.choice(("conversation", "always"))
            self._ledger.note(rules=mark_of(call.arguments), tool=call.tool, path=(call.preview or {}).get("path"))
            untrusted = self._random.random() < 0.5
            await self._tell(call, Decision(True, shown=shown, scope=scope, after_untrusted=untrusted))
        elif choice < 0.55:
            twice = Decision(True, shown=shown)
            await asyncio.gather(self._tell(call, twice), self._tell(call, twice))
        else:
            await self._tell(call, Decision(True, shown=shown))

    async def _tell(self, call: ToolCall, decision: Decision) -> None:
        """The word is on record before it is given: an effect that nobody allowed is found."""
        if decision.arguments is None:
            self._ledger.note(
                decides=mark_of(call.arguments),
                call=call.id,
                allow=decision.allow,
                shown=shown_of(json.loads(call.arguments), call.preview),
            )
        try:
            done = await self._core.turns.decide(call.id, decision)
        except Refused:
            return  # it has changed since it was shown, as happens to people too
        except UserFacing as refusal:
            self._ledger.note(refused=str(refusal))
            return
        if done:
            self._ledger.note(decided=mark_of(call.arguments), call=call.id, allow=decision.allow)

    async def _go_on(self, run: Run) -> None:
        again = self._core.turns.retry if self._random.random() < 0.5 else self._core.turns.continue_run
        try:
            await again(run.id)
        except Refused as refusal:
            self._ledger.note(refused=str(refusal))

    async def _wait(self, run: Run) -> None:
        """It works, here or in another process. Sometimes it is stopped."""
        if self._random.random() < 0.004:
            self._ledger.note(stops=run.id)
            await self._core.turns.cancel(run.id)
        await asyncio.sleep(LOOK_S)
        now = await self._core.conversations.run(run.id)
        calls = tuple((call.id, call.state) for call in await self._calls(now))
        leaf = (await self._core.conversations.path(self._conversation)).messages[-1]
        if now.state not in ACTIVE_STATES or self._core.lock.is_alive(now.owner):
            self._dead_since = time.monotonic()
        elif time.monotonic() - self._dead_since > ABANDONED_S:
            raise AssertionError(f"the run is {now.state} for {ABANDONED_S} s, and nobody works on it")
        self._look((now.state, now.steps, calls, leaf.id, len(leaf.content)))

    def _stays(self, conversation: Conversation) -> bool:
        """Whether a queued message is left behind: the window that was to send it when the run ended is gone."""
        if conversation.running or conversation.awaiting:
            self._left_at = None
            return False
        self._left_at = self._left_at or time.monotonic()
        return time.monotonic() - self._left_at > LEFT_S

    def _look(self, at: object) -> None:
        """Somebody who sees the same for too long says so."""
        if at != self._seen:
            self._seen, self._moved = at, time.monotonic()
        elif time.monotonic() - self._moved > STUCK_S:
            raise AssertionError(f"nothing has moved for {STUCK_S} s: {at}")

    def _change_behind(self, call: ToolCall) -> None:
        """Somebody changes the file of a card that is being looked at."""
        path = (call.preview or {}).get("path")
        if path is None:
            return
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as text:
            text.write(f"by hand {self._random.getrandbits(40):x}\n")
        self._ledger.note(changed_behind=mark_of(call.arguments), path=path)

    async def _renew_the_library(self) -> None:
        """What holds about the question changes while the run is paused or dead."""
        knowledge, number = self._core.knowledge, self._random.getrandbits(30)
        for old in (await knowledge.knowledge_list("published")).entries:
            if old.title.startswith("Sqlite write lock") and self._random.random() < 0.5:
                await knowledge.knowledge_archive(old.id, actor=Actor.user())
        made = await knowledge.knowledge_create(
            draft(
                kind="pitfall",
                title=f"Sqlite write lock: advice {number:x}",
                content=f"A sqlite transaction takes the write lock first ({number:x}).",
            ),
            actor=Actor.user(),
        )
        await knowledge.knowledge_approve(made.entries[0].id, actor=Actor.user())

    async def _calls(self, run: Run) -> tuple[ToolCall, ...]:
        return await self._core.db.read(lambda session: runs.calls_of_run(session, run.id))
