"""Stopping: at once, once, and without losing a connection, for each protocol over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import statistics
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.events import TextArrived
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.providers.transport import Transport
from tests.conformance.fixture import PROTOCOLS, TYPES
from tests.conformance.replay import ADAPTER, provider
from tests.conformance.stops import begin, beginning, text_of, whole
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import chat

POOL = 4
DOUBLE_STOPS = 20
STOP_S = 0.1

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with RawServer() as running:
        yield running


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    running = Transport(connections=POOL)
    yield running
    await running.aclose()


async def test_twenty_double_stops_with_a_pool_of_four_and_a_request_succeeds(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    asked = provider(protocol, transport, server.origin)
    for turns in range(DOUBLE_STOPS):
        task, request = await begin(protocol, server, asked)
        task.cancel()
        for _ in range(turns % 5):  # the second stop falls on another moment of the closing each time
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(request.gone.wait(), 5)
    server.answer(whole(protocol), kind=TYPES[protocol])
    assert await asyncio.wait_for(text_of(asked), 5)
    assert len(server.received) == DOUBLE_STOPS + 1


async def test_a_stop_closes_the_connection_within_100_ms(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    loop = asyncio.get_running_loop()
    asked = provider(protocol, transport, server.origin)
    returned, closed = [], []
    for _ in range(7):
        task, request = await begin(protocol, server, asked)
        began = loop.time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        returned.append(loop.time() - began)
        await asyncio.wait_for(request.gone.wait(), 5)
        closed.append(loop.time() - began)
    assert statistics.median(returned) < STOP_S
    assert statistics.median(closed) < STOP_S


async def test_a_stop_at_any_moment_of_an_answer_leaves_the_pool_usable(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    asked = provider(protocol, transport, server.origin)
    for number in range(120):
        headers = {"Connection": "close"} if number % 2 else {}
        server.answer(whole(protocol), kind=TYPES[protocol], headers=headers)
        task = asyncio.create_task(text_of(asked))
        for _ in range(number):  # a little later each time: before, in, and after the closing
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    server.forget_answers()
    server.answer(whole(protocol), kind=TYPES[protocol])
    assert await asyncio.wait_for(text_of(asked), 5)


async def test_a_stop_before_the_answer_begins_leaves_the_pool_usable(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    asked = provider(protocol, transport, server.origin)
    for number in range(1, 2 * POOL + 1):
        server.answer(asyncio.Event(), head=False)
        task = asyncio.create_task(text_of(asked))
        request = await server.wait_for(number)
        task.cancel()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(request.gone.wait(), 5)
    server.answer(whole(protocol), kind=TYPES[protocol])
    assert await asyncio.wait_for(text_of(asked), 5)


async def test_a_stop_while_it_connects_leaves_the_pool_usable(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    """The other side accepts and never says a word of TLS."""
    knocks, ends = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        knocks.release()
        await reader.read()  # to its end: the connection is closed
        ends.release()
        writer.close()

    silent = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with silent:
        nobody = provider(protocol, transport, f"https://127.0.0.1:{silent.sockets[0].getsockname()[1]}")
        for _ in range(2 * POOL):
            task = asyncio.create_task(text_of(nobody))
            await asyncio.wait_for(knocks.acquire(), 5)
            task.cancel()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(ends.acquire(), 5)
    server.answer(whole(protocol), kind=TYPES[protocol])
    assert await asyncio.wait_for(text_of(provider(protocol, transport, server.origin)), 5)


async def test_a_stop_while_it_waits_to_try_again_asks_no_more(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    asked = provider(protocol, transport, server.origin)
    server.answer(b"{}", status=503, kind="application/json", headers={"Retry-After": "59"})
    task = asyncio.create_task(text_of(asked))
    await server.wait_for(1)
    await asyncio.wait({task}, timeout=0.05)  # it has read the refusal by now, or is about to
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.answer(whole(protocol), kind=TYPES[protocol])
    assert await text_of(asked)
    assert len(server.received) == 2


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What generators that were given up said while they were collected."""
    heard: list[str] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda gone: heard.append(f"{gone.exc_value} {gone.object!r}")
    yield heard
    sys.unraisablehook = hook


async def test_stops_between_two_chunks_leave_the_pool_usable_and_nothing_to_collect(
    protocol: str, server: RawServer, complaints: list[str]
) -> None:
    """On a loop that finalises no generators, as Qt's: what is given up half-way is complained about."""
    sys.set_asyncgen_hooks(None, None)  # for this loop: it sets its own when it runs again
    transport = Transport(connections=POOL)
    asked = provider(protocol, transport, server.origin)
    body = whole(protocol)
    for number in range(30):
        server.answer(*[body[at : at + 40] for at in range(0, len(body), 40)], *[b"\n"] * 200, kind=TYPES[protocol])
        async with contextlib.aclosing(asked.stream(chat())) as events:
            for _ in range(1 + number % 2):
                await anext(events)
        if number % 10 == 9:
            gc.collect()
    await transport.aclose()
    gc.collect()
    assert complaints == []


async def test_the_stop_of_a_run_closes_its_connection_within_100_ms_and_once(
    protocol: str, server: RawServer, home: Path
) -> None:
    """The whole way from the Stop button's call: run, step, stream, socket."""
    loop = asyncio.get_running_loop()
    closed, stopped = [], []
    async with opened(app_paths(home)) as core:
        window = {"context_window": 8_000}  # nobody needs to be asked for it
        draft = ProviderDraft("Server", server.origin, adapter=ADAPTER[protocol], models=("m",), settings=window)
        await core.models.add(draft)
        arrived = asyncio.Event()
        core.hub.subscribe(lambda event: arrived.set() if isinstance(event, TextArrived) else None)
        for _ in range(5):
            arrived.clear()
            server.answer(beginning(protocol), asyncio.Event(), kind=TYPES[protocol])
            conversation = await core.conversations.create()
            run = await core.turns.send(conversation.id, "Go on.")
            await asyncio.wait_for(arrived.wait(), 10)
            request = server.received[-1]
            began = loop.time()
            stops = asyncio.gather(*(core.turns.cancel(run.id) for _ in range(2)))
            await asyncio.wait_for(request.gone.wait(), 5)
            closed.append(loop.time() - began)
            assert {one.state for one in await stops} == {RunState.CANCELLED}
            stopped.append(loop.time() - began)
        server.answer(whole(protocol), kind=TYPES[protocol])
        run = await core.turns.send(conversation.id, "And now?")
        assert (await core.turns.wait(run.id)).state is RunState.COMPLETED
    assert statistics.median(closed) < STOP_S
    assert statistics.median(stopped) < 2 * STOP_S  # its row is written by then
