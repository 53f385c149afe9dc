"""One extraction, from the claimed job to its candidates: read, ask, parse, store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import ProviderFailed
from devflow.domain.knowledge import Entry, EntryDraft
from devflow.extraction import ask
from devflow.extraction.loose_json import NotJson
from devflow.extraction.outcome import ExtractionOutcome, State
from devflow.extraction.situation import Situation, read_situation
from devflow.extraction.transcript import Line, budget, transcript
from devflow.knowledge.acts import Actor, Done
from devflow.knowledge.service import Knowledge
from devflow.knowledge.submit import submit
from devflow.prompt.templates import Templates
from devflow.providers.protocol import Provider
from devflow.store import extraction_jobs as jobs
from devflow.store.database import Database, Unit
from devflow.store.extraction_jobs import Job, JobState

if TYPE_CHECKING:
    from devflow.extraction.parse import Parsed

log = logging.getLogger(__name__)

KNOWN = 3  # nearest entries that the model is shown
OVERFLOW_TRIES = 3
_COMPARED = 4_000  # characters of a conversation that are compared with the library


class ModelSource(Protocol):
    """What extraction needs of the model registry (`devflow.models.registry.Models` in the product)."""

    async def extraction_choice(self) -> ModelChoice | None: ...

    async def resolve(self, choice: ModelChoice) -> Provider: ...


@dataclass(frozen=True, slots=True)
class Workbench:
    """What an extraction works with. `owner` names this process on the jobs it claims."""

    db: Database
    models: ModelSource
    knowledge: Knowledge
    templates: Templates
    owner: str


async def extract(
    bench: Workbench, job: Job, choice: ModelChoice, *, day: str, asked_by: str = ""
) -> ExtractionOutcome:
    """Carry out a job that this process has claimed, and end it; raises `ProviderFailed` with the job still running."""
    situation = await bench.db.read(lambda session: read_situation(session, job.conversation_id))
    if situation is None:
        return await _end(bench, job, JobState.CANCELLED, State.CANCELLED, "the conversation was deleted")
    situation = situation.up_to(job.last_message_id)
    if not situation.has_new:
        return await _end(bench, job, JobState.DONE, State.NOTHING_NEW, "nothing new")
    provider = await bench.models.resolve(choice)
    window = await provider.context_window(choice.model)
    lines, answer = await _ask(bench, provider, choice, situation, window, day)
    project = situation.conversation.project
    try:
        parsed = await asyncio.to_thread(_parse, answer, lines, job, project.id if project else None)
    except NotJson:
        log.warning(
            "extraction of conversation %s dropped: the answer of %s (%d characters) cannot be read as JSON",
            job.conversation_id,
            choice.model,
            len(answer),
        )
        return await _end(bench, job, JobState.DROPPED, State.DROPPED, "the model's answer cannot be read as JSON")
    for reason in parsed.dropped:
        log.info("extraction of conversation %s: an item was dropped: %s", job.conversation_id, reason)
    return await _keep(bench, job, situation, parsed.drafts, asked_by)


def _parse(answer: str, lines: Sequence[Line], job: Job, project_id: str | None) -> Parsed:
    from devflow.extraction.parse import parse  # pydantic costs start-up time, and is first needed here

    return parse(answer, lines, source_ref=f"conv:{job.conversation_id}", project_id=project_id)


async def _ask(
    bench: Workbench, provider: Provider, choice: ModelChoice, situation: Situation, window: int | None, day: str
) -> tuple[tuple[Line, ...], str]:
    """The lines that were sent and the model's answer; fewer characters of them where the server says "too long"."""
    for attempt in range(1, OVERFLOW_TRIES + 1):
        characters = budget(window, attempt=attempt)
        lines = await asyncio.to_thread(transcript, situation.messages, characters=characters)
        known = await _known(bench, lines)
        await bench.db.write(lambda unit: jobs.count_call(unit, day))
        try:
            return lines, await ask.answer(provider, ask.request(choice, lines, known, bench.templates))
        except ProviderFailed as failure:
            if failure.code != "context_overflow" or attempt == OVERFLOW_TRIES:
                raise
    raise AssertionError("unreachable")


async def _known(bench: Workbench, lines: Sequence[Line]) -> tuple[Entry, ...]:
    text = "\n".join(line.text for line in lines if line.new)[:_COMPARED]
    return tuple(hit.entry for hit in await bench.knowledge.knowledge_related(text, KNOWN))


async def _keep(
    bench: Workbench, job: Job, situation: Situation, drafts: Sequence[EntryDraft], asked_by: str
) -> ExtractionOutcome:
    """Candidates, marks on the messages and the job's end: one transaction, so that a redone job never doubles them."""

    def store(unit: Unit) -> Done | None:
        if read_situation(unit.session, job.conversation_id) is None:
            jobs.finish(unit, job.id, bench.owner, JobState.CANCELLED, detail="the conversation was deleted")
            return None
        rest_on = {id for draft in drafts if draft.evidence for id in draft.evidence.message_ids}
        fresh = jobs.still_new(unit.session, rest_on)
        kept = [draft for draft in drafts if draft.evidence and fresh.intersection(draft.evidence.message_ids)]
        by = {"asked_by": asked_by} if asked_by else {}
        done = submit(unit, kept, actor=Actor.ai(), detail={"conversation": job.conversation_id, **by})
        if not jobs.finish(unit, job.id, bench.owner, JobState.DONE, created=len(done.entries)):
            raise _NotOurs
        jobs.mark_extracted(unit, [message.id for message in situation.messages])
        return done

    try:
        done = await bench.db.write(store)
    except _NotOurs:
        return _outcome(job, State.CANCELLED, "another process took the job")
    if done is None:
        return _outcome(job, State.CANCELLED, "the conversation was deleted")
    return ExtractionOutcome(
        created=len(done.entries),
        repeated=len(done.repeated),
        state=State.DONE,
        conversation_id=job.conversation_id,
        entry_ids=tuple(entry.id for entry in done.entries),
    )


class _NotOurs(Exception):
    """The job ended or moved to another process while the model was asked."""


async def _end(bench: Workbench, job: Job, end: JobState, state: State, detail: str) -> ExtractionOutcome:
    await bench.db.write(lambda unit: jobs.finish(unit, job.id, bench.owner, end, detail=detail))
    return _outcome(job, state, detail)


def _outcome(job: Job, state: State, detail: str) -> ExtractionOutcome:
    return ExtractionOutcome(0, 0, state, detail, job.conversation_id)
