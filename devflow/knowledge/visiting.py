"""The library as another program sees it: the same acts as everybody's, with narrower rights (spec 06, MCP server).

Each act looks at the entry and at the visitor's right within its own transaction, before it changes anything; between
the look and the act nobody comes in. What a visitor may not see is, for it, not there: the same `NotFound`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from devflow.domain.config import KnowledgeConfig
from devflow.domain.errors import HumanOnly, NotFound, Refused
from devflow.domain.knowledge import (
    INBOX,
    LIBRARY,
    NOT_ARCHIVED,
    Entry,
    EntryDraft,
    EntryEdit,
    Status,
    TimelineEvent,
    check_status,
)
from devflow.domain.messages import N_
from devflow.domain.rights import Right, Visitor
from devflow.knowledge import queries, review, submit
from devflow.knowledge.acts import Actor, Done
from devflow.knowledge.queries import EntryPage
from devflow.knowledge.service import SEARCH_MAX, Knowledge
from devflow.retrieval.hits import Hit, SearchResult
from devflow.retrieval.similar import NEAR, similar_entries
from devflow.store import entries, entry_lists
from devflow.store.database import Database, Session, Unit
from devflow.store.entry_lists import Filters
from devflow.store.search_lookup import Scope

NOT_YOURS = N_("Only the program that proposed an entry changes it, and only until it is published.")
A_HUMAN = N_("The user changes it in DevFlow.")


class VisitedLibrary:
    """Every method takes the visitor first. None publishes, whatever the right."""

    def __init__(self, db: Database, knowledge: Knowledge) -> None:
        self._db = db
        self._knowledge = knowledge

    # reading -------------------------------------------------------------------------------------------------------

    async def list(
        self,
        visitor: Visitor,
        status: str | None = None,
        *,
        kind: str | None = None,
        tag: str | None = None,
        limit: int,
        offset: int = 0,
        sort: str = "updated",
    ) -> EntryPage:
        """Published entries by default; of another status, below *manage*, its own."""
        others = status is not None and check_status(status) not in LIBRARY
        source = visitor.source_ref if others and not visitor.right.holds(Right.MANAGE) else None
        return await self._knowledge.knowledge_list(
            status, kind=kind, tag=tag, source=source, limit=limit, offset=offset, sort=sort
        )

    async def candidates(self, visitor: Visitor, *, kind: str | None = None, limit: int, offset: int = 0) -> EntryPage:
        """What waits for the human: its own, and all of it with *manage*."""
        source = None if visitor.right.holds(Right.MANAGE) else visitor.source_ref
        return await self._knowledge.knowledge_list(
            statuses=INBOX, kind=kind, source=source, limit=limit, offset=offset, sort="inbox"
        )

    async def search(
        self, visitor: Visitor, query: str, *, kind: str | None = None, tag: str | None = None, limit: int
    ) -> SearchResult:
        """Published entries alone, for everybody."""
        return await self._knowledge.knowledge_search(query, kind, limit, tag=tag)

    async def get(self, visitor: Visitor, id: str) -> Entry:
        return await self._db.read(lambda session: _seen(session, visitor, id))

    async def published(self) -> Mapping[str, tuple[int, str]]:
        """Every published entry's version and kind: two that are equal say that nothing a visitor reads has changed."""
        return await self._db.read(lambda session: entry_lists.versions(session, Filters(statuses=LIBRARY)))

    async def timeline(self, visitor: Visitor, id: str) -> tuple[TimelineEvent, ...]:
        """Newest first. That there was an entry which was erased is told with *manage* alone."""

        def work(session: Session) -> tuple[TimelineEvent, ...]:
            if visitor.right.holds(Right.MANAGE):
                return queries.timeline_of(session, id)
            entry = _seen(session, visitor, id)
            return tuple(_shown(event, entry, visitor) for event in queries.timeline_of(session, id))

        return await self._db.read(work)

    async def similar(self, visitor: Visitor, *, id: str | None, text: str, limit: int) -> tuple[Hit, ...]:
        """What says nearly the same as an entry it sees, or as a text, most alike first: published entries and its own
        that are not archived. The score is absolute."""
        most = min(queries.check_limit(limit), SEARCH_MAX)

        def work(session: Session) -> tuple[Hit, ...]:
            asked = text if id is None else _seen(session, visitor, id).id
            found = similar_entries(session, asked, limit=most, scopes=_scopes(visitor), by_id=id is not None)
            return tuple(hit for hit in found if hit.score >= NEAR)

        return await self._db.read(work)

    async def config(self, visitor: Visitor) -> KnowledgeConfig:
        return await self._knowledge.knowledge_get_config()

    # changing ------------------------------------------------------------------------------------------------------

    async def create(self, visitor: Visitor, draft: EntryDraft) -> tuple[Entry | None, bool]:
        """A candidate, and whether it was new. What exactly repeats an entry is "seen again" instead; that entry is
        None where the visitor may not see it."""
        visitor.require(Right.PROPOSE)
        own = replace(draft, source_ref=visitor.source_ref)

        def work(unit: Unit) -> tuple[Entry | None, bool]:
            done = submit.submit(unit, [own], actor=_actor(visitor))
            if done.entries:
                return done.entries[0], True
            known = entries.get(unit.session, done.repeated[0])
            return (known if visitor.sees(known) else None), False

        return await self._db.write(work)

    async def update(self, visitor: Visitor, id: str, edit: EntryEdit) -> Entry:
        """Change fields of its own entry while it waits for the human."""
        visitor.require(Right.PROPOSE)

        def work(unit: Unit) -> Done:
            entry = _seen(unit.session, visitor, id)
            _require_own(entry, visitor)
            if entry.status is Status.ARCHIVED:
                raise Refused(NOT_YOURS, A_HUMAN)
            return review.update(unit, id, edit, actor=_actor(visitor))

        return (await self._db.write(work)).entries[0]

    async def update_status(self, visitor: Visitor, id: str, status: str) -> Entry:
        """Submit its own to review, or archive; publishing is refused to every right."""
        visitor.require(Right.PROPOSE)
        wanted = check_status(status)
        if wanted is Status.PUBLISHED:
            raise HumanOnly(
                review.PUBLISHING, N_("A human decides it in the inbox; pending_review is as far as it goes.")
            )

        def work(unit: Unit) -> Done:
            entry = _seen(unit.session, visitor, id)
            if not (wanted is Status.ARCHIVED and visitor.right.holds(Right.MANAGE)):
                _require_own(entry, visitor)
            return review.change_status(unit, id, status, actor=_actor(visitor))

        return (await self._db.write(work)).entries[0]

    async def archive(self, visitor: Visitor, id: str, reason: str = "") -> Entry:
        """Its own while it waits for the human; any with *manage*."""
        visitor.require(Right.PROPOSE)

        def work(unit: Unit) -> Done:
            entry = _seen(unit.session, visitor, id)
            if not visitor.right.holds(Right.MANAGE):
                _require_own(entry, visitor)
            return review.archive(unit, [id], actor=_actor(visitor), reason=reason)

        return (await self._db.write(work)).entries[0]

    async def record_reuse(self, visitor: Visitor, id: str) -> Entry:
        visitor.require(Right.PROPOSE)

        def work(unit: Unit) -> Done:
            _seen(unit.session, visitor, id)
            return review.record_reuse(unit, id, actor=_actor(visitor))

        return (await self._db.write(work)).entries[0]

    async def save_config(self, visitor: Visitor, fields: Mapping[str, Any]) -> KnowledgeConfig:
        """Store these fields; the others stay."""
        visitor.require(Right.MANAGE)
        return await self._knowledge.knowledge_change_config(fields, actor=_actor(visitor))


