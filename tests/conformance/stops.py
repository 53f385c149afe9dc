"""Steps that are stopped, and how long it takes until both sides know."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from devflow.domain.request import TextChunk
from devflow.providers.protocol import Provider
from devflow.providers.transport import Transport
from tests.conformance.fixture import FOLDER, TYPES, read
from tests.conformance.replay import provider
from tests.fakes.raw_server import RawServer, Received
from tests.fakes.requests import chat


async def measured(protocol: str, count: int) -> tuple[list[float], list[float]]:
    """Seconds from each of so many stops to the end of its stream, and to the closed connection at the server."""
    loop = asyncio.get_running_loop()
    ended, closed = [], []
    async with RawServer() as server:
        transport = Transport(connections=4)
        asked = provider(protocol, transport, server.origin)
        for _ in range(count):
            task, request = await begin(protocol, server, asked)
            began = loop.time()
            task.cancel()
            await asyncio.wait({task})
            ended.append(loop.time() - began)
            await request.gone.wait()
            closed.append(loop.time() - began)
        await transport.aclose()
    return ended, closed


def whole(protocol: str) -> bytes:
    return read(protocol, FOLDER / protocol / "plain-text.txt").body(0)


def beginning(protocol: str) -> bytes:
    """A stream up to some text, after which the server says nothing for ever."""
    return read(
        protocol, FOLDER / protocol / "no-finish.txt" if protocol != "ollama" else FOLDER / "ollama/no-done.txt"
    ).body(0)


async def text_of(asked: Provider) -> str:
    async with aclosing(asked.stream(chat())) as events:
        return "".join([event.text async for event in events if isinstance(event, TextChunk)])


async def begin(protocol: str, server: RawServer, asked: Provider) -> tuple[asyncio.Task[str], Received]:
    """A step of which some text has arrived, and its request."""
    server.answer(beginning(protocol), asyncio.Event(), kind=TYPES[protocol])
    seen = asyncio.Event()

    async def listen() -> str:
        async with aclosing(asked.stream(chat())) as events:
            async for _ in events:
                seen.set()
        return ""

    number = len(server.received) + 1
    task = asyncio.create_task(listen())
    await asyncio.wait_for(seen.wait(), 5)
    return task, await server.wait_for(number)
