"""Lists, searches, facets and counts (spec 01, Commands)."""

from pathlib import Path

import pytest

from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.knowledge import EntryEdit, EventKind, Kind, Status, draft
from devflow.knowledge.service import Filters
from tests.support.library import AI, USER, Library

EVERY = frozenset(Status)


async def test_a_list_shows_published_entries_unless_a_status_is_named(library: Library) -> None:
    made = {status: (await library.add(f"A {status}", status=status)).id for status in Status}
    shown = await library.knowledge.knowledge_list()
    assert ([entry.id for entry in shown.entries], shown.total) == ([made[Status.PUBLISHED]], 1)
    for status in Status:
        page = await library.knowledge.knowledge_list(status.value)
        assert [entry.id for entry in page.entries] == [made[status]]


async def test_kp4_a_search_reaches_exactly_what_the_list_with_the_same_statuses_shows(library: Library) -> None:
    for status in Status:
        for number in range(3):
            await library.add(f"Lock rule {number} {status}", status=status, content=f"about locks {status} {number}")
    for statuses in ({Status.PUBLISHED}, EVERY - {Status.ARCHIVED}, EVERY, {Status.CANDIDATE, Status.PENDING_REVIEW}):
        listed = await library.knowledge.knowledge_list(statuses=statuses)
        found = await library.knowledge.knowledge_search("lock", statuses=statuses, limit=50)
        assert {hit.entry.id for hit in found.hits} == {entry.id for entry in listed.entries}
        narrowed = await library.knowledge.knowledge_list(statuses=statuses, query="lock")
        assert narrowed.total == listed.total == 3 * len(statuses)
        assert [entry.id for entry in narrowed.entries] == [hit.entry.id for hit in found.hits]


async def test_kp4_a_search_without_statuses_reaches_published_entries_alone(library: Library) -> None:
    published = await library.add("Lock one", status=Status.PUBLISHED)
    await library.add("Lock two")
    assert [hit.entry.id for hit in (await library.knowledge.knowledge_search("lock")).hits] == [published.id]


async def test_kp8_clearing_the_search_keeps_the_other_filters(library: Library) -> None:
    wanted = await library.add("Lock pitfall", kind="pitfall", tags=["sqlite"], status=Status.PUBLISHED)
    await library.add("Lock rule", kind="review_rule", tags=["sqlite"], status=Status.PUBLISHED)
    await library.add("Lock pitfall elsewhere", kind="pitfall", tags=["other"], status=Status.PUBLISHED)
    for query in ("lock", "", "  "):
        page = await library.knowledge.knowledge_list(kind="pitfall", tag="sqlite", query=query)
        assert [entry.id for entry in page.entries] == [wanted.id]


async def test_kp9_a_search_honours_its_limit_up_to_50(library: Library) -> None:
    drafts = [draft(kind="pitfall", title=f"Lock {number}", content=f"text {number}") for number in range(60)]
    done = await library.knowledge.knowledge_submit(drafts, actor=AI)
    await library.knowledge.knowledge_approve([entry.id for entry in done.entries], actor=USER)
    for asked, given in ((3, 3), (10, 10), (50, 50), (60, 50)):
        assert len((await library.knowledge.knowledge_search("lock", limit=asked)).hits) == given
    assert len((await library.knowledge.knowledge_search("lock")).hits) == 3
    second = await library.knowledge.knowledge_search("lock", limit=50, offset=50)
    assert len(second.hits) == 10


async def test_pages_of_a_list_hold_every_entry_once_in_every_order(library: Library) -> None:
    drafts = [
        draft(kind="pitfall", title=f"T{number % 5}", content=f"text {number}", confidence=number % 3 / 2)
        for number in range(25)
    ]
    await library.knowledge.knowledge_submit(drafts, actor=AI)
    for sort in ("updated", "created", "reuse", "confidence", "title", "inbox"):
        seen: list[str] = []
        for offset in range(0, 25, 10):
            page = await library.knowledge.knowledge_list("candidate", limit=10, offset=offset, sort=sort)
            assert page.total == 25
            seen += [entry.id for entry in page.entries]
        assert len(seen) == len(set(seen)) == 25


async def test_a_list_is_sorted_as_asked(library: Library) -> None:
    low = await library.add("b", confidence=0.1, status=Status.PUBLISHED)
    high = await library.add("A", confidence=0.9, status=Status.PUBLISHED)
    await library.knowledge.knowledge_record_reuse(low.id, actor=USER)
    orders = {"updated": [high, low], "created": [high, low], "reuse": [low, high], "title": [high, low]}
    orders["confidence"] = [high, low]
    for sort, expected in orders.items():
        page = await library.knowledge.knowledge_list(sort=sort)
        assert [entry.id for entry in page.entries] == [entry.id for entry in expected], sort
    edit = EntryEdit(low.version, title="b!")
    await library.knowledge.knowledge_update(low.id, edit, actor=USER)
    assert [entry.id for entry in (await library.knowledge.knowledge_list()).entries] == [low.id, high.id]


async def test_bad_filters_are_typed_errors(library: Library) -> None:
    knowledge = library.knowledge
    for act, field in (
        (knowledge.knowledge_list("gone"), "status"),
        (knowledge.knowledge_list(kind="gone"), "kind"),
        (knowledge.knowledge_list(limit=0), "limit"),
        (knowledge.knowledge_list(offset=-1), "offset"),
        (knowledge.knowledge_list(sort="random"), "sort"),
        (knowledge.knowledge_search("x", limit=0), "limit"),
        (knowledge.knowledge_search("x", kind="gone"), "kind"),
    ):
        with pytest.raises(InvalidInput) as refused:
            await act
        assert refused.value.field == field


