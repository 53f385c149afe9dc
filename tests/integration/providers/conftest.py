"""A server that answers with the bytes it is told, and the transport that asks it."""

from collections.abc import AsyncIterator

import pytest

from devflow.providers.transport import Transport
from tests.fakes.raw_server import RawServer


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with RawServer() as running:
        yield running


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    running = Transport(connections=4, connect_timeout=2)
    yield running
    await running.aclose()
