"""What a list asks of a search beyond ids: whether that is all, all of it after all, and why each is there."""

from devflow.domain.knowledge import Status
from devflow.knowledge.service import Filters
from devflow.store import search_fill
from tests.support.library import Library


async def test_a_list_says_that_a_cap_was_met_and_has_the_rest_when_it_asks_for_the_whole(library: Library) -> None:
    for number in range(30):
        await library.add(f"Arrow {number}", Status.PUBLISHED, content="a long arrow --> here")
    library.knowledge.scan_cap = 10

    some = await library.knowledge.knowledge_found(Filters(), sort="relevance", query="-->")
    whole = await library.knowledge.knowledge_found(Filters(), sort="relevance", query="-->", whole=True)

    assert (some.capped, some.partial, len(some.ids)) == (True, True, 10)
    assert (whole.partial, len(whole.ids)) == (False, 30)
    assert whole.ids[:10] == some.ids


async def test_the_whole_is_what_a_search_without_a_cap_finds(library: Library) -> None:
    for number in range(20):
        words = ("dashes -- and an arrow ->", "an arrow --> here", "a --> b", "nothing")[number % 4]
        await library.add(f"{words} {number}" if number % 3 else f"Entry {number}", Status.PUBLISHED, content=words)
    for query in ("-->", "arrow", "an arrow here", "-", "缓存"):
        library.knowledge.scan_cap = 20_000
        found = await library.knowledge.knowledge_found(Filters(), sort="relevance", query=query)
        library.knowledge.scan_cap = 3
        whole = await library.knowledge.knowledge_found(Filters(), sort="relevance", query=query, whole=True)
        assert whole == found, query


async def test_another_order_keeps_what_the_whole_search_found(library: Library) -> None:
    for title in ("B --> c", "A --> b", "C --> d", "D"):
        await library.add(title, Status.PUBLISHED)
    library.knowledge.scan_cap = 1
    whole = await library.knowledge.knowledge_found(Filters(), sort="title", query="-->", whole=True)
    titles = [entry.title for entry in await library.knowledge.knowledge_entries(whole.ids)]
    assert titles == ["A --> b", "B --> c", "C --> d"]


async def test_while_the_index_is_made_anew_a_list_says_that_more_may_come(library: Library) -> None:
    for number in range(3):
        await library.add(f"Lock {number}", Status.PUBLISHED)
    await library.db.write(search_fill.begin)
    await library.db.write(lambda unit: search_fill.fill(unit, most=1))
    found = await library.knowledge.knowledge_found(Filters(), query="lock")
    assert (found.filling, found.capped, len(found.ids)) == (True, False, 1)
    await library.db.write(lambda unit: search_fill.fill(unit))
    found = await library.knowledge.knowledge_found(Filters(), query="lock")
    assert (found.partial, len(found.ids)) == (False, 3)


async def test_why_an_entry_is_there_is_what_the_search_itself_says(library: Library) -> None:
    await library.add("Docker cache", Status.PUBLISHED, content="Order the layers.", tags=("build",))
    await library.add("Layers", Status.PUBLISHED, content="The docker build reads them.")
    for query in ("docker cache", "layers of a docker build", "build"):
        hits = (await library.knowledge.knowledge_search(query, limit=50)).hits
        why = await library.knowledge.knowledge_why(query, [hit.entry.id for hit in hits])
        assert hits
        assert {hit.entry.id: hit.match for hit in hits} == dict(why), query


async def test_without_a_query_there_is_no_why(library: Library) -> None:
    entry = await library.add("Docker cache", Status.PUBLISHED)
    assert await library.knowledge.knowledge_why(" ", [entry.id]) == {}
    assert await library.knowledge.knowledge_why("docker", []) == {}
