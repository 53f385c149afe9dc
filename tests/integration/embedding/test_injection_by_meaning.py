"""What is put into a prompt by words and meaning together: what is meant, and not what only shares words."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from devflow.domain.knowledge import Status
from devflow.retrieval import vectors as comparing
from devflow.retrieval.hybrid import INJECTED_LEAST, WORDS_ARE_WORTH, relevant_by_meaning
from devflow.retrieval.meaning import FLOOR, Meaning
from devflow.retrieval.vectors import PER_DEVIATION, Asked, Unrelated, VectorIndex
from devflow.store import vectors
from devflow.store.vectors import Packed, Text
from tests.support.library import Library, open_library

AS_IT_IS = Unrelated(0.0, PER_DEVIATION)
ITS_WORDS = "should my redis lock have an expiry?"
A_FEW_OF_THEM = "a worker called in sick"
OTHER_WORDS = "everything stands still after a crash"
ENOUGH, NEAR, FAR = INJECTED_LEAST + 0.05, INJECTED_LEAST - WORDS_ARE_WORTH + 0.05, FLOOR - 0.05


@pytest.fixture
async def library(home: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(comparing, "BEFOREHAND", 1e12)
    async with open_library(home) as opened:
        yield opened


async def injected(library: Library, message: str, similarity: float | None) -> bool:
    """Whether the only entry is, which is so near to the message in meaning; None: it has no vector yet."""
    content = "SET key value NX PX 30000: without PX a crashed worker holds the lock forever."
    entry = await library.add("Redis locks need an expiry", Status.PUBLISHED, content=content)
    if similarity is not None:
        text = Text(entry.id, entry.title, entry.content)
        packed = [Packed(vectors.pack([similarity, sqrt(1 - similarity**2)]), is_han=False)]
        assert await library.db.write(lambda unit: vectors.put(unit, text, "m", packed))
    index = VectorIndex()

    def work(session: Any) -> bool:
        while not index.take_in(session, "m"):
            pass
        meaning = Meaning(index, Asked([1, 0], (AS_IT_IS, AS_IT_IS)))
        return bool(relevant_by_meaning(session, message, meaning, project_id=None).hits)

    return await library.db.read(work)


@pytest.mark.parametrize(
    "message, similarity, wanted",
    [
        (ITS_WORDS, None, True),
        (ITS_WORDS, NEAR, True),
        (ITS_WORDS, FAR, False),
        (A_FEW_OF_THEM, None, False),
        (A_FEW_OF_THEM, NEAR, True),
        (A_FEW_OF_THEM, NEAR - 0.1, False),
        (OTHER_WORDS, ENOUGH, True),
        (OTHER_WORDS, NEAR, False),
    ],
)
async def test_words_and_meaning_together_decide_what_is_injected(
    library: Library, message: str, similarity: float | None, wanted: bool
) -> None:
    assert await injected(library, message, similarity) == wanted


async def test_the_more_entries_there_are_the_nearer_a_meaning_must_be(library: Library) -> None:
    for number in range(60):
        other = await library.add(f"Entry {number}", Status.PUBLISHED)
        packed = [Packed(vectors.pack([0, 1]), is_han=False)]
        text = Text(other.id, other.title, other.content)
        await library.db.write(lambda unit, text=text, packed=packed: vectors.put(unit, text, "m", packed))
    assert not await injected(library, OTHER_WORDS, ENOUGH)
