"""Anthropic's Messages API over a real socket: headers, lists, windows, pauses, refusals, and the test of a server."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from devflow.domain.provider import LineState, Probe, ProviderConfig
from devflow.domain.request import (
    AssistantTurn,
    FinishReason,
    ModelRequest,
    ReplayChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    ToolResult,
    UserText,
    WireCall,
)
from devflow.providers import failures
from devflow.providers.anthropic import PAUSES_MAX, Anthropic, headers
from devflow.providers.probe import NOTE, examine
from devflow.providers.retry import Retry
from devflow.providers.transport import Transport
from tests.fakes import anthropic_stream as wire
from tests.fakes.anthropic_server import SIGNATURE, AnthropicServer
from tests.fakes.openai_server import Call, Turn
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import chat, probe

AT_ONCE = Retry(random=lambda: 0.0)
HELLO = (wire.start() + wire.text(0, "Hello.") + wire.end()).encode()


def provider(base_url: str, transport: Transport, *, key: str = "", **config: Any) -> Anthropic:
    base = {"id": "p", "name": "Claude", "adapter": "anthropic", "preset": "anthropic", "base_url": base_url}
    return Anthropic(ProviderConfig(**{**base, **config}), key, transport, windows={"claude": 200_000}, retry=AT_ONCE)


async def events_of(asked: Anthropic, request: ModelRequest | None = None) -> list[StreamEvent]:
    async with aclosing(asked.stream(request or chat())) as events:
        return [event async for event in events]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


async def test_a_step_is_posted_with_the_key_and_the_version(server: RawServer, transport: Transport) -> None:
    server.answer(HELLO)
    assert text_of(await events_of(provider(server.origin, transport, key="sk-ant-1"))) == "Hello."
    request = server.received[0]
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.headers["x-api-key"] == "sk-ant-1"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert b"sk-ant-1" not in request.body


def test_anthropic_gets_its_newest_version_and_the_key_in_one_header_only() -> None:
    assert headers("https://api.anthropic.com", "k") == {"anthropic-version": "2026-10-21", "x-api-key": "k"}
    assert headers("https://api.anthropic.com", "") == {"anthropic-version": "2026-10-21"}


def test_other_servers_get_the_version_that_they_know_and_the_key_in_either_header() -> None:
    given = {"anthropic-version": "2023-06-01", "x-api-key": "k", "Authorization": "Bearer k"}
    assert headers("https://gateway.example.com", "k") == given


async def test_the_streams_bytes_may_be_cut_anywhere(server: RawServer, transport: Transport) -> None:
    body = wire.start() + wire.thinking(0, "嗯") + wire.text(1, "好的 👍") + wire.tool(2, "note", '{"word": "是"}')
    whole = (body + wire.end("tool_use")).replace("\n", "\r\n").encode()
    server.answer(*[whole[i : i + 3] for i in range(0, len(whole), 3)])
    events = await events_of(provider(server.base_url, transport))
    assert text_of(events) == "好的 👍"
    assert events[-1] == StreamEnd(FinishReason.TOOL_CALLS)


async def test_an_overloaded_server_is_tried_again_before_the_first_token(
    server: RawServer, transport: Transport
) -> None:
    server.answer(wire.start().encode() + wire.error("overloaded_error", "Overloaded").encode())
    busy = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}).encode()
    server.answer(busy, status=529, kind="application/json")
    server.answer(HELLO)
    assert text_of(await events_of(provider(server.base_url, transport))) == "Hello."
    assert len(server.received) == 3


async def test_nothing_is_sent_again_once_something_has_come(server: RawServer, transport: Transport) -> None:
    server.answer((wire.start() + wire.text(0, "half") + wire.error("overloaded_error", "Overloaded")).encode())
    server.answer(HELLO)
    with pytest.raises(failures.StreamCut):
        await events_of(provider(server.base_url, transport))
    assert len(server.received) == 1


async def test_pings_do_not_keep_a_silent_server_alive(server: RawServer, transport: Transport) -> None:
    beats = [asyncio.Event() for _ in range(100)]
    pings = [part for beat in beats for part in (beat, wire.PING.encode())]
    server.answer((wire.start() + wire.text(0, "a")).encode(), *pings)
    loop = asyncio.get_running_loop()
    timers = [loop.call_later(0.02 * number, beat.set) for number, beat in enumerate(beats)]
    with pytest.raises(failures.Silent):
        await events_of(provider(server.base_url, transport, settings={"event_timeout": 0.2}))
    assert not beats[-1].is_set()
    for timer in timers:
        timer.cancel()


async def test_an_answer_that_pauses_is_asked_on_with_what_came(server: RawServer, transport: Transport) -> None:
    server.answer((wire.start() + wire.text(0, "One, ") + wire.redacted(1) + wire.end("pause_turn")).encode())
    server.answer((wire.start() + wire.text(0, "two.") + wire.end()).encode())
    events = await events_of(provider(server.base_url, transport))
    assert text_of(events) == "One, two."
    assert [event for event in events if isinstance(event, StreamEnd)] == [StreamEnd(FinishReason.STOP)]
    so_far = [{"type": "text", "text": "One, "}, {"type": "redacted_thinking", "data": "RW5j"}]
    assert server.received[1].json["messages"][-1] == {"role": "assistant", "content": so_far}
    (replay,) = (event.value for event in events if isinstance(event, ReplayChunk))
    assert replay["blocks"] == [*so_far, {"type": "text", "text": "two."}]


async def test_an_answer_that_pauses_without_end_counts_as_cut(server: RawServer, transport: Transport) -> None:
    for _ in range(PAUSES_MAX + 1):
        server.answer((wire.start() + wire.text(0, "more ") + wire.end("pause_turn")).encode())
    events = await events_of(provider(server.base_url, transport))
    assert events[-1] == StreamEnd(FinishReason.LENGTH, "pause_turn")
    assert len(server.received) == PAUSES_MAX


@pytest.mark.parametrize(
    "status, kind, words, failure",
    [
        (401, "authentication_error", "invalid x-api-key", failures.KeyRefused),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", failures.NoCredit),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", failures.ContextOverflow),
        (404, "not_found_error", "model: claude-nobody", failures.ModelMissing),
        (413, "request_too_large", "Request exceeds the maximum size", failures.BadRequest),
    ],
)
async def test_a_refusal_says_what_the_server_said(
    status: int, kind: str, words: str, failure: type[failures.WireFailure], server: RawServer, transport: Transport
) -> None:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": words}}).encode()
    server.answer(body, status=status, kind="application/json")
    with pytest.raises(failure) as raised:
        await events_of(provider(server.base_url, transport, key="sk-ant-1"))
    assert words.rstrip(".") in str(raised.value.params["words"])


async def test_an_option_that_the_server_rejects_is_left_out_from_then_on(
    server: RawServer, transport: Transport
) -> None:
    complaint = {"type": "error", "error": {"type": "invalid_request_error", "message": "tool_choice: not supported"}}
    server.answer(json.dumps(complaint).encode(), status=400, kind="application/json")
    server.answer(HELLO)
    server.answer(HELLO)
    asked = provider(server.base_url, transport)
    request = probe("m", "q", tool=NOTE)
    assert text_of(await events_of(asked, request)) == "Hello."
    await events_of(asked, request)
    assert ["tool_choice" in received.json for received in server.received] == [True, False, False]


async def test_the_list_of_models_is_read_page_by_page(transport: Transport) -> None:
    names = [f"claude-{number}" for number in range(5)]
    with AnthropicServer(models=names) as server:
        assert await provider(server.base_url, transport).models() == tuple(names)


async def test_the_window_and_the_limit_of_an_answer_are_the_models_own(transport: Transport) -> None:
    with AnthropicServer(models=("claude-x",), context_window=1_000_000) as server:
        server.script("a")
        asked = provider(server.base_url, transport)
        assert await asked.context_window("claude-x") == 1_000_000
        await events_of(asked, chat(model="claude-x"))
        assert server.requests[0].body["max_tokens"] == 32_000
        assert await asked.context_window("claude-unknown") == 200_000
        chosen = provider(server.base_url, transport, settings={"context_window": 9_000})
        assert await chosen.context_window("claude-x") == 9_000


async def test_a_server_that_is_away_leaves_the_window_to_the_table(transport: Transport) -> None:
    asked = provider("http://127.0.0.1:9", transport)
    assert await asked.context_window("claude-x") == 200_000
    assert await asked.context_window("unknown") is None


async def test_a_web_page_is_no_model_server(server: RawServer, transport: Transport) -> None:
    server.answer(b"<html><title>Welcome</title></html>", kind="text/html")
    with pytest.raises(failures.NotAnAnswer):
        await events_of(provider(server.base_url, transport))


async def test_the_test_of_a_server_passes(transport: Transport) -> None:
    with AnthropicServer(models=("claude-x", "claude-y"), key="sk-ant-1") as server:
        server.script(Turn("One, two, three."), Turn(calls=[Call("note", {"word": "ready"})]))
        asked = provider(server.base_url, transport, key="sk-ant-1")
        report = await examine(asked, probe, has_key=asked.has_key)
    states = {line.what: line.state for line in report.lines}
    assert report.usable
    for what in (Probe.REACHABLE, Probe.KEY, Probe.MODELS, Probe.STREAMING, Probe.TOOLS):
        assert states[what] is LineState.OK, what


async def test_the_test_of_a_server_names_a_wrong_key(transport: Transport) -> None:
    with AnthropicServer(key="sk-ant-1") as server:
        asked = provider(server.base_url, transport, key="sk-ant-wrong")
        report = await examine(asked, probe, has_key=asked.has_key)
    line = next(line for line in report.lines if line.what is Probe.KEY)
    assert line.state is LineState.FAILED
    assert line.params["words"] == "401 Incorrect API key provided"


async def test_signed_thinking_is_taken_back_by_the_server_that_signed_it(transport: Transport) -> None:
    with AnthropicServer() as server:
        server.script(Turn("I look.", calls=[Call("note", {"word": "a"}, id="toolu_1")], reasoning="Hm."), "Done.")
        asked = provider(server.base_url, transport)
        events = await events_of(asked, chat(tools=(NOTE,)))
        (replay,) = (event.value for event in events if isinstance(event, ReplayChunk))
        turn = AssistantTurn("I look.", (WireCall("toolu_1", "note", '{"word": "a"}'),), "Hm.", replay)
        history = (UserText("hello"), turn, ToolResult("toolu_1", "note", "noted"))
        assert text_of(await events_of(asked, chat(tools=(NOTE,), messages=history))) == "Done."
        sent = server.requests[1].body["messages"][1]["content"]
        assert sent[0] == {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}
