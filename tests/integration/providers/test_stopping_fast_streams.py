"""Stops that fall between two chunks of a fast answer, on a loop that finalises no generators, as qasync's."""

import contextlib
import gc
import sys
from collections.abc import Iterator

import pytest

from devflow.domain.provider import ProviderConfig
from devflow.providers.openai_compat import OpenAICompat
from devflow.providers.transport import Transport
from tests.fakes.openai_server import OpenAIServer, Turn
from tests.fakes.requests import chat

STOPS = 60


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What generators that were given up said while they were collected."""
    heard: list[str] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda gone: heard.append(f"{gone.exc_value} {gone.object!r}")
    yield heard
    sys.unraisablehook = hook


async def test_stops_between_two_chunks_leave_the_pool_usable_and_nothing_to_collect(complaints: list[str]) -> None:
    sys.set_asyncgen_hooks(None, None)  # for this loop: it sets its own when it runs again
    transport = Transport(connections=4)
    with OpenAIServer() as server:
        config = ProviderConfig("p", "Server", "openai_compat", "custom", server.base_url, ("scripted",), {})
        asked = OpenAICompat(config, "", transport)
        for number in range(STOPS):
            server.script(Turn(["word "] * 300))
            seen = 0
            async with contextlib.aclosing(asked.stream(chat("x", model="scripted"))) as events:
                async for _event in events:
                    seen += 1
                    if seen == 3 + number % 7:
                        break
            gc.collect()
        await transport.aclose()
    gc.collect()
    assert complaints == []
