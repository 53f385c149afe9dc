"""What a user does to a conversation's runs. Every act is recorded first; then the one loop takes the run on.

One task per run and process is the run's lock here: an act that comes while it works makes it look again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

from devflow.agent import deciding, recovery, starting
from devflow.agent.deciding import Decision
from devflow.agent.elsewhere import ended_elsewhere
from devflow.agent.engine import Engine
from devflow.agent.loop import advance
from devflow.agent.mending import settle_cancelled, settle_failed, settle_interrupted
from devflow.agent.problems import problem_of, unexpected
from devflow.agent.skills import used_skill
from devflow.agent.titles import suggest_title
from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import DatabaseProblem, UserFacing
from devflow.domain.knowledge import Project
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.run import OPEN_STATES, Problem, Run, RunState
from devflow.store import conversations, runs
from devflow.store.database import Session, Unit

__all__ = ["Decision", "Turns"]

log = logging.getLogger(__name__)

CLOSE_S = 1.0
"""Closing waits at most so long for streams to let go."""

AGAIN_S, AGAIN_TIMES = 1.0, 30
"""A run's end that the disk refuses to record is tried again after so many seconds, so many times."""

Why = Literal["", "cancel", "close", "elsewhere"]
"""Why a run's task is stopped: by the user, with the application, or because another process has ended the run."""


@dataclass(slots=True)
class _Working:
    """A run that this process advances. `again`: something was recorded meanwhile. `stop`: why it must end; `stopped`:
    that is recorded."""

    task: asyncio.Task[None] = field(init=False)
    again: bool = False
    stop: Why = ""
    stopped: bool = False


