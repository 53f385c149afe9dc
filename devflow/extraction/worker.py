"""Runs jobs, one at a time, in the background: what is due, what a human asked for, what must wait, what failed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from devflow.domain.config import KnowledgeConfig, TriggerMode
from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import DatabaseProblem, UserFacing
from devflow.domain.events import ExtractionChanged, Hub
from devflow.domain.run import ACTIVE_STATES
from devflow.extraction.clock import Clock
from devflow.extraction.extract import Workbench, extract
from devflow.extraction.outcome import ExtractionOutcome, Phase, State
from devflow.store import extraction_jobs as jobs
from devflow.store import runs
from devflow.store.database import Session, Unit
from devflow.store.extraction_jobs import AUTOMATIC, Job, JobState, Trigger

log = logging.getLogger(__name__)

ATTEMPTS = 3
PAUSES = (timedelta(minutes=1), timedelta(minutes=5))
"""Before the second and the third try of one job."""

BREAKER_AFTER = 3
BREAKER_PAUSE = timedelta(minutes=30)
"""After so many failures in a row nothing is asked by itself for so long; a success or a human's click ends it."""


@dataclass(frozen=True, slots=True)
class _Current:
    """The job that is being carried out."""

    job: Job
    choice: ModelChoice
    task: asyncio.Task[ExtractionOutcome]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the worker asks anew before each job, so that a change takes effect at once. `daily_calls`: the day's cap.

    `is_local`: the model runs on this machine, where an extraction would keep the chat waiting.
    """

    config: Callable[[], Awaitable[KnowledgeConfig]]
    daily_calls: Callable[[], Awaitable[int]]
    is_local: Callable[[ModelChoice], Awaitable[bool]]
    is_alive: Callable[[str | None], bool]


class Worker:
    """`run` is the background task; `run_now` works without it."""

    def __init__(self, bench: Workbench, hub: Hub, clock: Clock, rules: Rules) -> None:
        self._bench = bench
        self._db = bench.db
        self._hub = hub
        self._clock = clock
        self._rules = rules
        self._one = asyncio.Lock()
        self._wake = asyncio.Event()
        self._resting = asyncio.Event()
        self._alarm: Callable[[], None] | None = None
        self._current: _Current | None = None
        self._stop_reason: State | None = None
        self._failures = 0
        self._paused_until: datetime | None = None
        self.last: ExtractionOutcome | None = None
        self.phase: Phase = Phase.IDLE
        self.due_at: datetime | None = None

    # the background task -------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Carry out what is due, then sleep until something is; ends by cancellation."""
        while True:
            self._wake.clear()
            try:
                async with self._one:
                    worked = await self._next()
            except Exception as error:  # whatever it was, the next conversation is distilled all the same
                if isinstance(error, DatabaseProblem):
                    log.warning("extraction waits for the database: %s", error)
                else:
                    log.exception("extraction stopped at a bug, and goes on")
                worked = False
                self._look_again(self._clock.now() + PAUSES[0], Phase.WAITING)
            if worked:
                continue
            if not self._wake.is_set():
                self._resting.set()
            await self._wake.wait()
            self._resting.clear()

    def wake(self) -> None:
        """Something changed: look again at what waits."""
        self._resting.clear()
        self._wake.set()

    async def rest(self) -> None:
        """Until there is nothing to do now (for tests, and for closing in order)."""
        await self._resting.wait()

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm()
            self._alarm = None

    # what others may ask -------------------------------------------------------------------------------------------

    @property
    def current(self) -> Job | None:
        return self._current.job if self._current is not None else None

    async def run_now(
        self, conversation_id: str, last_message_id: str, choice: ModelChoice, asked_by: str = ""
    ) -> ExtractionOutcome:
        """A human asked: whatever the mode, the cap and the breaker say. Returns when it is done."""
        under_way = self._current
        if under_way is not None and under_way.job.conversation_id == conversation_id:
            with contextlib.suppress(asyncio.CancelledError):
                return await asyncio.shield(under_way.task)
            if (ourselves := asyncio.current_task()) is not None and ourselves.cancelling():
                raise asyncio.CancelledError  # not that job was stopped, but whoever waits for it
        async with self._one:

            def take(unit: Unit) -> Job | None:
                now = self._clock.now()
                jobs.release_orphans(unit, self._rules.is_alive, now)
                job = jobs.schedule(unit, conversation_id, last_message_id, Trigger.MANUAL, now)
                return jobs.claim(unit, job.id, self._bench.owner)

            job = await self._db.write(take)
            if job is None:
                return ExtractionOutcome(0, 0, State.RUNNING, "another process is at it", conversation_id)
            self._failures, self._paused_until = 0, None
            return await self._carry_out(job, choice, asked_by)

    def interrupt(self, state: State) -> None:
        """Stop an automatic extraction: `WAITING` leaves the model to the chat, `CANCELLED` ends it (switched off)."""
        if self._current is None or self._current.job.trigger not in AUTOMATIC:
            return
        self._stop_reason = state
        self._current.task.cancel()

    async def make_way(self) -> None:
        """A run begins: an automatic extraction on this machine's own model leaves it to the chat."""
        if self._current is not None and await self._rules.is_local(self._current.choice):
            self.interrupt(State.WAITING)

    # helpers -------------------------------------------------------------------------------------------------------

    async def _next(self) -> bool:
        """Carry out the soonest job that may run; False when none may now. Sets the alarm for the next one."""
        self.close()
        now = self._clock.now()
        waiting = await self._db.read(jobs.waiting)
        choice = await self._bench.models.extraction_choice() if waiting else None
        self.phase, self.due_at = Phase.IDLE, None
        for job in sorted(waiting, key=lambda job: job.trigger in AUTOMATIC):
            if job.due_at > now:
                self._look_again(await self._due(job, now), Phase.WAITING)
            elif (reason := await self._forbidden(job, choice)) is not None:
                await self._cancel(job, reason)
            elif choice is not None and not await self._held(job, choice, now):
                claimed = await self._claim(job.id)
                if claimed is not None:
                    await self._carry_out(claimed, choice)
                    return True
        return False

    async def _due(self, job: Job, now: datetime) -> datetime:
        """When a job that waits is due; one further off than any pause was timed by a clock that was set back."""
        quiet = timedelta(milliseconds=(await self._rules.config()).idle_timeout_ms)
        longest = quiet if job.trigger is Trigger.ON_IDLE and not job.attempts else max(quiet, PAUSES[-1])
        if job.due_at - now <= longest:
            return job.due_at
        await self._db.write(lambda unit: jobs.postpone(unit, job.id, now + longest))
        return now + longest

    async def _forbidden(self, job: Job, choice: ModelChoice | None) -> str | None:
        """Why a job that waits will not be carried out any more."""
        if choice is None:
            return "no model"
        if job.trigger is Trigger.MANUAL:
            return None
        config = await self._rules.config()
        if not config.auto_extract:
            return "extraction is off"
        return "only by hand" if config.trigger_mode is TriggerMode.MANUAL_ONLY else None

    async def _held(self, job: Job, choice: ModelChoice, now: datetime) -> bool:
        """Whether a job that is due has to wait all the same."""
        local = await self._rules.is_local(choice)
        busy = await self._db.read(lambda session: self._busy(session, job, local=local))
        if busy:
            self.phase = Phase.WAITING  # the run's end wakes us
            return True
        if job.trigger is Trigger.MANUAL:
            return False
        if self._paused_until is not None and now < self._paused_until:
            self._paused_until = min(self._paused_until, now + BREAKER_PAUSE)  # the clock may have been set back
            self._look_again(self._paused_until, Phase.PAUSED)
            return True
        cap = await self._rules.daily_calls()
        if await self._db.read(lambda session: jobs.calls(session, _day(now))) >= cap:
            self._look_again(_next_day(now), Phase.CAPPED)
            return True
        return False

    def _busy(self, session: Session, job: Job, *, local: bool) -> bool:
        """The conversation is not quiet, or the chat needs the machine."""
        active = [
            run
            for run in runs.all_open(session)
            if run.state in ACTIVE_STATES and self._rules.is_alive(run.owner) and job.trigger in AUTOMATIC
        ]
        if local and active:
            return True
        open_run = runs.open_run(session, job.conversation_id)
        return job.trigger is Trigger.ON_IDLE and open_run is not None

    def _look_again(self, at: datetime, phase: Phase) -> None:
        if self.due_at is None or at < self.due_at:
            self.close()
            self.due_at, self.phase = at, phase
            self._alarm = self._clock.call_at(at, self.wake)

    async def _carry_out(self, job: Job, choice: ModelChoice, asked_by: str = "") -> ExtractionOutcome:
        """One claimed job to its end, under the lock."""
        self._hub.publish(ExtractionChanged(job.conversation_id, State.RUNNING))
        day = _day(self._clock.now())
        work = extract(self._bench, job, choice, day=day, asked_by=asked_by)
        task = asyncio.create_task(work, name=f"extraction {job.id}")
        self._current, self._stop_reason = _Current(job, choice, task), None
        self.phase = Phase.RUNNING
        try:
            outcome = await task
        except asyncio.CancelledError:
            reason = self._why_stopped()
            if reason is None:  # the application closes
                await asyncio.wait({task})
                await self._put_back(job)
                raise
            outcome = await self._stopped(job, reason)
        except UserFacing as failure:
            outcome = await self._failed(job, failure)
        except Exception as bug:
            log.exception("extraction of conversation %s failed", job.conversation_id)
            outcome = await self._failed(job, None, detail=f"{type(bug).__name__}: {bug}")
        else:
            if outcome.state is not State.CANCELLED:
                self._failures, self._paused_until = 0, None
        finally:
            self._current = None
            self.phase = Phase.IDLE
        self.last = outcome
        self._hub.publish(ExtractionChanged(job.conversation_id, outcome.state, outcome.created, outcome.detail))
        return outcome

    async def _stopped(self, job: Job, state: State) -> ExtractionOutcome:
        """Stopped on purpose; if its candidates were just stored, it is done all the same."""
        if state is State.WAITING:
            await self._put_back(job)
            return ExtractionOutcome(0, 0, State.WAITING, "the chat goes first", job.conversation_id)
        owner = self._bench.owner
        await self._db.write(lambda unit: jobs.finish(unit, job.id, owner, JobState.CANCELLED, detail="off"))
        return ExtractionOutcome(0, 0, State.CANCELLED, "extraction is off", job.conversation_id)

    def _why_stopped(self) -> State | None:
        return self._stop_reason

    async def _claim(self, id: str) -> Job | None:
        return await self._db.write(lambda unit: jobs.claim(unit, id, self._bench.owner))

    async def _put_back(self, job: Job) -> None:
        now, owner = self._clock.now(), self._bench.owner
        await self._db.write(lambda unit: jobs.put_back(unit, job.id, owner, now, counts=False))

    async def _cancel(self, job: Job, reason: str) -> None:
        if await self._db.write(lambda unit: jobs.cancel(unit, job.id, reason)):
            self._hub.publish(ExtractionChanged(job.conversation_id, State.CANCELLED, detail=reason))

    async def _failed(self, job: Job, failure: UserFacing | None, *, detail: str = "") -> ExtractionOutcome:
        """Try again later where that may help; after three failures in a row leave it all alone for a while."""
        detail = detail or str(failure)
        now, owner = self._clock.now(), self._bench.owner
        self._failures += 1
        if self._failures >= BREAKER_AFTER:
            self._paused_until = now + BREAKER_PAUSE
            log.warning("extraction pauses after %d failures in a row; the last one: %s", self._failures, detail)
        retryable = failure is not None and getattr(failure, "retryable", False)
        again = retryable and job.trigger in AUTOMATIC and job.attempts < ATTEMPTS
        if again:
            due = now + PAUSES[min(job.attempts, len(PAUSES)) - 1]
            await self._db.write(lambda unit: jobs.put_back(unit, job.id, owner, due, detail=detail))
        else:
            await self._db.write(lambda unit: jobs.finish(unit, job.id, owner, JobState.FAILED, detail=detail))
        log.info("extraction of conversation %s failed (try %d): %s", job.conversation_id, job.attempts, detail)
        return ExtractionOutcome(0, 0, State.FAILED, detail, job.conversation_id, problem=failure)


def _day(now: datetime) -> str:
    """The user's own day."""
    return now.astimezone().date().isoformat()


def _next_day(now: datetime) -> datetime:
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1)
