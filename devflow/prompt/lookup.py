"""When the library is looked up for a run, and the receipt that is kept of it (KP-3).

The rule is one for a first turn, a tool step, a resume after an approval, and a retry: look up whenever the newest
receipt is older than the newest user message, decision or recovery; otherwise resend the receipt's very bytes. Older
and newer are numbers of the conversation's own counter, never instants.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from devflow.domain import config, fences, placeholders
from devflow.domain.conversation import Conversation, Role
from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Hub, LibrarySearchDone
from devflow.domain.knowledge import Entry, Kind, Status
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.receipt import Phase, Receipt
from devflow.domain.request import Injected, Lookup, LookupFailed, NothingFound, NotUsed
from devflow.domain.run import OPEN_STATES, Run, RunState
from devflow.domain.text.language import language_of
from devflow.knowledge import contradict
from devflow.knowledge.embedding import Embeddings
from devflow.knowledge.settings import Settings
from devflow.prompt.library import Found, library_block
from devflow.prompt.page_journal import journal_line, judged
from devflow.prompt.page_lookup import Asked, PageLookups, PagesFound
from devflow.prompt.pages import paths_of
from devflow.prompt.templates import Templates
from devflow.retrieval.entries import relevant_entries
from devflow.retrieval.greetings import is_greeting
from devflow.retrieval.hits import Hit, SearchResult
from devflow.retrieval.hybrid import relevant_by_meaning
from devflow.retrieval.journal import Journal
from devflow.store import conversations, entries, receipts, runs
from devflow.store.database import Database, Session, Unit
from devflow.wiki.registry import KnowledgeBases

log = logging.getLogger(__name__)

TOP = 3
"""So many entries are injected at most (seed: top 3)."""


@dataclass(frozen=True, slots=True)
class _State:
    run: Run
    conversation: Conversation
    question: str
    receipt: Receipt | None
    phase: Phase
    stale: bool


class Lookups:
    """Gives each step of a run its receipt."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        templates: Templates,
        hub: Hub,
        bases: KnowledgeBases,
        journal: Journal,
        embeddings: Embeddings | None = None,
    ) -> None:
        self._embeddings = embeddings
        self._db = db
        self._settings = settings
        self._templates = templates
        self._hub = hub
        self._pages = PageLookups(bases, templates, hub)
        self._journal = journal

    async def receipt_for(self, run_id: str, window: int | None) -> Receipt:
        """The receipt the run's next request is made with; looked up anew where the rule says so.

        `window` is the model's, in tokens. A lookup that fails leaves the turn to go on without it.
        """
        state = await self._db.read(lambda session: _state(session, run_id))
        if state.receipt is not None and not state.stale:
            return state.receipt
        found = await self._look_up(state)
        pages = await self._pages.look_up(_asked(state, window))
        receipt = await self._db.write(lambda unit: self._keep(unit, state, found, pages, window))
        self._hub.publish(_event(receipt))
        if pages.base is not None:
            self._journal.begin(run_id, journal_line(state.conversation.id, state.question, state.phase, pages))
        return receipt

    async def finished(self, run_id: str) -> None:
        """If the run has ended, write its lookup down, and what a complete answer did with the pages it was given."""
        if not self._journal.is_open(run_id):
            return
        try:
            state, answer, receipt = await self._db.read(lambda session: _answer_of(session, run_id))
        except DatabaseProblem as problem:
            log.info("what became of a lookup cannot be read: %s", problem)
            return
        if state in OPEN_STATES:
            return
        given = paths_of(receipt.pages) if receipt is not None else ()
        words = judged(answer, given) if state is RunState.COMPLETED else {}
        await asyncio.to_thread(self._journal.end, run_id, **words)

    async def command(self, conversation_id: str, base: KnowledgeBase, text: str) -> None:
        """A command of the window was given: it looks nothing up, and the log says so (seed §8, scenario 5)."""
        line = journal_line(conversation_id, text, Phase.TURN, PagesFound(NotUsed("command"), base))
        await asyncio.to_thread(self._journal.write, line)

    async def _look_up(self, state: _State) -> tuple[Hit, ...] | NotUsed | LookupFailed:
        if not config.read(await self._settings.raw(config.KEY)).config.auto_inject:
            return NotUsed("off")
        if not state.conversation.retrieval:
            return NotUsed("conversation")
        if is_greeting(state.question):
            return NotUsed("greeting")
        project = state.conversation.project
        project_id = project.id if project else None
        try:
            meaning = None if self._embeddings is None else await self._embeddings.meaning(state.question)

            def work(session: Session) -> SearchResult:
                if meaning is None:
                    return relevant_entries(session, state.question, project_id=project_id, limit=TOP)
                return relevant_by_meaning(session, state.question, meaning, project_id=project_id, limit=TOP)

            hits = (await self._db.read(work)).hits
            return tuple(hit for hit in hits if not _is_asked_with(hit.entry, state.question))
        except Exception as error:  # whatever goes wrong in a search, the answer is more important
            log.warning("the library's lookup failed; the turn goes on without it", exc_info=True)
            return LookupFailed(f"{type(error).__name__}: {error}")

    def _keep(
        self,
        unit: Unit,
        state: _State,
        found: tuple[Hit, ...] | NotUsed | LookupFailed,
        pages: PagesFound,
        window: int | None,
    ) -> Receipt:
        library: Lookup
        nonce = pages.nonce or fences.new_nonce()
        if isinstance(found, NotUsed | LookupFailed):
            library = found
        else:
            library, nonce = self._render(unit, state, found, window, nonce)
        return receipts.insert(
            unit,
            conversation_id=state.conversation.id,
            run_id=state.run.id,
            phase=state.phase,
            nonce=nonce,
            library=library,
            pages=pages.lookup,
        )

    def _render(
        self, unit: Unit, state: _State, hits: tuple[Hit, ...], window: int | None, nonce: str
    ) -> tuple[Injected | NothingFound, str]:
        """Read the entries again: one archived since the search must not stand in the request.

        `nonce` is the receipt's, taken unless an entry happens to hold it.
        """
        now = {entry.id: entry for entry in entries.get_many(unit.session, [hit.entry.id for hit in hits])}
        live = [hit for hit in hits if hit.entry.id in now and now[hit.entry.id].status is Status.PUBLISHED]
        ids = [hit.entry.id for hit in live]
        numbers = receipts.number_entries(unit, state.conversation.id, ids)
        found = [_found(hit, now[hit.entry.id], numbers[hit.entry.id]) for hit in live]
        if any(nonce in each.entry.content for each in found):
            nonce = fences.new_nonce(each.entry.content for each in found)
        if not found:
            return NothingFound(), nonce
        block = library_block(
            found,
            contradict.pairs(unit.session, ids),
            nonce=nonce,
            window=window,
            templates=self._templates,
            language=language_of(state.question),
        )
        return (block if block.items else NothingFound()), nonce