def _actor(visitor: Visitor) -> Actor:
    return Actor.mcp(visitor.client, manages=visitor.right.holds(Right.MANAGE))


def _seen(session: Session, visitor: Visitor, id: str) -> Entry:
    """The entry, if the visitor sees it; else there is none."""
    entry = entries.get(session, id)
    if not visitor.sees(entry):
        raise NotFound(entries.WHAT, id)
    return entry


def _require_own(entry: Entry, visitor: Visitor) -> None:
    """Raise Refused unless it is the visitor's own and still waits for the human."""
    if not visitor.owns(entry) or entry.status is Status.PUBLISHED:
        raise Refused(NOT_YOURS, A_HUMAN)


def _scopes(visitor: Visitor) -> tuple[Scope, ...]:
    if visitor.right.holds(Right.MANAGE):
        return (Scope(NOT_ARCHIVED),)
    return (Scope(LIBRARY), Scope(NOT_ARCHIVED - LIBRARY, source=visitor.source_ref))


def _shown(event: TimelineEvent, entry: Entry, visitor: Visitor) -> TimelineEvent:
    """An event below *manage*. Of others' entries the texts they once had stay unsaid, for not all of them were
    published; of all entries, whatever names conversations."""
    reason = {"reason": event.detail["reason"]} if "reason" in event.detail and visitor.owns(entry) else {}
    if visitor.owns(entry):
        return replace(event, detail=reason)
    changes = {name: pair if name == "status" else (None, None) for name, pair in event.changes.items()}
    return replace(event, changes=changes, detail={})
