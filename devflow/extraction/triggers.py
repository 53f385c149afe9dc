"""When a conversation is distilled: its run ends (at once), it goes quiet (a timer), or a human asks.

The timer is a row: `due_at` of the waiting job. It starts when a run ends, starts again with each activity in the
conversation, fires once a quiet period, and fires after the next start where it ran out while the application was
closed (KP-2).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from devflow.domain import config as knowledge_config
from devflow.domain.config import KnowledgeConfig, TriggerMode
from devflow.domain.events import Aggregate, Changes, Event, ExtractionChanged, RunChanged
from devflow.domain.run import ACTIVE_STATES, RunState
from devflow.extraction.clock import Clock
from devflow.extraction.extract import Workbench
from devflow.extraction.outcome import State
from devflow.extraction.situation import Reason, judge, read_situation
from devflow.extraction.worker import Worker
from devflow.store import extraction_jobs as jobs
from devflow.store.database import Unit
from devflow.store.extraction_jobs import EndedRun, Job, Trigger

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Ended:
    """A run ended normally."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class _Active:
    """Something happened in a conversation; `begins`: a run goes on, which may want the model."""

    conversation_id: str
    begins: bool = False


@dataclass(frozen=True, slots=True)
class _Reconfigured:
    """The configuration was saved, here or by another process."""


_Notice = _Ended | _Active | _Reconfigured