async def test_the_inbox_lists_the_most_confident_first_then_the_newest(library: Library) -> None:
    old = await library.add("Old", confidence=0.5)
    new = await library.add("New", confidence=0.5)
    sure = await library.add("Sure", confidence=0.9, status=Status.PENDING_REVIEW)
    await library.add("Published", status=Status.PUBLISHED)
    await library.add("Archived", status=Status.ARCHIVED)
    page = await library.knowledge.knowledge_list_candidates()
    assert [entry.id for entry in page.entries] == [sure.id, new.id, old.id]
    assert await library.knowledge.inbox_count() == page.total == 3


async def test_tags_are_found_whatever_their_case(library: Library) -> None:
    entry = await library.add(tags=["Größe", "SQLite"], status=Status.PUBLISHED)
    other = await library.add("Other", tags=["sqlite3"], status=Status.PUBLISHED)
    for tag in ("sqlite", "SQLITE", "GRÖSSE", "größe"):
        page = await library.knowledge.knowledge_list(tag=tag)
        assert [found.id for found in page.entries] == [entry.id], tag
    assert [found.id for found in (await library.knowledge.knowledge_list(tag="sqlite3")).entries] == [other.id]


async def test_facets_count_what_each_choice_would_show(library: Library, tmp_path: Path) -> None:
    project = await library.projects.ensure(tmp_path)
    await library.add("1", kind="pitfall", tags=["SQLite"], status=Status.PUBLISHED)
    await library.add("2", kind="pitfall", tags=["sqlite", "wal"], status=Status.PUBLISHED, source_ref="conv:7")
    await library.add("3", kind="diagnosis", tags=["sqlite"], status=Status.PUBLISHED, project_id=project.id)
    await library.add("4", kind="diagnosis", source_ref="mcp:editor")
    facets = await library.knowledge.facets(Filters(kind=Kind.PITFALL))
    assert (facets.statuses[Status.PUBLISHED], facets.statuses[Status.CANDIDATE]) == (2, 0)
    assert (facets.kinds[Kind.PITFALL], facets.kinds[Kind.DIAGNOSIS]) == (2, 1)
    assert {tag.lower(): count for tag, count in facets.tags.items()} == {"sqlite": 2, "wal": 1}
    assert facets.sources == {"manual": 1, "conv": 1}
    everything = await library.knowledge.facets(Filters(statuses=EVERY))
    assert everything.sources == {"manual": 2, "conv": 1, "mcp": 1}
    assert dict(everything.projects) == {None: 3, project: 1}
    assert list(everything.tags.values()) == [3, 1]


async def test_a_list_is_filtered_by_source_and_by_project(library: Library, tmp_path: Path) -> None:
    project = await library.projects.ensure(tmp_path)
    here = await library.add("Here", project_id=project.id, source_ref="conv:7", status=Status.PUBLISHED)
    there = await library.add("There", source_ref="conv:8", status=Status.PUBLISHED)
    by_hand = await library.add("Hand", status=Status.PUBLISHED)

    async def ids(**filters: str | None) -> set[str]:
        return {entry.id for entry in (await library.knowledge.knowledge_list(**filters)).entries}  # type: ignore[arg-type]

    assert await ids(source="conv") == {here.id, there.id}
    assert await ids(source="conv:7") == {here.id}
    assert await ids(source="manual") == {by_hand.id}
    assert await ids(project=project.id) == {here.id}
    assert await ids(project=None) == {there.id, by_hand.id}
    assert await ids() == {here.id, there.id, by_hand.id}


async def test_a_use_is_counted_on_published_entries_alone_and_says_why(library: Library) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    for number in (1, 2):
        done = await library.knowledge.knowledge_record_reuse(entry.id, actor=AI, detail={"message": str(number)})
        assert done.entries[0].reuse_count == number
    event = (await library.events(entry.id))[-1]
    assert (event.event, event.actor, event.changes) == (EventKind.REUSED, "ai", {"reuse_count": (1, 2)})
    assert event.detail == {"message": "2"}
    for status in (Status.CANDIDATE, Status.PENDING_REVIEW, Status.ARCHIVED):
        other = await library.add(f"A {status}", status=status)
        with pytest.raises(Refused):
            await library.knowledge.knowledge_record_reuse(other.id, actor=AI)
        assert await library.knowledge.knowledge_get(other.id) == other


async def test_stats_add_up(library: Library) -> None:
    for status in Status:
        await library.add(f"A {status}", status=status)
    published = (await library.knowledge.knowledge_list()).entries[0]
    await library.knowledge.knowledge_record_reuse(published.id, actor=AI)
    stats = await library.knowledge.knowledge_stats()
    assert (stats.total, stats.inbox, stats.reused) == (4, 2, 1)
    assert dict(stats.statuses) == dict.fromkeys(Status, 1)
    assert (stats.kinds[Kind.PITFALL], stats.sources) == (4, {"manual": 4})


async def test_similar_entries_are_found_by_id_and_by_text_without_the_entry_itself(library: Library) -> None:
    one = await library.add("SQLite write lock", content="Take the write lock first.")
    two = await library.add("SQLite lock at the first write", content="The write lock is taken late.")
    await library.add("Colours of the theme", content="Nothing alike here.")
    await library.add("SQLite lock archived", content="The write lock.", status=Status.ARCHIVED)
    assert [hit.entry.id for hit in await library.knowledge.knowledge_similar(one.id)][:1] == [two.id]
    by_text = await library.knowledge.knowledge_similar("write lock of SQLite")
    assert {hit.entry.id for hit in by_text} == {one.id, two.id}
