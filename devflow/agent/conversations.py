"""Conversations as the window lists, opens, searches and files them; their runs are `turns`' business."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from devflow.domain.conversation import Conversation, Draft, Message, ModelChoice, Origin, Path, Role
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_
from devflow.domain.receipt import Receipt
from devflow.domain.run import Run, ToolCall
from devflow.store import branches
from devflow.store import conversation_search as search_table
from devflow.store import conversations as table
from devflow.store import receipts as receipt_table
from devflow.store import runs as run_table
from devflow.store.conversation_search import MessageHit
from devflow.store.database import Database, Session, Unit

TITLE_MAX = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """A conversation at one moment: its active path, and what belongs to the part of it that is looked at.

    `calls` by message; `numbers`: `[K…]` number → entry id.
    """

    path: Path
    runs: tuple[Run, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    calls: Mapping[str, tuple[ToolCall, ...]] = field(default_factory=dict)
    numbers: Mapping[int, str] = field(default_factory=dict)


class Conversations:
    """Each method is one transaction on the store's thread."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # reading -------------------------------------------------------------------------------------------------------

    async def list(
        self, query: str = "", *, deleted: bool = False, limit: int | None = None
    ) -> tuple[Conversation, ...]:
        """Pinned first, then the newest; with a `query` those whose title or messages contain it."""
        if query.strip():
            return await self._db.read(
                lambda session: search_table.list_matching(session, query, deleted=deleted, limit=limit)
            )
        return await self._db.read(lambda session: table.list_all(session, deleted=deleted, limit=limit))

    async def get(self, id: str) -> Conversation:
        return await self._db.read(lambda session: table.get(session, id))

    async def path(self, id: str) -> Path:
        """The active path and the alternatives on it."""
        return await self._db.read(lambda session: table.path(session, id))

    async def shown(self, id: str, part: Callable[[Path], Sequence[Message]]) -> Shown:
        """The conversation as one transaction sees it, so that no run is missing from a path that has its answer.

        `part` chooses the messages that runs, receipts and calls are read for. It runs on the store's thread.
        """

        def work(session: Session) -> Shown:
            path = table.path(session, id)
            messages = part(path)
            questions = [each.id for each in messages if each.role is Role.USER]
            runs = run_table.of_conversation(session, id, questions)
            return Shown(
                path,
                runs,
                receipt_table.of_conversation(session, id, [run.id for run in runs]),
                run_table.calls_of(session, [each.id for each in messages if each.role is Role.ASSISTANT]),
                receipt_table.numbers(session, id),
            )

        return await self._db.read(work)

    async def message(self, message_id: str) -> Message:
        return await self._db.read(lambda session: table.message(session, message_id))

    async def calls(self, message_ids: Sequence[str]) -> Mapping[str, tuple[ToolCall, ...]]:
        """Tool calls by message; messages without any are left out."""
        return await self._db.read(lambda session: run_table.calls_of(session, message_ids))

    async def runs(self, id: str, *, questions: Collection[str] | None = None) -> tuple[Run, ...]:
        """Oldest first; with `questions` only those on these user messages."""
        return await self._db.read(lambda session: run_table.of_conversation(session, id, questions))

    async def run(self, run_id: str) -> Run:
        return await self._db.read(lambda session: run_table.get(session, run_id))

    async def receipts(self, id: str, *, runs: Collection[str] | None = None) -> tuple[Receipt, ...]:
        """What was looked up, oldest first, each with its run and the feedback given; with `runs` only for these."""
        return await self._db.read(lambda session: receipt_table.of_conversation(session, id, runs))

    async def numbers(self, id: str) -> Mapping[int, str]:
        """`[K…]` number → entry id, for every entry the conversation was ever given; other marks are unverified."""
        return await self._db.read(lambda session: receipt_table.numbers(session, id))

    async def search(self, query: str, limit: int = 50) -> tuple[MessageHit, ...]:
        """Messages that contain the query, newest first; an empty query finds nothing."""
        if not query.strip():
            return ()
        return await self._db.read(lambda session: search_table.search_messages(session, query, limit))

    # writing -------------------------------------------------------------------------------------------------------

    async def create(
        self,
        *,
        origin: Origin = Origin.WINDOW,
        project_id: str | None = None,
        kb_id: str | None = None,
        model: ModelChoice | None = None,
        retrieval: bool = True,
    ) -> Conversation:
        """`kb_id`: the knowledge base that it belongs to for good."""
        return await self._db.write(
            lambda unit: table.create(
                unit, origin=origin, project_id=project_id, kb_id=kb_id, model=model, retrieval=retrieval
            )
        )

    async def rename(self, id: str, title: str) -> Conversation:
        """A title by the user, which no model replaces."""
        line = " ".join(title.split())
        if not 0 < len(line) <= TITLE_MAX:
            raise InvalidInput(
                "title", N_("A title has 1 to {limit} characters."), N_("Write a shorter one."), limit=TITLE_MAX
            )
        return await self._set(id, title=line, title_by_user=True)

    async def pin(self, id: str, pinned: bool = True) -> Conversation:
        return await self._set(id, pinned=pinned)

    async def delete(self, id: str) -> Conversation:
        """Out of the list, not out of the database: `restore` brings it back."""

        def work(unit: Unit) -> Conversation:
            return table.set_fields(unit, id, deleted_at=unit.at)

        return await self._db.write(work)

    async def restore(self, id: str) -> Conversation:
        return await self._set(id, deleted_at=None)

    async def set_project(self, id: str, project_id: str | None) -> Conversation:
        return await self._set(id, project_id=project_id)

    async def set_kb(self, id: str, kb_id: str | None) -> Conversation:
        """The knowledge base it belongs to: fixed with the first message, raises `Refused` after that."""

        def work(unit: Unit) -> Conversation:
            if table.get(unit.session, id).leaf_id is not None:
                raise Refused(
                    N_("A conversation keeps the knowledge base that it was started with."),
                    N_("Start a new conversation for another one."),
                )
            return table.set_fields(unit, id, kb_id=kb_id)

        return await self._db.write(work)

    async def newest_of(self, kb_id: str | None) -> Conversation | None:
        """The conversation of that knowledge base (or of none) that was spoken in last."""
        return await self._db.read(lambda session: search_table.newest_of_base(session, kb_id))

    async def set_model(self, id: str, model: ModelChoice | None) -> Conversation:
        """The conversation's own model from its next run on; None: the main role's."""
        provider_id, name = (model.provider_id, model.model) if model else (None, None)
        return await self._set(id, provider_id=provider_id, model=name)

    async def set_retrieval(self, id: str, on: bool) -> Conversation:
        return await self._set(id, retrieval=on)

    async def save_draft(self, id: str, draft: Draft) -> None:
        """What stands in the composer, so that it is there after a restart."""
        await self._set(id, draft={"text": draft.text, "references": [*draft.references]})

    async def set_queued(self, id: str, text: str) -> Conversation:
        """The message that is sent when the run ends; empty: none."""
        return await self._set(id, queued=text)

    async def unqueue(self, id: str, typed: str) -> str:
        """Take the waiting message back into the draft, before what is `typed` there; the words of both, or of one.

        One transaction: a message that was sent meanwhile comes back empty, and none is lost or sent twice. The command
        of the skill that it waited with stands before it again.
        """

        def work(unit: Unit) -> str:
            queued = table.get(unit.session, id).queued_words
            text = "\n\n".join(part for part in (queued, typed) if part.strip())
            table.set_fields(unit, id, queued="", queued_skill=None, draft={"text": text, "references": []})
            return text

        return await self._db.write(work)

    async def branch_from(self, message_id: str) -> Conversation:
        """A new conversation with the path down to that message."""
        return await self._db.write(lambda unit: branches.branch(unit, message_id))

    async def choose_sibling(self, message_id: str) -> Path:
        """Show the path through that alternative, down to the newest message below it."""

        def work(unit: Unit) -> Path:
            message = table.message(unit.session, message_id)
            leaf = table.newest_leaf_below(unit.session, message_id)
            table.set_fields(unit, message.conversation_id, leaf_id=leaf)
            return table.path(unit.session, message.conversation_id)

        return await self._db.write(work)

    async def feedback(self, receipt_id: str, ref: str, verdict: int | None) -> None:
        """Whether a source helped: +1, -1, or None to take it back."""
        await self._db.write(lambda unit: receipt_table.set_feedback(unit, receipt_id, ref, verdict))

    async def _set(self, id: str, **values: object) -> Conversation:
        return await self._db.write(lambda unit: table.set_fields(unit, id, **values))
