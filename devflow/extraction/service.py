"""`Extraction`: the one object that window and command line call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from devflow.domain.conversation import OFFLINE, Message, ModelChoice, Role
from devflow.domain.errors import InvalidInput, NotFound
from devflow.domain.events import ExtractionChanged
from devflow.extraction.candidate import candidate_from
from devflow.extraction.clock import Clock, SystemClock
from devflow.extraction.extract import ModelSource, Workbench
from devflow.extraction.outcome import ExtractionOutcome, ExtractionStatus, PendingConversation, Phase, State
from devflow.extraction.situation import Reason, Situation, Verdict, judge, read_situation
from devflow.extraction.transcript import NEWEST, is_new
from devflow.extraction.triggers import Triggers
from devflow.extraction.worker import Rules, Worker
from devflow.knowledge.acts import Actor, Done
from devflow.knowledge.service import Knowledge
from devflow.knowledge.settings import Settings
from devflow.knowledge.submit import submit
from devflow.prompt.templates import Templates
from devflow.providers.offline import quoted_part
from devflow.store import conversations
from devflow.store import extraction_jobs as jobs
from devflow.store.database import Database, Session, Unit
from devflow.store.extraction_jobs import Trigger
from devflow.store.lock import ProcessLock

log = logging.getLogger(__name__)

GROUP = "extraction"
"""Settings group: `daily_calls`, the most requests a day that are made without a human's click."""

DAILY_CALLS = 200
OFFERED = 50  # conversations that the inbox offers at most


async def _elsewhere(_: ModelChoice) -> bool:
    return False