class Turns:
    """The window's and the command line's way to the agent. Errors of a run are in its row, not raised here."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._working: dict[str, _Working] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False

    # acts ----------------------------------------------------------------------------------------------------------

    async def send(
        self, conversation_id: str, text: str, *, tools: tuple[str, ...] | None = None, skill: str | None = None
    ) -> Run:
        """Record a message and start its run; while another run is open it is queued instead, and that run returned.

        `tools` restricts the run to the tools named, which then need no approval (`devflow ask --allow`). `skill` is
        the name of one that the conversation is offered; its text as it is now goes with every request of the run, and
        without other words its command is the message. Raises InvalidInput for an empty message or a skill that is not
        there; nothing after it is recorded.
        """
        checked = starting.checked_text(text if text.strip() or skill is None else f"/{skill}")
        choice = await self._choice(conversation_id)
        used = await used_skill(self._engine, conversation_id, checked, skill, tools) if skill is not None else None
        owner = self._owner
        run, started = await self._engine.db.write(
            lambda unit: starting.send(
                unit, conversation_id, checked, choice=choice, owner=owner, tools=tools, skill=used
            )
        )
        if started:
            self._engine.run_changed(run)
            self._launch(run.id)
        return run

    async def ran_command(self, conversation_id: str, base: KnowledgeBase, text: str) -> None:
        """A command was given in place of a message: nothing is sent, and the log says that nothing was looked up."""
        await self._engine.lookups.command(conversation_id, base, text)

    async def decide(self, call_id: str, decision: Decision) -> bool:
        """Allow or deny a waiting call. False if it waits no more (a double click) or is shown again first (edited)."""
        outcome = await deciding.decide(self._engine, call_id, decision)
        if outcome.changed:
            self._engine.calls_changed(outcome.run, outcome.call.message_id)
        if outcome.decided:
            self._launch(outcome.run.id)
        return outcome.decided

    async def cancel(self, run_id: str) -> Run:
        """Stop the run: its stream at once, its open calls settled, its text so far kept. Again is no harm."""
        working = self._working.get(run_id)
        if working is not None:
            self._stop(working, "cancel")
            await asyncio.wait({working.task})
            self._forget(run_id, working)
        if working is None or not working.stopped:  # once more would stop what the user has gone on with since
            await self._settle(run_id, "cancel")
        return await self._run(run_id)

    async def retry(self, run_id: str) -> Run:
        """Ask again after a failure, an interruption or a stop. A cut answer stays beside the new one."""
        return await self._recover(run_id, from_start=True)

    async def continue_run(self, run_id: str) -> Run:
        """Go on from where the run stands, a cut answer's text included."""
        return await self._recover(run_id, from_start=False)

    async def regenerate(self, message_id: str) -> Run:
        """Answer the same question again; the answer there is stays as an alternative."""
        choice = await self._choice_for_message(message_id)
        run = await self._engine.db.write(
            lambda unit: starting.regenerate(unit, message_id, choice=choice, owner=self._owner)
        )
        return self._started(run)

    async def resend(self, message_id: str, text: str) -> Run:
        """Ask with other words: a new message beside the old one, which stays as an alternative."""
        checked = starting.checked_text(text)
        choice = await self._choice_for_message(message_id)
        run = await self._engine.db.write(
            lambda unit: starting.resend(unit, message_id, checked, choice=choice, owner=self._owner)
        )
        return self._started(run)

    async def recover(self) -> tuple[Run, ...]:
        """At start-up: mend the runs whose process is gone."""
        return await recovery.recover(self._engine)

    async def keep_recovering(self) -> None:
        """Until cancelled: mend the runs of processes that are killed meanwhile."""
        await recovery.keep_recovering(self._engine)

    async def tool_names(
        self, project: Project | None, only: tuple[str, ...] | None = None, *, kb_id: str | None = None
    ) -> tuple[str, ...]:
        """The tools that such a conversation has. MCP servers are asked for those in `only`."""
        context = await self._engine.tool_context("", project, kb_id=kb_id, only=only)
        return tuple(self._engine.tools(context, None))

    async def wait(self, run_id: str) -> Run:
        """The run, once nothing works on it any more: finished, or waiting for approval."""
        while (working := self._working.get(run_id)) is not None:
            await asyncio.wait({working.task})
            self._forget(run_id, working)
        return await self._run(run_id)

    async def close(self) -> None:
        """Let go of everything within a second: text so far is kept, runs can be continued after the next start."""
        self._closed = True
        for task in self._background:
            task.cancel()
        for working in self._working.values():
            self._stop(working, "close")
        late = self._tasks | self._background
        for patience in (CLOSE_S, *[0.1] * 5):
            if not late:
                return
            _, late = await asyncio.wait(late, timeout=patience)
            for task in late:  # what it waits for on a slow disk is written all the same; the next start does the rest
                task.cancel()

    # the one task of a run -----------------------------------------------------------------------------------------

    def _launch(self, run_id: str) -> None:
        if self._closed:
            return
        working = self._working.get(run_id)
        if working is not None:
            working.again = True
            return
        working = self._working[run_id] = _Working()
        working.task = asyncio.get_running_loop().create_task(self._work(run_id, working), name=f"run {run_id}")
        self._tasks.add(working.task)
        working.task.add_done_callback(self._tasks.discard)

    async def _work(self, run_id: str, working: _Working) -> None:
        watching = asyncio.create_task(ended_elsewhere(self._engine, run_id), name=f"watch run {run_id}")
        watching.add_done_callback(
            lambda watch: None if watch.cancelled() else self._stop_if_at_work(run_id, working, "elsewhere")
        )
        try:
            await self._end(run_id, working)
            watching.cancel()  # it would take the end that this process has just recorded for another's
            if working.stop != "close":
                await self._engine.lookups.finished(run_id)
        finally:
            watching.cancel()
            self._forget(run_id, working)
        if working.stop != "close":
            try:
                await self._after(run_id)
            except DatabaseProblem as refusal:
                log.warning("a queued message waits: %s", refusal)

    async def _end(self, run_id: str, working: _Working) -> None:
        """Take the run on, and record however it ends."""
        problem: Problem | None = None
        try:
            try:
                await self._advance(run_id, working)
            except UserFacing as error:
                problem = problem_of(error)
            except Exception as error:
                log.exception("run %s stopped at a bug", run_id)
                problem = unexpected(error)
            if working.stop:  # what failed on the way out hid it
                raise asyncio.CancelledError
            if problem is not None:
                await self._fail(run_id, problem)
        except asyncio.CancelledError:
            if not working.stop:
                raise
            try:
                await self._settle(run_id, working.stop)
                working.stopped = True
            except DatabaseProblem as refusal:  # whoever stopped it tries again and says so; so does the next start
                log.warning("the stop of run %s cannot be recorded yet: %s", run_id, refusal)

    async def _advance(self, run_id: str, working: _Working) -> None:
        while True:
            working.again = False
            await advance(self._engine, run_id)
            if not working.again:
                return

    def _forget(self, run_id: str, working: _Working) -> None:
        """Let go of the run's lock. A task that was stopped before it began cannot do so itself."""
        if self._working.get(run_id) is working:
            del self._working[run_id]

    def _stop(self, working: _Working, why: Why) -> None:
        """Cancel the task exactly once: a stream that is cancelled twice leaks its pooled connection (httpx 0.28)."""
        if not working.stop:
            working.stop = why
            working.task.cancel()

    def _stop_if_at_work(self, run_id: str, working: _Working, why: Why) -> None:
        if self._working.get(run_id) is working:
            self._stop(working, why)

    async def _settle(self, run_id: str, why: Why) -> None:
        def settle(unit: Unit) -> Run | None:
            match why:
                case "close":
                    return settle_interrupted(unit, run_id, self._engine.lock.id)
                case "elsewhere":  # settled there; by now the run may even go on there
                    run = runs.get(unit.session, run_id)
                    return None if run.state in OPEN_STATES else run
                case _:
                    return settle_cancelled(unit, run_id)

        self._announce_end(*await self._engine.db.write(lambda unit: (settle(unit), _tip(unit.session, run_id))))

    async def _fail(self, run_id: str, problem: Problem) -> None:
        """Record the failure; where the disk refuses even that, again for a while. The next start mends the rest."""

        def settle(unit: Unit) -> tuple[Run | None, str]:
            return settle_failed(unit, run_id, problem), _tip(unit.session, run_id)

        for _ in range(AGAIN_TIMES):
            try:
                ended = await self._engine.db.write(settle)
            except DatabaseProblem as refusal:
                log.warning("the end of run %s cannot be recorded yet: %s", run_id, refusal)
                await asyncio.sleep(AGAIN_S)
            else:
                self._announce_end(*ended)
                return

    def _announce_end(self, run: Run | None, tip: str) -> None:
        if run is not None:
            self._engine.message_ended(run, tip)
            self._engine.calls_changed(run, tip)
            self._engine.run_changed(run)

    # when a run has ended ------------------------------------------------------------------------------------------

    async def _after(self, run_id: str) -> None:
        run = await self._run(run_id)
        if run.state in OPEN_STATES or self._closed:
            return
        self._in_background(suggest_title(self._engine, run))
        if run.state in (RunState.COMPLETED, RunState.CANCELLED):
            await self._send_queued(run.conversation_id)

    async def _send_queued(self, conversation_id: str) -> None:
        """The message typed meanwhile, taken from the queue and recorded in one transaction."""
        choice = await self._choice(conversation_id)
        run = await self._engine.db.write(
            lambda unit: starting.take_queued(unit, conversation_id, choice=choice, owner=self._owner)
        )
        if run is not None:
            self._started(run)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._quietly(work))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _quietly(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            log.exception("background work of a run failed")

    # helpers -------------------------------------------------------------------------------------------------------

    async def _recover(self, run_id: str, *, from_start: bool) -> Run:
        run = await self.wait(run_id)
        choice = await self._choice(run.conversation_id)
        recovered = await self._engine.db.write(
            lambda unit: starting.go_on(unit, run_id, choice=choice, owner=self._owner, from_start=from_start)
        )
        return self._started(recovered)

    def _started(self, run: Run) -> Run:
        self._engine.run_changed(run)
        self._launch(run.id)
        return run

    @property
    def _owner(self) -> str:
        """This process, as runs name it."""
        return self._engine.lock.id

    async def _run(self, run_id: str) -> Run:
        return await self._engine.db.read(lambda session: runs.get(session, run_id))

    async def _choice(self, conversation_id: str) -> ModelChoice:
        """The conversation's own model, else the main role's."""
        conversation = await self._engine.db.read(lambda session: conversations.get(session, conversation_id))
        return conversation.model or await self._engine.models.main_choice()

    async def _choice_for_message(self, message_id: str) -> ModelChoice:
        message = await self._engine.db.read(lambda session: conversations.message(session, message_id))
        return await self._choice(message.conversation_id)


def _tip(session: Session, run_id: str) -> str:
    return runs.tip_of(runs.row_of(session, run_id))