class Triggers:
    """Listens to the hub and keeps the jobs that wait in step with what happens; one notice after the other."""

    def __init__(self, bench: Workbench, worker: Worker, clock: Clock, is_alive: Callable[[str | None], bool]) -> None:
        self._bench = bench
        self._db = bench.db
        self._hub = bench.db.hub
        self._worker = worker
        self._clock = clock
        self._is_alive = is_alive
        self._notices: asyncio.Queue[_Notice] = asyncio.Queue()
        self._config = KnowledgeConfig()
        self._timed: set[str] = set()  # conversations whose quiet period is being waited for
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Begin to listen, and catch up with what ended or went quiet while nobody did."""
        self._config = await self._bench.knowledge.knowledge_get_config()
        self._unsubscribe = self._hub.subscribe(self._hear)
        now = self._clock.now()
        await self._db.write(lambda unit: jobs.release_orphans(unit, self._is_alive, now))
        await self._keep_in_step(self._config)
        for ended in await self._db.write(_not_yet_seen):
            if not ended.offline:  # nobody had set up a model then: that conversation is offered, not sent
                await self._run_ended(ended.conversation_id, ended.finished_at)

    def close(self) -> None:
        self._unsubscribe()

    async def run(self) -> None:
        """The background task; ends by cancellation."""
        while True:
            notice = await self._notices.get()
            try:
                match notice:
                    case _Ended(conversation_id):
                        await self._run_ended(conversation_id, self._clock.now())
                    case _Active(conversation_id, begins):
                        if begins:
                            await self._worker.make_way()
                        await self._active(conversation_id)
                    case _Reconfigured():
                        await self._reconfigured()
            except Exception:
                log.exception("extraction could not take note of %s", notice)
            finally:
                self._notices.task_done()

    async def settled(self) -> None:
        """Until every notice so far is worked in."""
        await self._notices.join()

    # what happens --------------------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        match event:
            case RunChanged(_, conversation_id, RunState.COMPLETED):
                self._notices.put_nowait(_Ended(conversation_id))
            case RunChanged(_, conversation_id, state):
                self._notices.put_nowait(_Active(conversation_id, begins=state in ACTIVE_STATES))
            case Changes():
                for id in event.of(Aggregate.CONVERSATION) & self._timed:
                    self._notices.put_nowait(_Active(id))
                if knowledge_config.KEY in event.of(Aggregate.SETTING):
                    self._notices.put_nowait(_Reconfigured())
                if event.of(Aggregate.EXTRACTION) or (event.foreign and event.of(Aggregate.RUN)):
                    self._worker.wake()
            case _:
                pass

    async def _run_ended(self, conversation_id: str, at: datetime) -> None:
        """The guard, and a job if nothing stands against it (seed, AI 自动提炼流程, 1 and 2)."""
        config = self._config
        has_model = await self._bench.models.extraction_choice() is not None

        def consider(unit: Unit) -> Job | None:
            jobs.see(unit, unit.at)
            situation = read_situation(unit.session, conversation_id)
            verdict = judge(situation, config, has_model=has_model)
            if situation is None or verdict.reason is not Reason.READY:
                log.debug("conversation %s is not extracted: %s", conversation_id, verdict)
                return None
            trigger, due = _timing(config, at)
            return jobs.schedule(unit, conversation_id, situation.last_id, trigger, due)

        job = await self._db.write(consider)
        if job is not None:
            self._note(job)
            self._hub.publish(ExtractionChanged(conversation_id, State.WAITING))
        self._worker.wake()

    async def _active(self, conversation_id: str) -> None:
        """The quiet period begins anew."""
        if conversation_id in self._timed:
            due = self._clock.now() + _timeout(self._config)

            def restart(unit: Unit) -> bool:
                job = jobs.waiting_for(unit.session, conversation_id)
                if job is None or job.trigger is not Trigger.ON_IDLE:
                    return False
                jobs.postpone(unit, job.id, due)
                return True

            if not await self._db.write(restart):
                self._timed.discard(conversation_id)
        self._worker.wake()

    async def _reconfigured(self) -> None:
        before, self._config = self._config, await self._bench.knowledge.knowledge_get_config()
        if before == self._config:
            return
        if not self._config.auto_extract or self._config.trigger_mode is TriggerMode.MANUAL_ONLY:
            self._worker.interrupt(State.CANCELLED)
        await self._keep_in_step(before)

    async def _keep_in_step(self, before: KnowledgeConfig) -> None:
        """Jobs that wait follow the configuration: cancelled, due at once, or after another quiet period."""
        config, now = self._config, self._clock.now()

        def work(unit: Unit) -> tuple[tuple[str, ...], tuple[Job, ...]]:
            if not config.auto_extract or config.trigger_mode is TriggerMode.MANUAL_ONLY:
                return jobs.cancel_automatic(unit, "switched off"), ()
            for job in jobs.waiting(unit.session):
                if job.trigger is Trigger.MANUAL or job.attempts:
                    continue
                quiet_since = job.due_at - _timeout(before) if job.trigger is Trigger.ON_IDLE else job.due_at
                trigger, due = _timing(config, min(quiet_since, now))
                jobs.retime(unit, job.id, trigger, due)
            return (), jobs.waiting(unit.session)

        cancelled, waiting = await self._db.write(work)
        self._timed.clear()
        for job in waiting:
            self._note(job)
        for conversation_id in cancelled:
            self._hub.publish(ExtractionChanged(conversation_id, State.CANCELLED, detail="switched off"))
        self._worker.wake()

    def _note(self, job: Job) -> None:
        if job.trigger is Trigger.ON_IDLE:
            self._timed.add(job.conversation_id)


def _timing(config: KnowledgeConfig, ended_at: datetime) -> tuple[Trigger, datetime]:
    if config.trigger_mode is TriggerMode.ON_IDLE:
        return Trigger.ON_IDLE, ended_at + _timeout(config)
    return Trigger.ON_COMPLETE, ended_at


def _timeout(config: KnowledgeConfig) -> timedelta:
    return timedelta(milliseconds=config.idle_timeout_ms)


def _not_yet_seen(unit: Unit) -> tuple[EndedRun, ...]:
    """Runs whose end was committed when the process was killed before it could take note."""
    since = jobs.seen_until(unit.session)
    jobs.see(unit, unit.at)
    return jobs.ended_since(unit.session, since) if since is not None else ()
