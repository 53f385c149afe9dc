"""Undo and redo: compensating transactions, all or nothing (spec 01 and 08)."""

from typing import Any

import pytest

from devflow.domain.errors import NotFound, Refused, UserFacing
from devflow.domain.knowledge import EntryEdit, EventKind, Status
from devflow.store import timeline
from devflow.store.database import Unit
from devflow.store.timeline import Act
from tests.support.library import AI, USER, Library


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.PENDING_REVIEW])
async def test_undoing_an_approval_puts_the_entry_back_where_it_was(library: Library, status: Status) -> None:
    entry = await library.add(status=status)
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    undone = await library.knowledge.knowledge_undo(done.operation, actor=USER)
    back = undone.entries[0]
    assert (back.status, back.published_at) == (status, None)
    event = (await library.events(entry.id))[-1]
    assert (event.event, event.operation) == (EventKind.UNDONE, undone.operation)
    assert event.changes == {"status": ("published", status.value)}
    assert event.detail["operation"] == done.operation


async def test_undoing_an_archive_publishes_again_with_the_instant_it_had(library: Library) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    done = await library.knowledge.knowledge_archive(entry.id, actor=USER, reason="wrong")
    back = (await library.knowledge.knowledge_undo(done.operation, actor=USER)).entries[0]
    assert (back.status, back.published_at, back.archived_at) == (Status.PUBLISHED, entry.published_at, None)


async def test_undoing_an_edit_puts_every_field_back(library: Library) -> None:
    entry = await library.add(tags=["a"])
    edit = EntryEdit(entry.version, title="New", content="New text", tags=[], confidence=0.1, kind="diagnosis")
    done = await library.knowledge.knowledge_update(entry.id, edit, actor=USER)
    back = (await library.knowledge.knowledge_undo(done.operation, actor=USER)).entries[0]
    same = ("kind", "title", "content", "tags", "confidence", "status")
    assert [getattr(back, name) for name in same] == [getattr(entry, name) for name in same]
    found = await library.knowledge.knowledge_search(entry.title, statuses=[Status.CANDIDATE])
    assert [hit.entry.id for hit in found.hits] == [entry.id]


async def test_redo_undoes_the_undo_and_can_be_undone_again(library: Library) -> None:
    entry = await library.add()
    knowledge = library.knowledge
    approved = await knowledge.knowledge_approve(entry.id, actor=USER)
    undone = await knowledge.knowledge_undo(approved.operation, actor=USER)
    redone = await knowledge.knowledge_redo(undone.operation, actor=USER)
    assert redone.entries[0].status is Status.PUBLISHED
    assert redone.entries[0].published_at == approved.entries[0].published_at
    assert (await library.events(entry.id))[-1].event is EventKind.REDONE
    again = await knowledge.knowledge_undo(redone.operation, actor=USER)
    assert again.entries[0].status is Status.CANDIDATE


async def test_only_an_undo_can_be_redone(library: Library) -> None:
    entry = await library.add()
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    with pytest.raises(Refused):
        await library.knowledge.knowledge_redo(done.operation, actor=USER)


async def test_undoing_a_new_entry_archives_it(library: Library) -> None:
    entry = await library.add()
    operation = (await library.events(entry.id))[0].operation
    undone = await library.knowledge.knowledge_undo(operation, actor=USER)
    assert undone.entries[0].status is Status.ARCHIVED
    redone = await library.knowledge.knowledge_redo(undone.operation, actor=USER)
    assert redone.entries[0].status is Status.CANDIDATE


async def test_an_undo_is_refused_after_a_later_change_and_changes_nothing(library: Library) -> None:
    entry = await library.add()
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    edit = EntryEdit(done.entries[0].version, title="Changed since")
    changed = (await library.knowledge.knowledge_update(entry.id, edit, actor=USER)).entries[0]
    with pytest.raises(Refused) as refused:
        await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert "Changed since" in str(refused.value)
    assert await library.knowledge.knowledge_get(entry.id) == changed


async def test_a_use_in_between_does_not_block_an_undo(library: Library) -> None:
    entry = await library.add()
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    await library.knowledge.knowledge_record_reuse(entry.id, actor=AI)
    undone = await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert (undone.entries[0].status, undone.entries[0].reuse_count) == (Status.CANDIDATE, 1)


