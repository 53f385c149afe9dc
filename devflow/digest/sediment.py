"""`Sediments`: what a conversation settled, written as a page of its knowledge base when the user asks for it.

Nothing here runs by itself. A conversation has one page, which is brought up to date while nobody has changed it.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from devflow.digest import output
from devflow.digest import sediment_page as page_of
from devflow.digest.batch import OVERFLOWS_MAX, Workbench, whole
from devflow.digest.sediment_page import Former
from devflow.digest.sediment_summary import Asked, Summary, extractive, summarised
from devflow.digest.sediment_talk import Talk, read_rows, talk_of
from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import NotFound, ProviderFailed, Refused
from devflow.domain.ids import now
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.domain.request import ModelRequest
from devflow.prompt.compose import Place
from devflow.prompt.estimate import estimated
from devflow.wiki.registry import KnowledgeBases, is_there

log = logging.getLogger(__name__)

Outcome = Literal["written", "updated", "unchanged"]
ASSUMED_WINDOW, SMALLER = 16_384, 0.6
"""Tokens of a window that nobody says, and what is believed of one that was refused as too small."""


@dataclass(frozen=True, slots=True)
class SedimentedPage:
    """The page in `base`; `path` is relative to it. `model` is empty where none wrote title and summary.

    `outcome`: a new page, the conversation's former page brought up to date, or nothing new since that was written.
    """

    path: str
    title: str
    base: KnowledgeBase
    model: str = ""
    outcome: Outcome = "written"


class Sediments:
    """For the window and the command line alike; two calls for one conversation at once are one."""

    def __init__(self, bench: Workbench, bases: KnowledgeBases) -> None:
        self._bench = bench
        self._bases = bases
        self._tasks: dict[str, asyncio.Task[SedimentedPage]] = {}

    async def write(self, conversation_id: str) -> SedimentedPage:
        """Write the page, or bring it up to date; a model is asked for title and summary where there is one.

        Raises `Refused` where there is nothing to write or nowhere to write it, `NotWritten` where the folder takes no
        file, and what the provider raises. Nothing is written then.
        """
        task = self._tasks.get(conversation_id)
        if task is None:
            task = asyncio.create_task(self._write(conversation_id), name=f"sediment {conversation_id}")
            self._tasks[conversation_id] = task
            task.add_done_callback(functools.partial(self._done, conversation_id))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Stop asking; a page that is being written is written to its end."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, conversation_id: str, task: asyncio.Task[SedimentedPage]) -> None:
        self._tasks.pop(conversation_id, None)
        if not task.cancelled() and (failure := task.exception()) is not None:
            log.info("no page was written of conversation %s: %s", conversation_id, failure)

    async def _write(self, conversation_id: str) -> SedimentedPage:
        rows = await self._bench.db.read(lambda session: read_rows(session, conversation_id))
        talk = await asyncio.to_thread(talk_of, rows)
        base = await self._base(talk)
        root = Path(base.path)
        choice = await self._bench.models.digest_choice()
        guard = self._bench.locks / f"digest-{base.id}"
        former = await asyncio.to_thread(page_of.former_page, root, conversation_id)
        if former is not None and page_of.says_all(former, talk, with_model=choice is not None):
            await whole(asyncio.to_thread(page_of.list_again, root, former, guard))
            return _unchanged(former, base)
        where = await asyncio.to_thread(page_of.planned, root, talk.conversation.title, now())
        await asyncio.to_thread(output.check_writable, root, where)
        summary = extractive(talk) if choice is None else await self._ask(choice, talk)
        path, before = await whole(asyncio.to_thread(page_of.write_sediment, root, talk, summary, guard))
        if before is not None and page_of.says_all(before, talk, with_model=choice is not None):
            return _unchanged(before, base)  # another process was quicker
        return SedimentedPage(path, summary.title, base, summary.model, "updated" if before is not None else "written")

    async def _base(self, talk: Talk) -> KnowledgeBase:
        kb_id = talk.conversation.kb_id
        if kb_id is None:
            raise Refused(
                N_("This conversation belongs to no knowledge base that a page could be written to."),
                N_("Choose a knowledge base, and start a new conversation in it."),
            )
        try:
            base = await self._bases.get(kb_id)
        except NotFound:
            raise Refused(N_("The knowledge base of this conversation is gone."), "") from None
        if not await asyncio.to_thread(is_there, base):
            raise Refused(
                N_("The folder of the knowledge base {name} is gone: {path}."),
                N_("Bring it back, or connect the drive that it is on."),
                name=base.name,
                path=base.path,
            )
        return base

    async def _ask(self, choice: ModelChoice, talk: Talk) -> Summary:
        """Title and summary by the model; with less of the conversation where the server says that it is too long."""
        bench, refusals = self._bench, 0
        provider = await bench.models.resolve(choice)
        while True:
            told = await provider.context_window(choice.model)
            place = Place(choice.model, bench.calibration.window(choice, told), await bench.calibration.ratio(choice))
            try:
                return await summarised(
                    Asked(provider, place, functools.partial(self._learn, choice)), talk, bench.templates
                )
            except ProviderFailed as failure:
                refusals += 1
                if failure.code != "context_overflow" or refusals > OVERFLOWS_MAX:
                    raise
                window = getattr(getattr(failure, "limits", None), "window", None)
                smaller = int((place.window or ASSUMED_WINDOW) * SMALLER)
                bench.calibration.shrink(choice, told, min(window, smaller) if isinstance(window, int) else smaller)
                log.info("the conversation is too long for %s; asked again with less of it", choice.model)

    async def _learn(self, choice: ModelChoice, request: ModelRequest, counted: int | None) -> None:
        await self._bench.calibration.observe(choice, estimated=estimated(request), counted=counted)


def _unchanged(former: Former, base: KnowledgeBase) -> SedimentedPage:
    model = "" if former.model == page_of.NO_MODEL else former.model
    return SedimentedPage(former.path, former.title, base, model, "unchanged")
