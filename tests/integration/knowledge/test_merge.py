"""Merging: several entries become one, nothing of them is lost, and one act puts all of it back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.errors import HumanOnly, InvalidInput, NotFound, Refused, StaleVersion
from devflow.domain.knowledge import CONTENT_MAX, EntryEdit, EventKind, Status
from devflow.knowledge import merge, undo
from devflow.knowledge.service import Actor
from devflow.store import citations, search_lookup
from devflow.store.database import Session, Unit
from devflow.store.schema import ConversationRow, EntryLinkRow, EntryRow, MessageRow
from tests.support.library import AI, USER, Library, open_library
from tests.support.search_library import SearchLibrary

STATUSES = (Status.CANDIDATE, Status.PENDING_REVIEW, Status.PUBLISHED)


async def merged(library: Library, *ids: str) -> Any:
    given = await library.knowledge.knowledge_merge_proposal(ids)
    return await library.knowledge.knowledge_merge(ids, given, actor=USER)


async def test_the_first_entry_takes_the_others_in_and_they_are_archived(library: Library) -> None:
    one = await library.add("Locks expire", content="Set an expiry.", tags=["redis"])
    two = await library.add("Locks need a token", content="Compare the token.", tags=["Lua", "redis"])
    done = await merged(library, one.id, two.id)
    assert (done.entry.id, done.entry.title, done.entry.tags) == (one.id, "Locks expire", ("redis", "Lua"))
    assert done.entry.content == "Set an expiry.\n\nCompare the token."
    assert [other.status for other in done.others] == [Status.ARCHIVED]
    knowledge = library.knowledge
    assert [entry.id for entry in await knowledge.merged_from(one.id)] == [two.id]
    into = await knowledge.merged_into(two.id)
    assert into is not None
    assert into.id == one.id


async def test_the_merged_entrys_timeline_shows_what_happened_to_all_of_them(library: Library) -> None:
    one, two, three = [await library.add(f"Number {number}") for number in range(3)]
    await merged(library, two.id, three.id)
    await merged(library, one.id, two.id)
    told = await library.knowledge.knowledge_timeline(one.id)
    assert {event.entry_id for event in told} == {one.id, two.id, three.id}
    assert [event.id for event in told] == sorted((event.id for event in told), reverse=True)
    assert sum(event.event is EventKind.CREATED for event in told) == 3
    alone = await library.knowledge.knowledge_timeline(two.id)
    assert {event.entry_id for event in alone} == {two.id, three.id}


async def test_uses_are_added_and_the_chats_that_cited_the_others_are_the_merged_entrys(library: Library) -> None:
    one, two = [await library.add(title, Status.PUBLISHED) for title in ("One", "Two")]
    for id, times in ((one.id, 2), (two.id, 3)):
        for _ in range(times):
            await library.knowledge.knowledge_record_reuse(id, actor=AI)
    await library.db.write(lambda unit: _cite(unit, two.id))
    done = await merged(library, one.id, two.id)
    assert (done.entry.reuse_count, done.others[0].reuse_count) == (5, 3)
    assert await library.knowledge.used_in(one.id) == (("talk", "A talk"),)
    await library.knowledge.knowledge_record_reuse(one.id, actor=AI)
    back = await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert {entry.id: entry.reuse_count for entry in back.entries} == {one.id: 3, two.id: 3}
    assert await library.knowledge.used_in(one.id) == ()


def _cite(unit: Unit, id: str) -> None:
    at = unit.at
    talk = ConversationRow(id="talk", title="A talk", origin="window", draft={}, created_at=at, updated_at=at)
    unit.session.add(talk)
    unit.session.flush()
    unit.session.add(
        MessageRow(id="m", conversation_id="talk", seq=1, role="assistant", state="complete", content="", created_at=at)
    )
    unit.session.flush()
    citations.record(unit, "m", id)


async def test_one_undo_puts_everything_back_and_a_redo_does_it_again(library: Library) -> None:
    one = await library.add("One", Status.PUBLISHED, tags=["a"])
    two = await library.add("Two", Status.PENDING_REVIEW, tags=["b"])
    knowledge = library.knowledge
    done = await merged(library, one.id, two.id)
    undone = await knowledge.knowledge_undo(done.operation, actor=USER)
    for before in (one, two):
        now = await knowledge.knowledge_get(before.id)
        assert replace(now, version=before.version, updated_at=before.updated_at) == before
    assert await knowledge.merged_from(one.id) == ()
    assert await knowledge.merged_into(two.id) is None
    redone = await knowledge.knowledge_redo(undone.operation, actor=USER)
    assert {entry.id: entry.status for entry in redone.entries} == {one.id: Status.PUBLISHED, two.id: Status.ARCHIVED}
    assert [entry.id for entry in await knowledge.merged_from(one.id)] == [two.id]
    await knowledge.knowledge_undo(redone.operation, actor=USER)
    assert (await knowledge.knowledge_get(two.id)).status is Status.PENDING_REVIEW


async def test_merging_entries_that_say_the_very_same_is_an_act_that_can_be_undone(library: Library) -> None:
    one, two = [await library.add("Same", content="Word for word.") for _ in range(2)]
    done = await merged(library, one.id, two.id)
    assert done.entry.content == "Word for word."
    assert (await library.events(one.id))[-1].event is not EventKind.CREATED
    await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert (await library.knowledge.knowledge_get(two.id)).status is Status.CANDIDATE


@pytest.mark.parametrize("first", STATUSES)
@pytest.mark.parametrize("second", STATUSES)
async def test_what_one_of_them_published_stays_published(library: Library, first: Status, second: Status) -> None:
    one, two = await library.add("One", first), await library.add("Two", second)
    done = await merged(library, one.id, two.id)
    assert done.entry.status is (Status.PUBLISHED if Status.PUBLISHED in (first, second) else first)
    await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert [(await library.knowledge.knowledge_get(id)).status for id in (one.id, two.id)] == [first, second]


async def test_an_entry_that_changed_since_it_was_read_refuses_the_merge_and_nothing_is_written(
    library: Library,
) -> None:
    one, two = await library.add("One"), await library.add("Two")
    knowledge = library.knowledge
    for changed in (one, two):
        given = await knowledge.knowledge_merge_proposal([one.id, two.id])
        now = await knowledge.knowledge_get(changed.id)
        edit = EntryEdit(now.version, content=f"{now.content} More.")
        await knowledge.knowledge_update(changed.id, edit, actor=USER)
        events = len(await library.events(one.id)), len(await library.events(two.id))
        with pytest.raises(StaleVersion) as refused:
            await knowledge.knowledge_merge([one.id, two.id], given, actor=USER)
        assert "changed elsewhere" in str(refused.value)
        assert (len(await library.events(one.id)), len(await library.events(two.id))) == events


async def test_an_undo_is_refused_once_one_of_them_changed(library: Library) -> None:
    one, two = await library.add("One"), await library.add("Two")
    done = await merged(library, one.id, two.id)
    await library.knowledge.knowledge_restore(two.id, actor=USER)
    with pytest.raises(Refused):
        await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert (await library.knowledge.knowledge_get(one.id)).content == done.entry.content


async def test_what_cannot_be_merged_is_refused_with_a_reason(library: Library, home: Path) -> None:
    one, gone = await library.add("One"), await library.add("Gone", Status.ARCHIVED)
    long = [await library.add(f"Long {n}", content=f"{n}" * (CONTENT_MAX - 10)) for n in (1, 2)]
    for ids, error in (
        ((one.id,), InvalidInput),
        ((one.id, one.id), InvalidInput),
        ((one.id, "nobody"), NotFound),
        ((one.id, gone.id), Refused),
        ((gone.id, one.id), Refused),
        ((long[0].id, long[1].id), InvalidInput),
    ):
        with pytest.raises(error):
            await merged(library, *ids)
    given = await library.knowledge.knowledge_merge_proposal([one.id, long[0].id])
    for actor in (AI, Actor.system(), Actor.mcp("tool", manages=True)):
        with pytest.raises(HumanOnly):
            await library.knowledge.knowledge_merge([one.id, long[0].id], given, actor=actor)
    async with open_library(home, agent_child=True) as inside:
        with pytest.raises(HumanOnly):
            await inside.knowledge.knowledge_merge([one.id, long[0].id], given, actor=USER)
    assert [event.event for event in await library.events(one.id)] == [EventKind.CREATED]


async def test_searches_find_the_merged_entry_by_the_others_words(library: Library) -> None:
    one = await library.add("Expiry", Status.PUBLISHED, content="A lock expires.")
    two = await library.add("Token", Status.PUBLISHED, content="Compare the quetzalcoatl.")

    async def found() -> list[str]:
        return [hit.entry.id for hit in await library.knowledge.knowledge_search("quetzalcoatl")]

    done = await merged(library, one.id, two.id)
    assert await found() == [one.id]
    await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert await found() == [two.id]


WORDS = st.lists(st.sampled_from("锁 lock 过期 expiry token Redis 🔒 100% 缓存 cache".split()), min_size=1, max_size=6)
ENTRY = st.tuples(WORDS, WORDS, st.lists(st.sampled_from("abcd"), max_size=3, unique=True), st.sampled_from(STATUSES))


def test_a_merge_and_its_undo_restore_every_row_whatever_was_merged(home: Path) -> None:
    library = SearchLibrary(home)

    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.tuples(ENTRY, st.integers(0, 3)), min_size=2, max_size=4))
    def check(made: list[tuple[Any, int]]) -> None:
        ids = [
            library.add(
                " ".join(title),
                " ".join(content),
                tags=tags,
                status=status,
                reuse=reuse if status is Status.PUBLISHED else 0,
            ).id
            for (title, content, tags, status), reuse in made
        ]
        before = library.database.run_read(lambda session: rows(session, ids))
        given_ = library.database.run_read(lambda session: merge.proposal(session, ids))
        done = library.database.run_write(lambda unit: merge.merge(unit, ids, given_, actor=USER))
        after = library.database.run_read(lambda session: rows(session, ids))
        assert after != before
        back = library.database.run_write(lambda unit: undo.undo(unit, done.operation, actor=USER))
        assert library.database.run_read(lambda session: rows(session, ids)) == before
        library.database.run_write(lambda unit: undo.redo(unit, back.operation, actor=USER))
        assert library.database.run_read(lambda session: rows(session, ids)) == after

    check()
    library.close()


def rows(session: Session, ids: list[str]) -> dict[str, Any]:
    """Everything that is kept of the entries, but versions and the instants of their changes."""
    kept = ("kind", "title", "content", "tags", "status", "confidence", "reuse_count", "project_id", "normal_hash")
    found = {id: session.get_one(EntryRow, id) for id in ids}
    links = session.query(EntryLinkRow).filter(EntryLinkRow.entry_id.in_(ids))
    return {
        "entries": [tuple(repr(getattr(found[id], name)) for name in (*kept, "published_at")) for id in ids],
        "archived": [found[id].archived_at is not None for id in ids],
        "links": sorted((link.entry_id, link.other_id, link.relation) for link in links),
        "index": sorted(search_lookup.texts(session, ids).items()),
    }


async def test_a_use_is_counted_once_however_often_its_entry_is_merged(library: Library) -> None:
    one = await library.add("Locks expire", status=Status.PUBLISHED)
    two = await library.add("Locks need a token", status=Status.PUBLISHED)
    three = await library.add("Locks are kept", status=Status.PUBLISHED)
    await library.knowledge.knowledge_record_reuse(two.id, actor=USER)
    await merged(library, one.id, two.id)
    await library.knowledge.knowledge_restore(two.id, actor=USER)
    await library.knowledge.knowledge_approve(two.id, actor=USER)
    await library.knowledge.knowledge_record_reuse(two.id, actor=USER)
    again = await merged(library, three.id, one.id, two.id)
    assert again.entry.reuse_count == 2
    await library.knowledge.knowledge_undo(again.operation, actor=USER)
    assert [(await library.knowledge.knowledge_get(id)).reuse_count for id in (one.id, two.id, three.id)] == [1, 2, 0]
    assert (await merged(library, one.id, two.id)).entry.reuse_count == 2
