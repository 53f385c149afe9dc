"""What goes out, held to the specification's rules for each protocol; and when it goes out once more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from devflow.domain.provider import ProviderConfig
from devflow.domain.request import (
    AssistantTurn,
    CallChunk,
    ModelRequest,
    Purpose,
    ReplayChunk,
    StreamEvent,
    TextChunk,
    ToolResult,
    ToolSpec,
    UserText,
    WireCall,
)
from devflow.providers import failures
from devflow.providers.adapters import make_server
from devflow.providers.presets import Preset, preset, presets
from devflow.providers.protocol import Provider
from devflow.providers.retry import Retry
from devflow.providers.transport import Transport
from tests.conformance import replay
from tests.conformance.fixture import FOLDER, PROTOCOLS, TYPES, read
from tests.conformance.replay import ADAPTER, AT_ONCE, RESOURCES
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import chat

NOTE = ToolSpec("note", "Note it.", {"type": "object", "properties": {}})
CALLS = (WireCall("c1", "note", '{"n": 1}'), WireCall("c2", "note", '{"n": 2}'))
RESULTS = (ToolResult("c1", "note", "first"), ToolResult("c2", "note", "second"))

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with RawServer() as running:
        yield running


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    running = Transport(connections=4)
    yield running
    await running.aclose()


def provider(
    protocol: str,
    server: RawServer,
    transport: Transport,
    *,
    key: str = "",
    retry: Retry = AT_ONCE,
    known: Preset | None = None,
) -> Provider:
    config = ProviderConfig("p", "Server", ADAPTER[protocol], "custom", server.origin, ("m",))
    return make_server(config, key, transport, preset=known or preset(RESOURCES, "custom"), retry=retry)


def answer(protocol: str, server: RawServer, name: str = "plain-text", **options: Any) -> None:
    fixture = read(protocol, FOLDER / protocol / f"{name}.txt")
    server.answer(fixture.body(0), kind=TYPES[protocol], **options)


def fail(server: RawServer, status: int, **headers: str) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    server.answer(b'{"error": {"message": "busy"}}', status=status, kind="application/json", headers=named)


async def events_of(asked: Provider, request: ModelRequest | None = None) -> list[StreamEvent]:
    async with aclosing(asked.stream(request or chat())) as events:
        return [event async for event in events]


async def sent(protocol: str, server: RawServer, transport: Transport, request: ModelRequest) -> dict[str, Any]:
    """The body that the server gets for a request."""
    answer(protocol, server)
    await events_of(provider(protocol, server, transport), request)
    return server.received[-1].json


def said(message: dict[str, Any]) -> str:
    """The texts of one message on the wire."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "|".join(part["text"] for part in content if "text" in part)


# the body -----------------------------------------------------------------------------------------------------------


