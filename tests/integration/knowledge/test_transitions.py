"""Statuses and the acts that change them (spec 01, Transitions)."""

import pytest

from devflow.domain.errors import HumanOnly, InvalidInput, InvalidTransition, NotFound
from devflow.domain.knowledge import EventKind, Status
from tests.support.library import AI, USER, Library, open_library

EDGES = {
    (Status.CANDIDATE, Status.PENDING_REVIEW),
    (Status.PENDING_REVIEW, Status.PUBLISHED),
    (Status.CANDIDATE, Status.ARCHIVED),
    (Status.PENDING_REVIEW, Status.ARCHIVED),
    (Status.PUBLISHED, Status.ARCHIVED),
}
PAIRS = [(current, wanted) for current in Status for wanted in Status]


@pytest.mark.parametrize("current,wanted", PAIRS, ids=[f"{a}-{b}" for a, b in PAIRS])
async def test_update_status_allows_five_edges_and_refuses_the_other_eleven_pairs(
    library: Library, current: Status, wanted: Status
) -> None:
    entry = await library.add(status=current)
    before = await library.events(entry.id)
    if (current, wanted) in EDGES:
        done = await library.knowledge.knowledge_update_status(entry.id, wanted.value, actor=USER)
        assert done.entries[0].status is wanted
        last = (await library.events(entry.id))[-1]
        assert (last.event, last.actor, last.operation) == (EventKind.STATUS_CHANGED, "user", done.operation)
        assert last.changes == {"status": (current.value, wanted.value)}
        return
    with pytest.raises(InvalidTransition) as refused:
        await library.knowledge.knowledge_update_status(entry.id, wanted.value, actor=USER)
    assert (refused.value.current, refused.value.wanted) == (current.value, wanted.value)
    assert await library.knowledge.knowledge_get(entry.id) == entry
    assert await library.events(entry.id) == before


async def test_an_unknown_id_is_an_error_of_its_own_and_changes_nothing(library: Library) -> None:
    knowledge = library.knowledge
    unknown = "00000000-0000-0000-0000-000000000000"
    acts = (
        knowledge.knowledge_get(unknown),
        knowledge.knowledge_update_status(unknown, "archived", actor=USER),
        knowledge.knowledge_approve(unknown, actor=USER),
        knowledge.knowledge_archive(unknown, actor=USER),
        knowledge.knowledge_restore(unknown, actor=USER),
        knowledge.knowledge_erase(unknown, actor=USER),
        knowledge.knowledge_record_reuse(unknown, actor=USER),
        knowledge.knowledge_timeline(unknown),
    )
    for act in acts:
        with pytest.raises(NotFound) as refused:
            await act
        assert unknown in str(refused.value)
    assert library.published == []


async def test_an_unknown_status_is_an_error_that_names_those_there_are(library: Library) -> None:
    entry = await library.add()
    with pytest.raises(InvalidInput) as refused:
        await library.knowledge.knowledge_update_status(entry.id, "done", actor=USER)
    assert refused.value.field == "status"
    assert await library.knowledge.knowledge_get(entry.id) == entry


async def test_a_repeated_request_is_the_same_error_each_time(library: Library) -> None:
    entry = await library.add()
    await library.knowledge.knowledge_update_status(entry.id, "pending_review", actor=USER)
    said = []
    for _ in range(2):
        with pytest.raises(InvalidTransition) as refused:
            await library.knowledge.knowledge_update_status(entry.id, "pending_review", actor=USER)
        said.append(str(refused.value))
    assert said == ["An entry that is pending_review cannot become pending_review."] * 2
    assert len(await library.events(entry.id)) == 2


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.PENDING_REVIEW])
async def test_approve_publishes_through_pending_review_with_both_steps_in_the_timeline(
    library: Library, status: Status
) -> None:
    entry = await library.add(status=status)
    done = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    assert done.entries[0].status is Status.PUBLISHED
    assert done.entries[0].published_at is not None
    steps = [event.changes["status"] for event in await library.events(entry.id) if "status" in event.changes]
    assert steps == [("candidate", "pending_review"), ("pending_review", "published")]


