"""When the library is looked up for a run, and the receipt that is kept of it (KP-3).

The rule is one for a first turn, a tool step, a resume after an approval, and a retry: look up whenever the newest
receipt is older than the newest user message, decision or recovery; otherwise resend the receipt's very bytes. Older
and newer are numbers of the conversation's own counter, never instants.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from devflow.domain import config, fences
from devflow.domain.conversation import Conversation
from devflow.domain.events import Hub, LibrarySearchDone
from devflow.domain.knowledge import Status
from devflow.domain.receipt import Phase, Receipt
from devflow.domain.request import Injected, Lookup, LookupFailed, NothingFound, NotUsed
from devflow.domain.run import Run
from devflow.knowledge.settings import Settings
from devflow.prompt.budget import library_chars
from devflow.prompt.library import Found, render_library
from devflow.prompt.templates import Templates, language_of
from devflow.retrieval.entries import relevant_entries
from devflow.retrieval.greetings import is_greeting
from devflow.retrieval.hits import Hit
from devflow.store import conversations, entries, entry_links, receipts, runs
from devflow.store.database import Database, Session, Unit

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

    def __init__(self, db: Database, settings: Settings, templates: Templates, hub: Hub) -> None:
        self._db = db
        self._settings = settings
        self._templates = templates
        self._hub = hub

    async def receipt_for(self, run_id: str, window: int | None) -> Receipt:
        """The receipt the run's next request is made with; looked up anew where the rule says so.

        `window` is the model's, in tokens. A lookup that fails leaves the turn to go on without it.
        """
        state = await self._db.read(lambda session: _state(session, run_id))
        if state.receipt is not None and not state.stale:
            return state.receipt
        found = await self._look_up(state)
        receipt = await self._db.write(lambda unit: self._keep(unit, state, found, window))
        self._hub.publish(_event(receipt))
        return receipt

    async def _look_up(self, state: _State) -> tuple[Hit, ...] | NotUsed | LookupFailed:
        if not config.read(await self._settings.raw(config.KEY)).config.auto_inject:
            return NotUsed("off")
        if not state.conversation.retrieval:
            return NotUsed("conversation")
        if is_greeting(state.question):
            return NotUsed("greeting")
        project = state.conversation.project
        try:
            found = await self._db.read(
                lambda session: relevant_entries(
                    session, state.question, project_id=project.id if project else None, limit=TOP
                )
            )
            return found.hits
        except Exception as error:  # whatever goes wrong in a search, the answer is more important
            log.warning("the library's lookup failed; the turn goes on without it", exc_info=True)
            return LookupFailed(f"{type(error).__name__}: {error}")

    def _keep(
        self, unit: Unit, state: _State, found: tuple[Hit, ...] | NotUsed | LookupFailed, window: int | None
    ) -> Receipt:
        library: Lookup
        nonce = fences.new_nonce()
        if isinstance(found, NotUsed | LookupFailed):
            library = found
        else:
            library, nonce = self._render(unit, state, found, window)
        return receipts.insert(
            unit,
            conversation_id=state.conversation.id,
            run_id=state.run.id,
            phase=state.phase,
            nonce=nonce,
            library=library,
            pages=NotUsed("no_kb"),
        )

    def _render(
        self, unit: Unit, state: _State, hits: tuple[Hit, ...], window: int | None
    ) -> tuple[Injected | NothingFound, str]:
        """Read the entries again: one archived since the search must not stand in the request."""
        now = {entry.id: entry for entry in entries.get_many(unit.session, [hit.entry.id for hit in hits])}
        live = [hit for hit in hits if hit.entry.id in now and now[hit.entry.id].status is Status.PUBLISHED]
        ids = [hit.entry.id for hit in live]
        numbers = receipts.number_entries(unit, state.conversation.id, ids)
        found = [
            Found(now[hit.entry.id], numbers[hit.entry.id], hit.score, hit.match.tier, hit.match.terms) for hit in live
        ]
        nonce = fences.new_nonce(each.entry.content for each in found)
        if not found:
            return NothingFound(), nonce
        block = render_library(
            found,
            entry_links.conflicts_among(unit.session, ids),
            nonce=nonce,
            budget=library_chars(window),
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
