"""The library's one service: the window, the command line and MCP all call this object (spec 01, Commands).

Each method is one transaction on the store's thread; the rules stand in `submit`, `review`, `undo`, `queries` and
`configuring`. Acts that only a human may do raise `HumanOnly` for every other actor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from devflow.domain.config import KnowledgeConfig
from devflow.domain.knowledge import (
    INBOX,
    LIBRARY,
    Entry,
    EntryDraft,
    EntryEdit,
    Status,
    TimelineEvent,
    check_kind,
    check_status,
)
from devflow.knowledge import browsing, contradict, merge, queries, review, submit, undo
from devflow.knowledge.acts import Actor, Done
from devflow.knowledge.completing import all_containing
from devflow.knowledge.configuring import Configuration
from devflow.knowledge.contradict import Contradiction
from devflow.knowledge.embedding import Embeddings
from devflow.knowledge.merge import Merged, MergeInput
from devflow.knowledge.queries import EntryPage, Stats
from devflow.knowledge.settings import Settings
from devflow.knowledge.similar import Likeness, LikenessCount, count, likenesses, related
from devflow.retrieval.entries import search_entries
from devflow.retrieval.explain import explain
from devflow.retrieval.hits import FoundIds, Hit, Match, SearchResult
from devflow.retrieval.hybrid import search_by_meaning
from devflow.retrieval.meaning import Meaning
from devflow.retrieval.similar import similar_entries
from devflow.store import citations, entries, entry_links, entry_lists
from devflow.store.database import Database, Session
from devflow.store.entry_lists import ANY, Facets, Filters
from devflow.store.search_fill import Filling, filling

__all__ = [
    "ANY",
    "Actor",
    "Done",
    "EntryPage",
    "Facets",
    "Filters",
    "FoundIds",
    "Hit",
    "Knowledge",
    "Match",
    "SearchResult",
    "Stats",
]

SEARCH_MAX = 50
LIST_CAP = 2_000
"""Texts that are read at once while somebody types: some fifty milliseconds. The window completes what is left."""


class Knowledge:
    """`agent_child`: this process was started by the agent's `run_command`, so human acts are refused here.

    `embeddings` make searches go by meaning too, where that is switched on. `scan_cap`: so many texts are read at
    once for a list that searches.
    """

    def __init__(
        self, db: Database, settings: Settings, *, embeddings: Embeddings | None = None, agent_child: bool = False
    ) -> None:
        self._db = db
        self._embeddings = embeddings
        self._agent_child = agent_child
        self.scan_cap = LIST_CAP
        self._config = Configuration(settings, agent_child=agent_child)

    # reading -------------------------------------------------------------------------------------------------------

    async def knowledge_list(
        self,
        status: str | None = None,
        *,
        statuses: Collection[Status] | None = None,
        kind: str | None = None,
        tag: str | None = None,
        source: str | None = None,
        project: str | None = ANY,
        limit: int = 50,
        offset: int = 0,
        sort: str = "updated",
        query: str = "",
    ) -> EntryPage:
        """Published entries by default; a status, archived included, filters to it, `statuses` to several.

        With a `query`, what a search over the same filters finds, best first (KP-4).
        """
        filters = filters_for(status, statuses, kind, tag, source, project)
        if query.strip():
            return await self._search_page(query, filters, limit, offset)
        return await self._db.read(lambda session: queries.page(session, filters, sort, limit, offset))

    async def knowledge_get(self, id: str) -> Entry:
        return await self._db.read(lambda session: entries.get(session, id))

    async def knowledge_search(
        self,
        query: str,
        kind: str | None = None,
        limit: int = 3,
        *,
        statuses: Collection[Status] | None = None,
        tag: str | None = None,
        source: str | None = None,
        project: str | None = ANY,
        offset: int = 0,
    ) -> SearchResult:
        """Published entries by default; `statuses` widens it. `limit` is honoured up to 50 (KP-9).

        `total` is not counted: that takes several times as long as finding the best.
        """
        filters = filters_for(None, statuses, kind, tag, source, project)
        most = min(queries.check_limit(limit), SEARCH_MAX)
        queries.check_offset(offset)
        return await self._search(query, filters, most, offset)

    async def knowledge_list_candidates(
        self, *, kind: str | None = None, query: str = "", limit: int = 500, offset: int = 0
    ) -> EntryPage:
        """The inbox: candidates and entries in pending review, confidence descending, then newest."""
        return await self.knowledge_list(
            statuses=INBOX, kind=kind, query=query, limit=limit, offset=offset, sort="inbox"
        )

    async def knowledge_timeline(self, id: str) -> tuple[TimelineEvent, ...]:
        """An entry's events and those of the entries merged into it, newest first; `entry_id` says whose each is."""
        return await self._db.read(lambda session: queries.whole_timeline_of(session, id))

    async def knowledge_similar(self, id_or_text: str, limit: int = 5) -> tuple[Likeness, ...]:
        """Entries in any status but archived that say nearly the same as an entry (by its id) or a text, or the
        contrary, most alike first. Nothing is stored: what it says is true of the texts as they are."""
        most = min(queries.check_limit(limit), SEARCH_MAX)
        return await self._db.read(lambda session: likenesses(session, id_or_text, most))

    async def knowledge_related(self, id_or_text: str, limit: int = 5) -> tuple[Hit, ...]:
        """Entries in any status but archived about the same matter as an entry (by its id) or a text, best first."""
        most = min(queries.check_limit(limit), SEARCH_MAX)
        return await self._db.read(lambda session: related(session, id_or_text, most))

    async def knowledge_likeness_counts(self, ids: Collection[str]) -> Mapping[str, LikenessCount]:
        """How many entries resemble each of these, and may contradict it; none is no key. A short reading for each."""
        counts: dict[str, LikenessCount] = {}
        for id in dict.fromkeys(ids):
            found = await self._db.read(partial(count, id=id))
            if found.similar:
                counts[id] = found
        return counts

    async def knowledge_contradictions(self, ids: Collection[str]) -> tuple[Contradiction, ...]:
        """The pairs of these entries that may contradict each other, and by which words (KP-10)."""
        return await self._db.read(lambda session: contradict.among(session, ids))

    async def knowledge_alike(self, id_or_text: str, limit: int = 5) -> tuple[Hit, ...]:
        """Entries, archived ones left out, that say nearly the same as an entry (by its id) or a text.

        The score is absolute: the share (0–1) of their terms that the two have in common.
        """
        most = min(queries.check_limit(limit), SEARCH_MAX)
        return await self._db.read(lambda session: similar_entries(session, id_or_text, limit=most))

    async def knowledge_repeats(self, title: str, content: str) -> str | None:
        """The id of an entry, in any status, that says exactly the same: the editor warns of it."""
        return await self._db.read(lambda session: entries.duplicate_of(session, title, content))

    async def knowledge_stats(self) -> Stats:
        return await self._db.read(queries.stats)

    async def inbox_count(self) -> int:
        return await self._db.read(entry_lists.inbox_count)

    async def facets(self, filters: Filters | None = None, *, conflicting: frozenset[str] = frozenset()) -> Facets:
        """`conflicting`: the entries that are known to contradict another one, to be counted too."""
        return await self._db.read(lambda session: entry_lists.facets(session, filters or Filters(), conflicting))

    async def used_in(self, id: str) -> tuple[tuple[str, str], ...]:
        """(id, title) of each conversation whose answers cited the entry or one merged into it, latest first."""
        return await self._db.read(lambda session: citations.conversations_citing(session, *merge.whole(session, id)))

    async def linked(self, id: str) -> tuple[tuple[str, float], ...]:
        """(id, score) of the entries this one was found to resemble when it came in."""
        return await self._db.read(lambda session: entries.links(session, id))

    async def knowledge_order(self, filters: Filters, *, sort: str = "updated", query: str = "") -> tuple[str, ...]:
        """The ids of all entries a list shows, in order, for a view that loads rows as they scroll in.

        Orders: those of `knowledge_list`, and `relevance`.
        """
        meaning = await self._meaning(query)
        return (await self._db.read(lambda session: browsing.order(session, filters, sort, query, meaning))).ids

    async def knowledge_found(
        self, filters: Filters, *, sort: str = "updated", query: str = "", whole: bool = False
    ) -> FoundIds:
        """`knowledge_order` within `scan_cap`, so that it answers soon, and whether that is all. `whole`: go on beyond
        the cap, in short readings."""
        contained = await all_containing(self._db, query, filters) if whole and query.strip() else None
        meaning = await self._meaning(query)
        cap = self.scan_cap

        def work(session: Session) -> FoundIds:
            return browsing.order(session, filters, sort, query, meaning, scan_cap=cap, contained=contained)

        return await self._db.read(work)

    async def knowledge_index(self) -> Filling:
        """How far the search index is, where it is being made anew; else it is full."""
        return await self._db.read(filling)

    async def knowledge_why(self, query: str, ids: Collection[str]) -> Mapping[str, Match]:
        """Why a search for `query` finds each of these entries ("Why this?"); nothing without a query."""
        meaning = await self._meaning(query)
        return await self._db.read(lambda session: explain(session, query, ids, meaning))

    async def knowledge_entries(self, ids: Collection[str]) -> tuple[Entry, ...]:
        """Those of the entries that exist, in the order asked for."""
        return await self._db.read(lambda session: entries.get_many(session, ids))

    async def knowledge_conflicts(self, id: str) -> tuple[Entry, ...]:
        """The entries that contradict this one (KP-10)."""
        return await self._db.read(lambda session: browsing.conflicts(session, id))

    # taking in -----------------------------------------------------------------------------------------------------

    async def knowledge_create(self, draft: EntryDraft, *, actor: Actor | None = None) -> Done:
        """A new candidate, typed by someone: never turned away as a repetition."""
        return await self._db.write(lambda unit: submit.create(unit, draft, actor=actor or Actor.user()))

    async def knowledge_submit(
        self, drafts: Sequence[EntryDraft], *, actor: Actor, detail: Mapping[str, Any] | None = None
    ) -> Done:
        """What a program proposes, as candidates; exact repetitions become "seen again", near ones are linked."""
        return await self._db.write(lambda unit: submit.submit(unit, drafts, actor=actor, detail=detail))

    # reviewing -----------------------------------------------------------------------------------------------------

    async def knowledge_update(self, id: str, edit: EntryEdit, *, actor: Actor, approve: bool = False) -> Done:
        """Change fields at the version they were read (StaleVersion otherwise); `approve` publishes in the same act."""
        child = self._agent_child
        return await self._db.write(
            lambda unit: review.update(unit, id, edit, actor=actor, agent_child=child, approve_too=approve)
        )

    async def knowledge_update_status(self, id: str, status: str, *, actor: Actor) -> Done:
        child = self._agent_child
        return await self._db.write(lambda unit: review.change_status(unit, id, status, actor=actor, agent_child=child))

    async def knowledge_approve(self, ids: Iterable[str] | str, *, actor: Actor) -> Done:
        child = self._agent_child
        return await self._db.write(lambda unit: review.approve(unit, _ids(ids), actor=actor, agent_child=child))

    async def knowledge_send_to_review(self, ids: Iterable[str] | str, *, actor: Actor) -> Done:
        """Candidates to pending review, several in one act."""
        return await self._db.write(lambda unit: review.send_to_review(unit, _ids(ids), actor=actor))

    async def knowledge_restore(self, ids: Iterable[str] | str, *, actor: Actor) -> Done:
        return await self._db.write(lambda unit: review.restore(unit, _ids(ids), actor=actor))

    async def knowledge_archive(self, ids: Iterable[str] | str, *, actor: Actor, reason: str = "") -> Done:
        return await self._db.write(lambda unit: review.archive(unit, _ids(ids), actor=actor, reason=reason))

    async def knowledge_give_reason(self, operation: str, reason: str, *, actor: Actor) -> None:
        """Say why an archiving act was done, just after it."""
        child = self._agent_child
        await self._db.write(lambda unit: browsing.give_reason(unit, operation, reason, actor=actor, agent_child=child))

    async def knowledge_erase(self, id: str, *, actor: Actor) -> Done:
        child = self._agent_child
        done = await self._db.write(lambda unit: review.erase(unit, id, actor=actor, agent_child=child))
        await self._db.checkpoint()  # the text still stands in the write-ahead log
        return done

    async def knowledge_record_reuse(self, id: str, *, actor: Actor, detail: Mapping[str, Any] | None = None) -> Done:
        return await self._db.write(lambda unit: review.record_reuse(unit, id, actor=actor, detail=detail))

    async def widen_project(self, id: str, *, actor: Actor) -> Done:
        """Let a project's entry hold everywhere."""
        child = self._agent_child
        return await self._db.write(lambda unit: review.widen_project(unit, id, actor=actor, agent_child=child))

    async def knowledge_merge_proposal(self, ids: Sequence[str]) -> MergeInput:
        """What merging these entries into the first would give: its words, and the others' where they say more."""
        return await self._db.read(lambda session: merge.proposal(session, ids))

    async def knowledge_merge(self, ids: Sequence[str], given: MergeInput, *, actor: Actor) -> Merged:
        """Merge entries into the first of them; one act, and `knowledge_undo` of its operation undoes all of it."""
        child = self._agent_child
        return await self._db.write(lambda unit: merge.merge(unit, ids, given, actor=actor, agent_child=child))

    async def merged_from(self, id: str) -> tuple[Entry, ...]:
        """The entries that were merged into this one."""
        return await self._db.read(lambda session: entries.get_many(session, entry_links.merged_from(session, id)))

    async def merged_into(self, id: str) -> Entry | None:
        """The entry that this one was merged into."""
        return await self._db.read(lambda session: merge.into(session, id))

    async def knowledge_dismiss_contradiction(self, id: str, other: str, *, actor: Actor) -> Done:
        """Say that two entries do not contradict each other: they are no longer said to, until one's text changes."""
        child = self._agent_child
        return await self._db.write(lambda unit: contradict.dismiss(unit, id, other, actor=actor, agent_child=child))

    async def knowledge_undo(self, operation: str, *, actor: Actor) -> Done:
        child = self._agent_child
        return await self._db.write(lambda unit: undo.undo(unit, operation, actor=actor, agent_child=child))

    async def knowledge_redo(self, operation: str, *, actor: Actor) -> Done:
        """Undo an undo, named by its own operation."""
        child = self._agent_child
        return await self._db.write(lambda unit: undo.redo(unit, operation, actor=actor, agent_child=child))

    # configuring ---------------------------------------------------------------------------------------------------

    async def knowledge_get_config(self) -> KnowledgeConfig:
        return await self._config.get()

    async def knowledge_save_config(self, config: KnowledgeConfig, *, actor: Actor) -> KnowledgeConfig:
        return await self._config.save(config, actor=actor)

    async def knowledge_change_config(self, fields: Mapping[str, Any], *, actor: Actor) -> KnowledgeConfig:
        """Save these fields alone; another process's change of the others stands."""
        return await self._config.change(fields, actor=actor)

    async def knowledge_reembed(self, id: str | None = None) -> int:
        """Make the vectors of an entry (None: of all) anew; of how many published ones."""
        return 0 if self._embeddings is None else await self._embeddings.again(id)

    async def _meaning(self, query: str) -> Meaning | None:
        return None if self._embeddings is None else await self._embeddings.meaning(query)

    async def _search(
        self, query: str, filters: Filters, limit: int, offset: int, *, count: bool = False
    ) -> SearchResult:
        meaning = await self._meaning(query)

        def work(session: Session) -> SearchResult:
            if meaning is None:
                return search_entries(session, query, filters, limit=limit, offset=offset, count=count)
            return search_by_meaning(session, query, meaning, filters, limit=limit, offset=offset, count=count)

        return await self._db.read(work)

    async def _search_page(self, query: str, filters: Filters, limit: int, offset: int) -> EntryPage:
        most, skipped = queries.check_limit(limit), queries.check_offset(offset)
        found = await self._search(query, filters, most, skipped, count=True)
        total = found.total if found.total is not None else skipped + len(found.hits)
        return EntryPage(tuple(hit.entry for hit in found.hits), total)


def filters_for(
    status: str | None = None,
    statuses: Collection[Status] | None = None,
    kind: str | None = None,
    tag: str | None = None,
    source: str | None = None,
    project: str | None = ANY,
) -> Filters:
    """The filters of a list or a search; raises InvalidInput for an unknown status or kind."""
    shown = frozenset(statuses) if statuses is not None else LIBRARY if status is None else {check_status(status)}
    return Filters(
        statuses=frozenset(shown),
        kind=None if kind is None else check_kind(kind),
        tag=tag,
        source=source,
        project=project,
    )


def _ids(ids: Iterable[str] | str) -> tuple[str, ...]:
    return (ids,) if isinstance(ids, str) else tuple(ids)
