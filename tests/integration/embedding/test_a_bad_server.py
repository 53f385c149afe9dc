"""What a server can do wrong: then the search goes by keywords, the entry says why, and it is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from devflow.domain.knowledge import EmbeddingStatus
from devflow.knowledge.embedding_state import Phase
from tests.fakes.embedding_server import EmbeddingServer
from tests.integration.embedding.conftest import PATIENCE, Bench, Benches

Rows = list[dict[str, Any]]


def too_few(rows: Rows) -> Rows:
    return rows[:-1]


def not_a_number(rows: Rows) -> Rows:
    return [{**row, "embedding": [float("nan"), *row["embedding"][1:]]} for row in rows]


def shorter(rows: Rows) -> Rows:
    return [{**row, "embedding": row["embedding"][:-3]} for row in rows]


def uneven(rows: Rows) -> Rows:
    return [*rows[:-1], {**rows[-1], "embedding": rows[-1]["embedding"][:-1]}] if len(rows) > 1 else shorter(rows)


def all_the_same(rows: Rows) -> Rows:
    return [{**row, "embedding": [1.0] * 14} for row in rows]


WRONG = [too_few, not_a_number, shorter, uneven]


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_query_whose_vector_is_wrong_is_answered_by_keywords(
    bench: Bench, server: EmbeddingServer, wrong: Callable[[Rows], Rows]
) -> None:
    await bench.switch_on()
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    server.misbehave = wrong
    assert await bench.found("write lock") == ["Take the write lock"]
    assert await bench.found("锁") == []
    unheard = (await bench.state()).unheard
    assert unheard is not None
    assert bench.told[-1] == Phase.READY  # whoever shows the state was told


@pytest.mark.parametrize("wrong", WRONG)
async def test_an_entry_whose_vector_is_wrong_says_so_and_is_tried_again(
    bench: Bench, server: EmbeddingServer, wrong: Callable[[Rows], Rows]
) -> None:
    await bench.switch_on()
    await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    await bench.embeddings.settled()
    server.misbehave = wrong
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    failed = (await bench.entry(entry)).embedding
    assert (failed.status, failed.attempts) == (EmbeddingStatus.FAILED, 1)
    assert failed.error
    assert (await bench.state()).phase is Phase.PAUSED
    asked = len(server.texts)
    bench.clock.advance(seconds=50)
    await bench.embeddings.settled()
    assert len(server.texts) == asked
    bench.clock.advance(seconds=20)
    await bench.embeddings.settled()
    assert (await bench.entry(entry)).embedding.attempts == 2
    bench.clock.advance(minutes=4)
    await bench.embeddings.settled()
    assert (await bench.entry(entry)).embedding.attempts == 2  # the pause grows
    server.misbehave = lambda rows: rows
    bench.clock.advance(minutes=2)
    await bench.embeddings.settled()
    healed = (await bench.entry(entry)).embedding
    assert (healed.status, healed.error, healed.attempts) == (EmbeddingStatus.READY, None, 0)
    assert (await bench.state()).phase is Phase.READY


async def test_vectors_in_another_order_go_to_their_texts(bench: Bench, server: EmbeddingServer) -> None:
    await bench.switch_on()
    server.misbehave = lambda rows: rows[::-1]
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    await bench.embeddings.settled()
    assert await bench.found("面包") == ["Bake a loaf"]
    assert await bench.found("锁") == ["Take the write lock"]


async def test_a_server_that_fails_leaves_search_to_keywords_and_is_asked_again_after_a_restart(
    benches: Benches, server: EmbeddingServer
) -> None:
    async with AsyncExitStack() as stack:
        bench = await benches.open(stack)
        await bench.switch_on()
        server.status = 401
        entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
        await bench.embeddings.settled()
        failed = (await bench.entry(entry)).embedding
        assert failed.status is EmbeddingStatus.FAILED
        assert "the machine is on fire" in (failed.error or "")
        assert await bench.found("write lock") == ["Take the write lock"]
    server.status = 200
    async with AsyncExitStack() as stack:
        bench = await benches.open(stack)
        await bench.embeddings.settled()
        assert (await bench.entry(entry)).embedding.status is EmbeddingStatus.READY
        assert await bench.found("锁") == ["Take the write lock"]


async def test_a_server_that_stalls_keeps_no_search_waiting(benches: Benches, server: EmbeddingServer) -> None:
    async with AsyncExitStack() as stack:
        bench = await benches.open(stack, patience=0.2)
        await bench.switch_on()
        await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
        await bench.embeddings.settled()
        server.hold = asyncio.Event()
        assert await bench.found("write lock") == ["Take the write lock"]
        unheard = (await bench.state()).unheard
        assert unheard is not None
        assert "did not answer within 0.2 s" in str(unheard)
        asked = len(server.texts)
        assert await bench.found("take the lock") == ["Take the write lock"]
        assert len(server.texts) == asked  # it is left alone for a while
        server.hold = None
        await bench.embeddings.resume()
        await bench.embeddings.settled()
        assert await bench.found("锁") == ["Take the write lock"]
        assert (await bench.state()).unheard is None


async def test_one_text_that_is_refused_takes_no_other_along(bench: Bench, server: EmbeddingServer) -> None:
    await bench.switch_on()
    server.refuse = lambda texts: any("poison" in text for text in texts)
    entries = [await bench.publish(f"Entry {number}", "Bread." if number else "poison") for number in range(5)]
    await bench.embeddings.settled()
    states = [(await bench.entry(entry)).embedding.status for entry in entries]
    assert states == [EmbeddingStatus.FAILED, *[EmbeddingStatus.READY] * 4]


async def test_regenerate_works_at_once_whatever_the_pause(bench: Bench, server: EmbeddingServer) -> None:
    await bench.switch_on()
    server.status = 401
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    server.status = 200
    assert await bench.knowledge.knowledge_reembed(entry.id) == 1
    await bench.embeddings.settled()
    assert (await bench.entry(entry)).embedding.status is EmbeddingStatus.READY


async def test_another_model_behind_the_same_name_is_noticed_and_mended_by_making_all_anew(
    bench: Bench, server: EmbeddingServer
) -> None:
    await bench.switch_on()
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    server.dimension = 17
    bench.models._live.clear()
    bench.source._made = None  # as after a restart: nobody remembers the dimension but the database
    entry = await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    await bench.embeddings.settled()
    assert "14" in ((await bench.entry(entry)).embedding.error or "")
    assert await bench.knowledge.knowledge_reembed() == 2
    await bench.embeddings.settled()
    assert bench.vectors("SELECT min(dimension) FROM entry_vectors") == 17
    assert await bench.found("面包") == ["Bake a loaf"]


async def test_a_model_that_tells_nothing_apart_is_refused(bench: Bench, server: EmbeddingServer) -> None:
    server.misbehave = all_the_same
    await bench.switch_on()
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await bench.embeddings.settled()
    assert "the same vector" in ((await bench.entry(entry)).embedding.error or "")
    assert await bench.found("write lock") == ["Take the write lock"]


async def test_a_request_under_way_makes_way_for_the_chat(bench: Bench, server: EmbeddingServer) -> None:
    await bench.switch_on()
    await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    await bench.embeddings.settled()
    server.hold = asyncio.Event()
    entry = await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it.")
    await asyncio.wait_for(server.held.wait(), PATIENCE)
    bench.busy = True
    bench.embeddings._worker.make_way()
    await bench.embeddings.settled()
    assert (await bench.state()).phase is Phase.WAITING
    assert (await bench.entry(entry)).embedding.status is EmbeddingStatus.NONE


async def test_without_a_model_the_state_says_what_to_do(bench: Bench) -> None:
    await bench.switch_on(embedding_provider_id=None)
    state = await bench.state()
    assert state.phase is Phase.NO_MODEL
    assert state.problem is not None
    assert "Settings" in state.problem.hint
    await bench.switch_on("missing-model", embedding_provider_id="builtin")
    state = await bench.state()
    assert state.problem is not None
    assert "missing-model is not installed" in str(state.problem)
