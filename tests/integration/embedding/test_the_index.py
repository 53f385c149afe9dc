"""The index of vectors: what is nearest, with numpy and without, and never a vector of a text that is gone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from devflow.domain.knowledge import Entry, Status
from devflow.retrieval import vectors as comparing
from devflow.retrieval.vectors import PER_DEVIATION, Asked, Unrelated, VectorIndex, _NumpyRows, _PlainRows
from devflow.store import vectors
from devflow.store.database import Unit
from devflow.store.vectors import Packed, Text
from tests.support.library import Library, open_library

AS_IT_IS = Unrelated(0.0, PER_DEVIATION)
"""A product of vectors is a similarity."""


@pytest.fixture(autouse=True)
def the_library_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "BEFOREHAND", 1e12)


@pytest.fixture(params=["numpy", "plain"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "numpy", None)
    return VectorIndex()


async def put(library: Library, entry: Entry, *parts: Sequence[float], model: str = "m", han: bool = False) -> bool:
    text = Text(entry.id, entry.title, entry.content)

    def work(unit: Unit) -> bool:
        return vectors.put(unit, text, model, [Packed(vectors.pack(part), han) for part in parts])

    return await library.db.write(work)


async def ask(library: Library, work: Callable[[Any], Any]) -> Any:
    return await library.db.read(work)


async def near(library: Library, index: VectorIndex, vector: Sequence[float], count: int = 9, **more: Any) -> list[Any]:
    def work(session: Any) -> list[Any]:
        while not index.take_in(session, more.get("model", "m"), more.get("limit", 3)):
            pass
        found = index.nearest(
            session, Asked(vector, more.get("unrelated", (AS_IT_IS, AS_IT_IS))), count, more.get("floor", -1.0)
        )
        return [(each.entry_id, round(each.similarity, 2)) for each in found]

    found: list[Any] = await library.db.read(work)
    return found


@pytest.fixture
async def library(home: Any) -> Any:
    async with open_library(home) as opened:
        yield opened


async def test_both_ways_of_comparing_are_taken(library: Library, index: VectorIndex, request: Any) -> None:
    await put(library, await library.add("a", Status.PUBLISHED), [1, 0])
    await near(library, index, [1, 0])
    wanted = _NumpyRows if request.node.callspec.params["index"] == "numpy" else _PlainRows
    assert isinstance(index._rows, wanted)


async def test_an_entry_is_as_near_as_its_nearest_part(library: Library, index: VectorIndex) -> None:
    one, other = await library.add("one", Status.PUBLISHED), await library.add("other", Status.PUBLISHED)
    await put(library, one, [0, 1, 0], [3, 0, 0])
    await put(library, other, [1, 1, 0])
    assert await near(library, index, [1, 0, 0]) == [(one.id, 1.0), (other.id, 0.71)]
    assert await near(library, index, [1, 0, 0], 1) == [(one.id, 1.0)]
    assert await near(library, index, [1, 0, 0], floor=0.8) == [(one.id, 1.0)]
    assert await near(library, index, [1, 0]) == []  # another dimension is compared with nothing


async def test_single_entries_are_compared_as_all_are(library: Library, index: VectorIndex) -> None:
    one, other = await library.add("one", Status.PUBLISHED), await library.add("other", Status.PUBLISHED)
    await put(library, one, [1, 1], [0, 1])
    await put(library, other, [2, 1])
    assert await near(library, index, [1, 0]) == [(other.id, 0.89), (one.id, 0.71)]
    asked = Asked([1, 0], (AS_IT_IS, AS_IT_IS))
    found = await ask(library, lambda session: index.similarities(session, asked, [one.id, "nobody"]))
    assert {id: round(value, 2) for id, value in found.items()} == {one.id: 0.71}


async def test_han_parts_have_a_zero_of_their_own(library: Library, index: VectorIndex) -> None:
    english, chinese = await library.add("english", Status.PUBLISHED), await library.add("中文", Status.PUBLISHED)
    await put(library, english, [1, 1])
    await put(library, chinese, [2, 1], han=True)
    unrelated = (AS_IT_IS, Unrelated(0.5, PER_DEVIATION))
    assert await near(library, index, [1, 0], unrelated=unrelated) == [(english.id, 0.71), (chinese.id, 0.39)]


async def test_a_large_library_tells_itself_what_is_unrelated(
    library: Library, index: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "BEFOREHAND", 1)
    meant = await library.add("meant", Status.PUBLISHED)
    await put(library, meant, [1, 0])
    asked = Asked([1, 0], (Unrelated(0.0, 0.1), Unrelated(0.0, 0.1)))
    many = [await library.add(f"entry {number}", Status.PUBLISHED) for number in range(40)]
    for number, entry in enumerate(many):
        await put(library, entry, [0.8, 0.6 + number % 2 * 0.1])

    def work(session: Any) -> dict[str, float]:
        while not index.take_in(session, "m"):
            pass
        return index.similarities(session, asked, [meant.id, *(entry.id for entry in many)])

    found = await ask(library, work)
    slope, offset = asked.unrelated[0].line
    assert slope * 0.75 + offset > 1.7, "what was measured beforehand would call all of them near"
    assert max(found[entry.id] for entry in many) < 0.3 < 0.7 < found[meant.id]


async def test_what_is_replaced_or_gone_is_found_no_more(library: Library, index: VectorIndex) -> None:
    entries = [await library.add(f"entry {number}", Status.PUBLISHED) for number in range(6)]
    for entry in entries:
        await put(library, entry, [1, 0], [0, 1])
    assert len(await near(library, index, [1, 0])) == 6
    await put(library, entries[0], [0, 1])
    await library.db.write(lambda unit: vectors.ask_again(unit, entries[1].id))
    found = dict(await near(library, index, [1, 0]))
    assert found[entries[0].id] == 0.0
    assert entries[1].id not in found
    assert len(found) == 5


async def test_many_replacements_are_packed_away(library: Library, index: VectorIndex) -> None:
    entries = [await library.add(f"entry {number}", Status.PUBLISHED) for number in range(3)]
    for turn in range(60):
        for entry in entries:
            await put(library, entry, [1, turn], [turn, 1])
        await near(library, index, [1, 0], limit=100)
    assert len(index._ids) < 200
    assert len(await near(library, index, [1, 0])) == 3


async def test_another_model_begins_anew(library: Library, index: VectorIndex) -> None:
    entry = await library.add("entry", Status.PUBLISHED)
    await put(library, entry, [1, 0])
    assert len(await near(library, index, [1, 0])) == 1
    await put(library, entry, [1, 0, 0], model="n")
    assert await near(library, index, [1, 0]) == []
    assert await near(library, index, [1, 0, 0], model="n") == [(entry.id, 1.0)]


async def test_a_vector_is_refused_for_a_text_that_has_changed(library: Library) -> None:
    entry = await library.add("entry", Status.PUBLISHED)
    former = Text(entry.id, "another title", entry.content)
    packed = [Packed(vectors.pack([1.0]), is_han=False)]
    assert not await library.db.write(lambda unit: vectors.put(unit, former, "m", packed))
    assert not await library.db.write(lambda unit: vectors.put(unit, Text("gone", "a", "b"), "m", packed))