@pytest.mark.parametrize("status", [Status.PUBLISHED, Status.ARCHIVED])
async def test_approve_refuses_what_is_not_in_the_inbox(library: Library, status: Status) -> None:
    entry = await library.add(status=status)
    with pytest.raises(InvalidTransition):
        await library.knowledge.knowledge_approve(entry.id, actor=USER)
    assert await library.knowledge.knowledge_get(entry.id) == entry


async def test_approving_several_is_all_or_nothing(library: Library) -> None:
    good, archived = await library.add("Good"), await library.add("Archived", status=Status.ARCHIVED)
    with pytest.raises(InvalidTransition):
        await library.knowledge.knowledge_approve([good.id, archived.id], actor=USER)
    assert await library.knowledge.knowledge_get(good.id) == good
    assert len(await library.events(good.id)) == 1


async def test_several_entries_approved_together_share_one_operation(library: Library) -> None:
    one, two = await library.add("One"), await library.add("Two")
    done = await library.knowledge.knowledge_approve([one.id, two.id, one.id], actor=USER)
    assert [entry.id for entry in done.entries] == [one.id, two.id]
    operations = {(await library.events(id))[-1].operation for id in (one.id, two.id)}
    assert operations == {done.operation}


async def test_restore_brings_an_archived_entry_back_into_the_inbox_never_straight_to_published(
    library: Library,
) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    await library.knowledge.knowledge_archive(entry.id, actor=USER)
    restored = (await library.knowledge.knowledge_restore(entry.id, actor=USER)).entries[0]
    assert (restored.status, restored.archived_at, restored.published_at) == (Status.CANDIDATE, None, None)
    assert (await library.events(entry.id))[-1].event is EventKind.RESTORED


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.PENDING_REVIEW, Status.PUBLISHED])
async def test_only_an_archived_entry_can_be_restored(library: Library, status: Status) -> None:
    entry = await library.add(status=status)
    with pytest.raises(InvalidTransition):
        await library.knowledge.knowledge_restore(entry.id, actor=USER)
    assert await library.knowledge.knowledge_get(entry.id) == entry


async def test_archiving_is_a_soft_delete_that_keeps_the_text_and_the_reason(library: Library) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    done = await library.knowledge.knowledge_archive(entry.id, actor=USER, reason="outdated")
    kept = await library.knowledge.knowledge_get(entry.id)
    assert (kept.status, kept.content, kept.archived_at) == (Status.ARCHIVED, entry.content, kept.updated_at)
    assert kept.published_at == entry.published_at
    assert (await library.events(entry.id))[-1].detail["reason"] == "outdated"
    assert done.entries == (kept,)
    assert entry.id not in {shown.id for shown in (await library.knowledge.knowledge_list()).entries}


async def test_only_a_human_publishes_approves_erases_undoes_and_saves_the_config(library: Library) -> None:
    knowledge = library.knowledge
    entry = await library.add(status=Status.PENDING_REVIEW)
    config = await knowledge.knowledge_get_config()
    operation = (await library.events(entry.id))[-1].operation
    for act in (
        knowledge.knowledge_update_status(entry.id, "published", actor=AI),
        knowledge.knowledge_approve(entry.id, actor=AI),
        knowledge.knowledge_erase(entry.id, actor=AI),
        knowledge.knowledge_undo(operation, actor=AI),
        knowledge.knowledge_redo(operation, actor=AI),
        knowledge.knowledge_save_config(config, actor=AI),
        knowledge.knowledge_change_config({"min_messages": 2}, actor=AI),
        library.samples.load("en", actor=AI),
    ):
        with pytest.raises(HumanOnly):
            await act
    assert await knowledge.knowledge_get(entry.id) == entry


async def test_under_the_agents_marker_even_the_user_does_no_human_act(home) -> None:  # type: ignore[no-untyped-def]
    async with open_library(home) as library:
        entry = await library.add()
    async with open_library(home, agent_child=True) as child:
        with pytest.raises(HumanOnly):
            await child.knowledge.knowledge_approve(entry.id, actor=USER)
        archived = await child.knowledge.knowledge_archive(entry.id, actor=AI)
        assert archived.entries[0].status is Status.ARCHIVED
