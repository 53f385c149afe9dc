"""Looking a message up in its conversation's knowledge base, every turn and every resume (seed §5.5, spec 02)."""

from __future__ import annotations

import logging
import time
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path

from devflow.domain.events import (
    Hub,
    KnowledgeSearchDone,
    KnowledgeSearchEmpty,
    KnowledgeSearchError,
    KnowledgeSearchStart,
)
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.request import Injected, Lookup, LookupFailed, NotUsed
from devflow.domain.text.language import language_of
from devflow.prompt.pages import PageWords, paths_of, render_pages
from devflow.prompt.templates import Templates
from devflow.retrieval.pages import PageSearch, context_budget_from_window, rank_pages
from devflow.retrieval.references import parse_explicit_page_refs
from devflow.retrieval.trigger import should_use_knowledge_base
from devflow.wiki.page_index import PageIndex
from devflow.wiki.registry import KnowledgeBases, is_there

log = logging.getLogger(__name__)

INDEXING_S = 2.0
"""A turn waits so long for new pages to be read; of those that are left it knows the titles."""


@dataclass(frozen=True, slots=True)
class PagesFound:
    """What became of the lookup. `found` is None where no search was made, `nonce` where nothing is fenced.

    `took_ms` is in milliseconds; `stack` is the traceback of a search that failed.
    """

    lookup: Lookup
    base: KnowledgeBase | None = None
    references: tuple[str, ...] = ()
    found: PageSearch | None = None
    nonce: str = ""
    took_ms: int = 0
    pages: int = 0
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The message to look up, for a run of a conversation. `kb_id` is the conversation's; `on`: its switch."""

    run_id: str
    conversation_id: str
    question: str
    kb_id: str | None
    on: bool = True
    window: int | None = None


@dataclass(frozen=True, slots=True)
class PageLookups:
    bases: KnowledgeBases
    templates: Templates
    hub: Hub
    home: Path = field(default_factory=Path.home)

    async def look_up(self, asked: Asked) -> PagesFound:
        """Never raises: whatever goes wrong in a search, the answer is more important."""
        if asked.kb_id is None:
            return PagesFound(NotUsed("no_kb"))
        started = time.monotonic()
        base: KnowledgeBase | None = None
        start = KnowledgeSearchStart(asked.run_id, asked.conversation_id)
        told = False
        try:
            base = await self.bases.get(asked.kb_id)
            if not asked.on:
                return PagesFound(NotUsed("conversation"), base)
            if not should_use_knowledge_base(asked.question, kb_selected=True):
                return PagesFound(NotUsed("not_triggered"), base)
            told = True
            self.hub.publish(start)
            found = await self._search(base, asked)
        except Exception as error:
            log.warning("the search of the knowledge base failed; the turn goes on without it", exc_info=True)
            failed = LookupFailed(f"{type(error).__name__}: {error}")
            found = PagesFound(failed, base, stack=traceback.format_exc())
            if not told:
                self.hub.publish(start)  # an end always follows a beginning
            self.hub.publish(KnowledgeSearchError(asked.run_id, asked.conversation_id, str(error)))
            return _timed(found, started)
        if isinstance(found.lookup, Injected):
            paths = tuple(paths_of(found.lookup))
            self.hub.publish(KnowledgeSearchDone(asked.run_id, asked.conversation_id, len(paths), paths))
        else:
            self.hub.publish(KnowledgeSearchEmpty(asked.run_id, asked.conversation_id))
        return _timed(found, started)

    async def _search(self, base: KnowledgeBase, asked: Asked) -> PagesFound:
        if not is_there(base):
            raise FileNotFoundError(f"the folder {base.path} is gone")
        progress = await self.bases.refresh(base, within=INDEXING_S)
        references = parse_explicit_page_refs(asked.question)
        words = PageWords(base, self.templates, language_of(asked.question), self.home)
        budget = context_budget_from_window(asked.window)

        def work(index: PageIndex) -> PagesFound:
            ranked = rank_pages(index, asked.question, explicit_refs=references)
            lookup, found, nonce = render_pages(ranked, words, budget)
            return PagesFound(lookup, base, references, found, nonce, pages=progress.pages)

        return await self.bases.ask(base, work)


def _timed(found: PagesFound, started: float) -> PagesFound:
    return replace(found, took_ms=round((time.monotonic() - started) * 1_000))
