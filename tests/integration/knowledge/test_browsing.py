"""What a list on the screen asks: ids in order, look-alikes, contradictions, several acts in one, a reason."""

import pytest

from devflow.domain.errors import HumanOnly, InvalidTransition, Refused
from devflow.domain.knowledge import EventKind, Status
from devflow.knowledge.service import Filters
from devflow.store import entries
from tests.support.library import AI, USER, Library

EVERY = frozenset(Status)


async def test_the_order_has_every_id_of_the_list_and_pages_of_it_are_the_lists_pages(library: Library) -> None:
    for number in range(7):
        await library.add(f"Entry {number}", Status.PUBLISHED, confidence=number / 10)
    for sort in ("updated", "created", "reuse", "confidence", "title", "inbox"):
        order = await library.knowledge.knowledge_order(Filters(), sort=sort)
        page = await library.knowledge.knowledge_list(sort=sort, limit=3, offset=2)
        assert len(order) == 7
        assert order[2:5] == tuple(entry.id for entry in page.entries)


async def test_the_order_of_a_search_is_the_searchs_own_and_any_other_order_keeps_what_it_finds(
    library: Library,
) -> None:
    first = await library.add("Locks", Status.PUBLISHED, content="About locks and locks.")
    second = await library.add("A snapshot", Status.PUBLISHED, content="Readers need no locks.")
    await library.add("Fonts", Status.PUBLISHED)
    found = await library.knowledge.knowledge_search("locks", limit=50)
    by_relevance = await library.knowledge.knowledge_order(Filters(), sort="relevance", query="locks")
    assert by_relevance == tuple(hit.entry.id for hit in found.hits)
    assert await library.knowledge.knowledge_order(Filters(), sort="title", query="locks") == (second.id, first.id)


async def test_relevance_without_a_query_is_the_newest_first(library: Library) -> None:
    old = await library.add("Old", Status.PUBLISHED)
    new = await library.add("New", Status.PUBLISHED)
    assert await library.knowledge.knowledge_order(Filters(), sort="relevance") == (new.id, old.id)


async def test_entries_come_in_the_order_asked_for_and_missing_ones_are_left_out(library: Library) -> None:
    one, two = await library.add("One"), await library.add("Two")
    found = await library.knowledge.knowledge_entries([two.id, "missing", one.id])
    assert [entry.title for entry in found] == ["Two", "One"]


async def test_kp10_a_contradiction_is_seen_from_both_sides_until_one_is_archived(library: Library) -> None:
    one, two = await library.add("Always", Status.PUBLISHED), await library.add("Never", Status.PUBLISHED)
    await library.db.write(lambda unit: entries.link(unit, one.id, two.id, "conflict", 1.0))
    assert [entry.id for entry in await library.knowledge.knowledge_conflicts(one.id)] == [two.id]
    assert [entry.id for entry in await library.knowledge.knowledge_conflicts(two.id)] == [one.id]
    await library.knowledge.knowledge_archive(two.id, actor=USER)
    assert await library.knowledge.knowledge_conflicts(one.id) == ()


async def test_several_candidates_go_to_review_in_one_act_that_one_undo_takes_back(library: Library) -> None:
    ids = [(await library.add(f"Entry {number}")).id for number in range(3)]
    done = await library.knowledge.knowledge_send_to_review(ids, actor=USER)
    assert {entry.status for entry in done.entries} == {Status.PENDING_REVIEW}
    await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert {entry.status for entry in await library.knowledge.knowledge_entries(ids)} == {Status.CANDIDATE}


async def test_one_that_is_no_candidate_keeps_all_of_them_where_they_are(library: Library) -> None:
    candidate, published = await library.add("One"), await library.add("Two", Status.PUBLISHED)
    with pytest.raises(InvalidTransition):
        await library.knowledge.knowledge_send_to_review([candidate.id, published.id], actor=USER)
    assert (await library.knowledge.knowledge_get(candidate.id)).status is Status.CANDIDATE


async def test_a_reason_is_added_to_the_act_that_archived_and_undo_still_works(library: Library) -> None:
    ids = [(await library.add(f"Entry {number}")).id for number in range(2)]
    done = await library.knowledge.knowledge_archive(ids, actor=USER)
    await library.knowledge.knowledge_give_reason(done.operation, "duplicate", actor=USER)
    for id in ids:
        events = await library.events(id)
        assert events[-1].event is EventKind.STATUS_CHANGED
        assert events[-1].detail["reason"] == "duplicate"
    assert library.published[-1].of("entry") == frozenset(ids)
    await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert {entry.status for entry in await library.knowledge.knowledge_entries(ids)} == {Status.CANDIDATE}


async def test_only_an_archiving_act_of_a_human_gets_a_reason(library: Library) -> None:
    entry = await library.add("One")
    published = await library.knowledge.knowledge_approve(entry.id, actor=USER)
    with pytest.raises(Refused):
        await library.knowledge.knowledge_give_reason(published.operation, "wrong", actor=USER)
    archived = await library.knowledge.knowledge_archive(entry.id, actor=USER)
    with pytest.raises(HumanOnly):
        await library.knowledge.knowledge_give_reason(archived.operation, "wrong", actor=AI)


async def test_near_duplicates_have_an_absolute_score(library: Library) -> None:
    text = "A deferred transaction that upgrades fails at once when another connection wrote meanwhile."
    one = await library.add("Deferred transactions fail", content=text)
    two = await library.add("Deferred transactions fail at once", content=text)
    await library.add("Cooking rice takes ten minutes and a lid")
    (hit,) = await library.knowledge.knowledge_alike(one.id)
    assert hit.entry.id == two.id
    assert 0.8 < hit.score <= 1.0
