"""Vectors are made in the background, follow what is published, and say where they stand (KP-6)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from devflow.domain.knowledge import EmbeddingStatus, EntryEdit, Status
from devflow.knowledge.embedding_state import Phase
from tests.fakes.embedding_server import EmbeddingServer
from tests.integration.embedding.conftest import MODEL, PATIENCE, Bench, Benches
from tests.support.library import USER


async def test_nothing_is_embedded_until_it_is_switched_on(bench: Bench, server: EmbeddingServer) -> None:
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes the lock.")
    await bench.embeddings.settled()
    assert (await bench.state()).phase is Phase.OFF
    assert server.texts == []
    assert bench.vectors() == 0


async def test_what_is_published_gets_vectors_and_a_candidate_none(bench: Bench, server: EmbeddingServer) -> None:
    await bench.switch_on()
    published = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes the lock.")
    candidate = await bench.library.add("Only a candidate", content="Not reviewed.")
    await bench.embeddings.settled()
    made = (await bench.entry(published)).embedding
    assert (made.status, made.dimension, made.error) == (EmbeddingStatus.READY, 14, None)
    assert made.model is not None
    assert made.model.endswith(MODEL)
    assert (await bench.entry(candidate)).embedding.status is EmbeddingStatus.NONE
    assert "Take the write lock\nBEGIN IMMEDIATE takes the lock." in server.every_text
    assert not any("Only a candidate" in text for text in server.every_text)
    state = await bench.state()
    assert (state.phase, state.progress.total, state.progress.ready) == (Phase.READY, 1, 1)


async def test_making_vectors_is_no_edit(bench: Bench) -> None:
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes the lock.")
    before = await bench.library.events(entry.id)
    await bench.switch_on()
    await bench.embeddings.settled()
    now = await bench.entry(entry)
    assert now.embedding.status is EmbeddingStatus.READY
    assert (now.version, now.updated_at) == (entry.version, entry.updated_at)
    assert await bench.library.events(entry.id) == before


async def test_an_edit_of_the_text_makes_its_vectors_anew_and_other_edits_do_not(
    bench: Bench, server: EmbeddingServer
) -> None:
    await bench.switch_on()
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes the lock.")
    await bench.embeddings.settled()
    asked = len(server.texts)
    edit = EntryEdit(entry.version, tags=("sqlite",))
    tagged = (await bench.knowledge.knowledge_update(entry.id, edit, actor=USER)).entries[0]
    await bench.embeddings.settled()
    assert len(server.texts) == asked
    await bench.knowledge.knowledge_update(entry.id, EntryEdit(tagged.version, content="Bread."), actor=USER)
    await bench.embeddings.settled()
    assert server.texts[asked:] == [["Take the write lock\nBread."]]
    assert (await bench.entry(entry)).embedding.status is EmbeddingStatus.READY
    assert bench.vectors() == 1


async def test_a_long_text_has_a_vector_for_each_part(bench: Bench) -> None:
    await bench.switch_on()
    await bench.publish("Long", "A sentence about bread. " * 200)
    await bench.embeddings.settled()
    assert bench.vectors() == 5  # the first sentence, and four parts


async def test_an_erased_entry_leaves_no_vector(bench: Bench) -> None:
    await bench.switch_on()
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes the lock.")
    await bench.embeddings.settled()
    assert await bench.found("锁") == ["Take the write lock"]
    await bench.knowledge.knowledge_erase(entry.id, actor=USER)
    assert bench.vectors() == 0
    assert await bench.found("锁") == []


async def test_an_archived_entry_is_found_no_more_and_keeps_its_vectors(bench: Bench, server: EmbeddingServer) -> None:
    await bench.switch_on()
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    await bench.knowledge.knowledge_archive(entry.id, actor=USER)
    assert await bench.found("锁") == []
    assert await bench.found("锁", statuses={Status.ARCHIVED}) == ["Take the write lock"]
    asked = len(server.texts)
    await bench.knowledge.knowledge_restore(entry.id, actor=USER)
    await bench.knowledge.knowledge_approve(entry.id, actor=USER)
    await bench.embeddings.settled()
    assert len(server.texts) == asked


async def test_what_was_published_while_the_program_was_closed_is_embedded_at_the_start(
    benches: Benches, server: EmbeddingServer
) -> None:
    async with AsyncExitStack() as stack:
        closed = await benches.open(stack, background=False)
        await closed.switch_on()
        entry = await closed.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
        assert (await closed.state()).phase is Phase.WAITING
        assert server.texts == []
    async with AsyncExitStack() as stack:
        bench = await benches.open(stack)
        await bench.embeddings.settled()
        assert (await bench.entry(entry)).embedding.status is EmbeddingStatus.READY


async def test_a_change_of_the_model_makes_all_anew_and_never_compares_the_two(
    bench: Bench, server: EmbeddingServer
) -> None:
    await bench.switch_on()
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    await bench.embeddings.settled()
    assert await bench.found("锁") == ["Take the write lock"]
    await bench.embeddings.stop()  # of the model before: it stops nothing of the next one
    server.dimension = 20
    await bench.switch_on("embed-large")
    await bench.embeddings.settled()
    assert set(server.models[-3:]) == {"embed-large"}
    assert bench.vectors("SELECT count(DISTINCT model) FROM entry_vectors") == 1
    assert bench.vectors("SELECT min(dimension) FROM entry_vectors") == 20
    assert await bench.found("锁") == ["Take the write lock"]


async def test_remaking_can_be_cancelled_and_search_goes_on_with_what_is_ready(
    bench: Bench, server: EmbeddingServer
) -> None:
    await bench.switch_on()
    for number in range(20):
        await bench.publish(f"Take the write lock {number}", f"BEGIN IMMEDIATE takes it {number}.")
    await bench.embeddings.settled()
    await bench.switch_on("embed-large")

    def hold_what_follows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(rows) == 8:
            server.hold = asyncio.Event()
        return rows

    server.misbehave = hold_what_follows
    await asyncio.wait_for(server.held.wait(), PATIENCE)
    await bench.embeddings.stop()
    server.hold, server.misbehave = None, lambda rows: rows
    await bench.embeddings.settled()
    state = await bench.state()
    assert state.phase is Phase.STOPPED
    assert state.progress.ready == 8
    assert len(await bench.found("锁", limit=50)) == state.progress.ready
    await bench.embeddings.resume()
    await bench.embeddings.settled()
    state = await bench.state()
    assert (state.phase, state.progress.ready) == (Phase.READY, 20)


async def test_a_local_server_answers_the_chat_first(bench: Bench, server: EmbeddingServer) -> None:
    bench.busy = True
    await bench.switch_on()
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    assert (await bench.state()).phase is Phase.WAITING
    assert server.texts == []
    bench.busy = False
    bench.embeddings._worker.wake()
    await bench.embeddings.settled()
    assert (await bench.state()).phase is Phase.READY


async def test_a_daily_cap_holds_until_the_next_day(bench: Bench, server: EmbeddingServer) -> None:
    await bench.library.settings.update("embedding", daily_texts=2)
    for number in range(12):
        await bench.publish(f"Entry {number}", "Bread.")
    await bench.switch_on()
    await bench.embeddings.settled()
    state = await bench.state()
    assert state.phase is Phase.CAPPED
    assert state.progress.ready == 8  # the batch that was begun is finished
    bench.clock.advance(hours=25)
    await bench.embeddings.settled()
    assert (await bench.state()).progress.ready == 12