class Extraction:
    """`start` only where there is a window: a single command never extracts by itself.

    `is_local` says whether a model runs on this machine; an automatic extraction then waits while any run is active.
    """

    def __init__(
        self,
        db: Database,
        models: ModelSource,
        knowledge: Knowledge,
        settings: Settings,
        *,
        templates: Templates,
        lock: ProcessLock,
        is_local: Callable[[ModelChoice], Awaitable[bool]] = _elsewhere,
        clock: Clock | None = None,
    ) -> None:
        self._db = db
        self._models = models
        self._knowledge = knowledge
        self._settings = settings
        clock = clock or SystemClock()
        bench = Workbench(db, models, knowledge, templates, lock.id)
        rules = Rules(knowledge.knowledge_get_config, self._daily_calls, is_local, lock.is_alive)
        self._worker = Worker(bench, db.hub, clock, rules)
        self._triggers = Triggers(bench, self._worker, clock, lock.is_alive)
        self._clock = clock
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def start(self) -> None:
        """Listen, catch up with what went quiet while the application was closed, and work in the background."""
        await self._triggers.start()
        self._tasks = (
            asyncio.create_task(self._triggers.run(), name="extraction triggers"),
            asyncio.create_task(self._worker.run(), name="extraction worker"),
        )

    async def close(self) -> None:
        """Stop; an extraction that is cut off by it is done again after the next start."""
        self._triggers.close()
        self._worker.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for task in self._tasks:
            if not task.cancelled() and (failure := task.exception()) is not None:
                log.warning("extraction could not record its end; the next start does: %s", failure)
        self._tasks = ()

    async def settled(self) -> None:
        """Until what has happened so far is worked in and nothing is left to do at this moment."""
        await self._triggers.settled()
        await self._worker.rest()

    # acts ----------------------------------------------------------------------------------------------------------

    async def extract_now(self, conversation_id: str | None = None, *, asked_by: str = "") -> ExtractionOutcome:
        """Distil a conversation (default: the latest) now, in every trigger mode; skips every guard but "nothing new".

        `asked_by` names a program that asked for it, for the candidates' timelines.
        Raises `NotFound` for an unknown conversation; a model's failure comes back as the outcome's `problem`.
        """
        choice = await self._models.extraction_choice()
        if choice is None:
            return ExtractionOutcome(0, 0, State.NO_MODEL, "no model is set up", conversation_id or "")
        wanted = conversation_id or await self._db.read(jobs.latest_conversation)
        if wanted is None:
            return ExtractionOutcome(0, 0, State.NO_CONVERSATION, "there is no conversation")
        situation = await self._db.read(lambda session: _existing(session, wanted))
        if not situation.has_new:
            self._db.hub.publish(ExtractionChanged(wanted, State.NOTHING_NEW))
            return ExtractionOutcome(0, 0, State.NOTHING_NEW, "nothing new", wanted)
        return await self._worker.run_now(wanted, situation.last_id, choice, asked_by)

    async def extract_pending(self, conversation_ids: Iterable[str] | None = None) -> int:
        """Have these (default: all pending) conversations distilled in the background, on a human's click."""
        chosen = tuple(conversation_ids) if conversation_ids is not None else None
        if chosen is None:
            chosen = tuple(pending.conversation_id for pending in await self.pending_conversations())
        now = self._clock.now()

        def work(unit: Unit) -> int:
            count = 0
            for id in chosen:
                situation = read_situation(unit.session, id)
                if situation is not None and situation.has_new:
                    jobs.schedule(unit, id, situation.last_id, Trigger.MANUAL, now)
                    count += 1
            return count

        count = await self._db.write(work)
        self._worker.wake()
        return count

    async def save_as_candidate(self, message_id: str, *, kind: str | None = None, title: str | None = None) -> Done:
        """A message as a candidate, by hand and without a model; an exact repetition is "seen again" instead."""

        def work(unit: Unit) -> Done:
            message = conversations.message(unit.session, message_id)
            conversation = conversations.get(unit.session, message.conversation_id)
            made = candidate_from(
                message, kind=kind, title=title, project_id=conversation.project.id if conversation.project else None
            )
            detail = {"conversation": message.conversation_id, "message": message_id}
            return submit(unit, [made], actor=Actor.user(), detail=detail)

        return await self._db.write(work)

    async def newest_savable(self) -> Message | None:
        """The newest answer of the latest conversation that can be a candidate, else its newest question that can."""

        def work(session: Session) -> Message | None:
            id = jobs.latest_conversation(session)
            situation = read_situation(session, id) if id is not None else None
            newest = [] if situation is None else list(reversed(situation.messages[-NEWEST:]))
            newest.sort(key=lambda message: message.role is not Role.ASSISTANT)  # stable: newest first within each role
            return next((message for message in newest if _is_savable(message)), None)

        return await self._db.read(work)

    # looking -------------------------------------------------------------------------------------------------------

    async def pending_conversations(self) -> tuple[PendingConversation, ...]:
        """Conversations long enough, with something never read, that no job will read by itself; newest first."""
        least = (await self._knowledge.knowledge_get_config()).min_messages

        def work(session: Session) -> tuple[PendingConversation, ...]:
            found = []
            for id in jobs.unread(session, least, OFFERED):
                situation = read_situation(session, id)
                if situation is not None and situation.has_new and len(situation.messages) >= least:
                    new = sum(is_new(message) for message in situation.messages)
                    found.append(PendingConversation(id, situation.conversation.title, new))
            return tuple(found)

        return await self._db.read(work)

    async def why_empty(self, conversation_id: str | None = None) -> Verdict:
        """Why the (default: latest) conversation brought no candidate, for the inbox's hint."""
        config = await self._knowledge.knowledge_get_config()
        has_model = await self._models.extraction_choice() is not None

        def work(session: Session) -> Situation | None:
            id = conversation_id or jobs.latest_conversation(session)
            return read_situation(session, id) if id is not None else None

        return judge(await self._db.read(work), config, has_model=has_model)

    async def status(self) -> ExtractionStatus:
        """Where extraction stands, for the status line."""
        last = self._worker.last
        if (current := self._worker.current) is not None:
            return ExtractionStatus(Phase.RUNNING, current.conversation_id, last=last)
        verdict = judge(None, await self._knowledge.knowledge_get_config(), has_model=await self._has_model())
        standing = {Reason.NO_MODEL: Phase.NO_MODEL, Reason.OFF: Phase.OFF, Reason.MANUAL_ONLY: Phase.MANUAL_ONLY}
        if verdict.reason in standing:
            return ExtractionStatus(standing[verdict.reason], last=last)
        waiting = await self._db.read(jobs.waiting)
        phase = self._worker.phase
        if waiting and phase is Phase.IDLE:
            phase = Phase.WAITING
        if not waiting and phase is Phase.WAITING:
            phase = Phase.IDLE
        first = waiting[0].conversation_id if waiting else ""
        return ExtractionStatus(phase, first, self._worker.due_at if waiting else None, last)

    async def _daily_calls(self) -> int:
        value = (await self._settings.get(GROUP)).get("daily_calls", DAILY_CALLS)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else DAILY_CALLS

    async def _has_model(self) -> bool:
        return await self._models.extraction_choice() is not None


def _existing(session: Session, conversation_id: str) -> Situation:
    situation = read_situation(session, conversation_id)
    if situation is None:
        raise NotFound(conversations.CONVERSATION, conversation_id)
    return situation


def _is_savable(message: Message) -> bool:
    """Of the offline assistant only what quotes something."""
    if message.provider_id == OFFLINE.provider_id and quoted_part(message.content) == message.content:
        return False
    try:
        candidate_from(message)
    except InvalidInput:
        return False
    return True