async def test_there_is_one_system_prompt_and_it_stands_first(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    turns = (UserText("a"), AssistantTurn("b"), UserText("c"))
    body = await sent(protocol, server, transport, chat(system="Rules.", messages=turns))
    roles = [message["role"] for message in body["messages"]]
    if protocol == "anthropic":
        assert body["system"] == "Rules."
        assert roles == ["user", "assistant", "user"]
    else:
        assert roles == ["system", "user", "assistant", "user"]
        assert body["messages"][0]["content"] == "Rules."


async def test_consecutive_user_texts_go_out_as_one_message(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    turns = (UserText("one"), UserText("two"), AssistantTurn("three"), UserText("four"))
    messages = (await sent(protocol, server, transport, chat(messages=turns)))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert "one" in said(messages[0])
    assert "two" in said(messages[0])


async def test_every_call_is_answered_before_the_next_user_text(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    turns = (UserText("go"), AssistantTurn("So:", CALLS), *RESULTS, UserText("and now?"))
    messages = (await sent(protocol, server, transport, chat(messages=turns, tools=(NOTE,))))["messages"]
    wire = json.dumps(messages)
    assert wire.index('"n') < wire.index("first") < wire.index("second") < wire.index("and now?")
    match protocol:
        case "anthropic":
            uses = [part["id"] for part in messages[1]["content"] if part["type"] == "tool_use"]
            parts = messages[2]["content"]
            assert [part.get("tool_use_id") for part in parts] == [*uses, None]
            assert len(messages) == 3
        case "openai":
            asked = [call["id"] for call in messages[1]["tool_calls"]]
            assert [message["role"] for message in messages[2:]] == ["tool", "tool", "user"]
            assert [message["tool_call_id"] for message in messages[2:4]] == asked
        case _:
            assert [call["function"]["arguments"] for call in messages[1]["tool_calls"]] == [{"n": 1}, {"n": 2}]
            assert [message["role"] for message in messages[2:]] == ["tool", "tool", "user"]


@pytest.mark.parametrize("purpose", list(Purpose))
async def test_every_kind_of_request_streams(
    protocol: str, server: RawServer, transport: Transport, purpose: Purpose
) -> None:
    schema = {"items": {"type": "object"}} if purpose is Purpose.EXTRACTION else None
    body = await sent(protocol, server, transport, chat(purpose=purpose, json_schema=schema))
    assert body["stream"] is True


async def test_the_temperature_is_left_out_unless_set(protocol: str, server: RawServer, transport: Transport) -> None:
    assert "temperature" not in json.dumps(await sent(protocol, server, transport, chat()))
    body = await sent(protocol, server, transport, chat(temperature=0.0))
    assert (body.get("options") or body)["temperature"] == 0.0


# what goes back -----------------------------------------------------------------------------------------------------


SIGNED = {"openai": "call-with-a-signature", "anthropic": "thinking-then-a-call", "ollama": "call"}


async def test_what_a_model_signed_goes_back_verbatim(protocol: str, server: RawServer, transport: Transport) -> None:
    answer(protocol, server, SIGNED[protocol])
    came = await events_of(provider(protocol, server, transport))
    calls = [event for event in came if isinstance(event, CallChunk)]
    kept = next((event.value for event in came if isinstance(event, ReplayChunk)), None)
    said_then = "".join(event.text for event in came if isinstance(event, TextChunk))
    turn = AssistantTurn(said_then, tuple(WireCall(c.wire_id, c.tool, c.arguments) for c in calls), "why", replay=kept)
    results = (ToolResult(call.wire_id, call.tool, "text") for call in calls)
    body = await sent(protocol, server, transport, chat(messages=(UserText("go"), turn, *results)))
    match protocol:
        case "anthropic":
            assert body["messages"][1]["content"] == [
                {"type": "thinking", "thinking": "the file", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "aGlkZGVu"},
                {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "x"}},
            ]
        case "openai":
            signature = {"google": {"thought_signature": "c2lnbmF0dXJlLw=="}}
            assert [call.get("extra_content") for call in body["messages"][1]["tool_calls"]] == [signature, None]
        case _:
            assert kept is None


async def test_reasoning_goes_back_as_text_where_the_profile_says_so(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    again = chat(messages=(UserText("go"), AssistantTurn("", CALLS[:1], "because"), *RESULTS[:1]))
    for known in presets(RESOURCES):
        answer(protocol, server)
        await events_of(provider(protocol, server, transport, known=known), again)
        wanted = protocol == "ollama" or (protocol == "openai" and known.dialect.replay_reasoning)
        assert ("because" in json.dumps(server.received[-1].json)) is wanted, known.id


# once more ----------------------------------------------------------------------------------------------------------


async def test_a_busy_server_is_asked_up_to_three_times_more(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    for status in (503, 429, 500):
        fail(server, status)
    answer(protocol, server)
    assert any(isinstance(event, TextChunk) for event in await events_of(provider(protocol, server, transport)))
    assert len(server.received) == 4
    assert len({request.body for request in server.received}) == 1


async def test_after_three_more_tries_the_failure_is_told(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    for _ in range(9):
        fail(server, 503)
    with pytest.raises(failures.ServerError, match="busy"):
        await events_of(provider(protocol, server, transport))
    assert len(server.received) == 4


async def test_the_pause_is_a_random_part_of_a_growing_one(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    drawn: list[float] = []

    def draw() -> float:
        drawn.append(0.0)
        return 0.0

    for _ in range(3):
        fail(server, 500)
    answer(protocol, server)
    await events_of(provider(protocol, server, transport, retry=Retry(base=1e6, cap=1e6, random=draw)))
    assert len(drawn) == 3  # full jitter: nothing of the million seconds is certain


async def test_a_servers_own_wish_replaces_the_pause(protocol: str, server: RawServer, transport: Transport) -> None:
    never = Retry(base=1e6, cap=1e6, random=lambda: 1.0)
    fail(server, 429, Retry_After="0.01")
    fail(server, 503, retry_after_ms="5")
    answer(protocol, server)
    await events_of(provider(protocol, server, transport, retry=never))
    assert len(server.received) == 3


async def test_a_wish_of_more_than_a_minute_is_told_and_not_waited_for(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    fail(server, 429, Retry_After="61")
    with pytest.raises(failures.RateLimited):
        await events_of(provider(protocol, server, transport))
    assert len(server.received) == 1


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_nothing_is_repeated_once_a_token_has_come(
    protocol: str, server: RawServer, transport: Transport, end: str
) -> None:
    for _ in range(4):
        answer(protocol, server, "connection-cut", end=end)
    async with aclosing(provider(protocol, server, transport).stream(chat())) as events:
        assert isinstance(await anext(events), TextChunk)
        with pytest.raises(failures.StreamCut):
            await anext(events)
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_what_will_not_pass_by_itself_is_asked_once(
    protocol: str, server: RawServer, transport: Transport, status: int
) -> None:
    fail(server, status)
    with pytest.raises(failures.WireFailure):
        await events_of(provider(protocol, server, transport))
    assert len(server.received) == 1


async def test_the_head_of_an_answer_is_waited_for_no_longer_than_its_first_event(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    server.answer(asyncio.Event(), head=False)
    hasty = replay.provider(protocol, transport, server.origin, {"first_event_timeout": 0.05})
    await hasty.prepare()  # the first use of the transport loads what it stands on, which is not the server's time
    with pytest.raises(failures.Silent, match="sent nothing"):
        await asyncio.wait_for(events_of(hasty), 5)
    await asyncio.wait_for(server.received[0].gone.wait(), 5)
    assert len(server.received) == 1


# whose key ----------------------------------------------------------------------------------------------------------


async def test_the_key_travels_in_its_header_to_its_own_host_only(
    protocol: str, server: RawServer, transport: Transport
) -> None:
    async with RawServer() as other:
        server.answer(status=307, headers={"Location": f"{other.origin}/v1/messages"})
        with pytest.raises(failures.Redirected, match=other.origin):
            await events_of(provider(protocol, server, transport, key="sk-secret-of-its-own"))
        assert other.received == []
    (request,) = server.received
    assert "sk-secret-of-its-own" in " ".join(request.headers.values())
    assert b"sk-secret-of-its-own" not in request.body
    assert "sk-secret" not in request.path


@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_this_machine_is_reached_past_every_proxy(
    protocol: str, server: RawServer, transport: Transport, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    answer(protocol, server)
    assert await events_of(provider(protocol, server, transport))


async def test_a_key_that_a_server_repeats_is_not_shown(protocol: str, server: RawServer, transport: Transport) -> None:
    server.answer(b'{"error": {"message": "bad key sk-secret-of-its-own"}}', status=401, kind="application/json")
    with pytest.raises(failures.KeyRefused) as caught:
        await events_of(provider(protocol, server, transport, key="sk-secret-of-its-own"))
    assert "sk-secret" not in str(caught.value)