async def test_an_act_cannot_be_undone_twice(library: Library) -> None:
    entry = await library.add()
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    await library.knowledge.knowledge_undo(done.operation, actor=USER)
    with pytest.raises(Refused):
        await library.knowledge.knowledge_undo(done.operation, actor=USER)


async def test_a_bulk_undo_is_all_or_nothing(library: Library) -> None:
    one, two = await library.add("One"), await library.add("Two")
    done = await library.knowledge.knowledge_archive([one.id, two.id], actor=USER)
    await library.knowledge.knowledge_restore(two.id, actor=USER)
    with pytest.raises(Refused):
        await library.knowledge.knowledge_undo(done.operation, actor=USER)
    statuses = [(await library.knowledge.knowledge_get(id)).status for id in (one.id, two.id)]
    assert statuses == [Status.ARCHIVED, Status.CANDIDATE]


async def test_a_bulk_act_is_undone_with_one_call(library: Library) -> None:
    ids = [(await library.add(f"Number {number}")).id for number in range(30)]
    done = await library.knowledge.knowledge_approve(ids, actor=USER)
    undone = await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert {entry.status for entry in undone.entries} == {Status.CANDIDATE}
    assert len(undone.entries) == 30


async def test_what_changes_no_entry_cannot_be_undone(library: Library) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    used = await library.knowledge.knowledge_record_reuse(entry.id, actor=USER)
    erased = await library.knowledge.knowledge_erase((await library.add("Secret")).id, actor=USER)
    for operation in (used.operation, erased.operation):
        with pytest.raises(Refused):
            await library.knowledge.knowledge_undo(operation, actor=USER)
    with pytest.raises(NotFound):
        await library.knowledge.knowledge_undo("no such operation", actor=USER)


async def test_an_erased_entry_does_not_come_back_by_undo(library: Library) -> None:
    entry = await library.add()
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    await library.knowledge.knowledge_erase(entry.id, actor=USER)
    with pytest.raises(Refused):
        await library.knowledge.knowledge_undo(done.operation, actor=USER)


@pytest.mark.parametrize(
    "event,changes,detail",
    [
        (EventKind.STATUS_CHANGED, {"status": ["bogus", "candidate"]}, {"version": 1, "before": {}}),
        (EventKind.STATUS_CHANGED, {"status": ["archived", "candidate"]}, {"version": 1}),
        (EventKind.STATUS_CHANGED, {"status": ["archived", "candidate"]}, {"version": 1, "before": {"a": None}}),
        (EventKind.UPDATED, {"title": [5, "Locks"]}, {"version": 1}),
        (EventKind.UPDATED, {"content": [{"a": 1}, "x"]}, {"version": 1}),
        (EventKind.UPDATED, {"tags": [[1], []]}, {"version": 1}),
        (EventKind.UPDATED, {"tags": ["ab", []]}, {"version": 1}),
        (EventKind.UPDATED, {"kind": [[], "pitfall"]}, {"version": 1}),
        (EventKind.UPDATED, {"confidence": ["much", 0.5]}, {"version": 1}),
        (EventKind.UPDATED, {"project_id": [{}, None]}, {"version": 1}),
        (EventKind.UPDATED, {"reuse_count": ["a", "b"]}, {"version": 1}),
        (EventKind.MERGED, {}, {"version": 1, "merged": 5}),
        (EventKind.MERGED, {}, {"version": 1, "merged": [{}]}),
        (EventKind.DISMISSED, {}, {"dismissed": [1, 2, 3]}),
        (EventKind.DISMISSED, {}, {"dismissed": [{}, False]}),
    ],
)
async def test_a_timeline_that_says_what_cannot_have_been_is_refused_and_changes_nothing(
    library: Library, event: EventKind, changes: dict[str, Any], detail: dict[str, Any]
) -> None:
    """As a library that was edited by hand, or comes from somebody else, may have one."""
    entry = await library.add("Locks")

    def forge(unit: Unit) -> None:
        timeline.record(unit, entry.id, event, Act("user", "forged"), changes, detail)

    await library.db.write(forge)
    with pytest.raises(UserFacing):
        await library.knowledge.knowledge_undo("forged", actor=USER)
    assert await library.knowledge.knowledge_get(entry.id) == entry