def _state(session: Session, run_id: str) -> _State:
    run = runs.get(session, run_id)
    question = conversations.message(session, run.user_message_id)
    receipt = receipts.newest_of_run(session, run_id)
    decided = max((call.decided_seq or 0 for call in runs.calls_of_run(session, run_id)), default=0)
    newest = max(question.seq, decided, run.recovered_seq)
    phase = Phase.TURN
    if newest > question.seq:
        phase = Phase.RETRY if run.recovered_seq > decided else Phase.RESUME
    return _State(
        run=run,
        conversation=conversations.get(session, run.conversation_id),
        question=question.content,
        receipt=receipt,
        phase=phase,
        stale=receipt is None or receipt.seq < newest,
    )


def _found(hit: Hit, entry: Entry, number: int) -> Found:
    match = hit.match
    return Found(entry, number, hit.score, match.tier, match.terms, match.places, match.similarity)


def _is_asked_with(entry: Entry, question: str) -> bool:
    """Whether the question is that template, filled in: it would only be told once more, with its variables open."""
    return entry.kind is Kind.PROMPT_TEMPLATE and placeholders.may_have_made(entry.content, question)


def _asked(state: _State, window: int | None) -> Asked:
    return Asked(
        state.run.id,
        state.conversation.id,
        state.question,
        state.conversation.kb_id,
        on=state.conversation.retrieval,
        window=window,
    )


def _answer_of(session: Session, run_id: str) -> tuple[RunState, str, Receipt | None]:
    """How the run stands, all that it has answered so far, and the receipt it was answered by."""
    answers = [message for message in runs.transcript(session, run_id).messages if message.role is Role.ASSISTANT]
    answer = "\n".join(message.content for message in answers)
    return runs.get(session, run_id).state, answer, receipts.newest_of_run(session, run_id)


def _event(receipt: Receipt) -> LibrarySearchDone:
    def event(outcome: str, ids: tuple[str, ...] = ()) -> LibrarySearchDone:
        return LibrarySearchDone(receipt.run_id, receipt.conversation_id, len(ids), ids, outcome)

    match receipt.library:
        case Injected(_, items, _):
            return event("injected", tuple(item.ref for item in items))
        case NothingFound():
            return event("nothing")
        case NotUsed():
            return event("not_used")
        case LookupFailed():
            return event("failed")
