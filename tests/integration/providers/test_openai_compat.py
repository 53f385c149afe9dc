"""Chat completions over a real socket: streaming, stopping, retrying, failing with the server's own words."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import aclosing
from typing import Any

import pytest

from devflow.domain.errors import ProviderFailed
from devflow.domain.provider import ProviderConfig
from devflow.domain.request import ModelRequest, StreamEnd, StreamEvent, TextChunk
from devflow.providers import failures
from devflow.providers.chat_body import Structured
from devflow.providers.openai_compat import OpenAICompat
from devflow.providers.retry import Retry
from devflow.providers.transport import Network, Outgoing, Transport
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import chat
from tests.fakes.streams import DONE, chunk

AT_ONCE = Retry(random=lambda: 0.0)
HELLO = (chunk({"content": "Hel"}) + chunk({"content": "lo."}) + chunk({}, "stop") + DONE).encode()


def provider(server: RawServer, transport: Transport, *, key: str = "", **config: Any) -> OpenAICompat:
    base = {"id": "p", "name": "Server", "adapter": "openai_compat", "preset": "custom", "base_url": server.base_url}
    return OpenAICompat(ProviderConfig(**{**base, **config}), key, transport, retry=AT_ONCE)


async def events_of(asked: OpenAICompat, request: ModelRequest | None = None) -> list[StreamEvent]:
    async with aclosing(asked.stream(request or chat())) as events:
        return [event async for event in events]


async def text_of(asked: OpenAICompat, request: ModelRequest | None = None) -> str:
    return "".join(event.text for event in await events_of(asked, request) if isinstance(event, TextChunk))


async def test_text_streams_while_it_is_written(server: RawServer, transport: Transport) -> None:
    more = asyncio.Event()
    server.answer(chunk({"content": "first"}).encode(), more, HELLO)
    async with aclosing(provider(server, transport).stream(chat())) as events:
        assert await anext(events) == TextChunk("first")
        more.set()
        rest = [event async for event in events]
    assert rest[-1] == StreamEnd(rest[-1].reason, "stop")  # type: ignore[union-attr]
    request = server.received[0]
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.json["stream"] is True
    assert "authorization" not in request.headers


async def test_the_key_travels_in_its_header_only(server: RawServer, transport: Transport) -> None:
    server.answer(HELLO)
    await events_of(provider(server, transport, key="sk-secret"))
    assert server.received[0].headers["authorization"] == "Bearer sk-secret"
    assert b"sk-secret" not in server.received[0].body


# stopping -----------------------------------------------------------------------------------------------------------


async def test_a_hundred_answers_in_a_row_and_at_once_leave_the_pool_usable(
    server: RawServer, transport: Transport
) -> None:
    asked = provider(server, transport)
    for _ in range(100):
        server.answer(HELLO)
    for _ in range(40):
        assert await text_of(asked) == "Hello."
    assert await asyncio.gather(*(text_of(asked) for _ in range(60))) == ["Hello."] * 60


async def test_closing_the_transport_ends_what_is_open(server: RawServer) -> None:
    transport = Transport()
    server.answer(chunk({"content": "a"}).encode(), asyncio.Event())
    events = provider(server, transport).stream(chat())
    await anext(events)
    await transport.aclose()
    await asyncio.wait_for(server.received[0].gone.wait(), 5)
    await events.aclose()


# retrying -----------------------------------------------------------------------------------------------------------


async def test_a_connection_that_dies_before_the_first_token_is_tried_again(
    server: RawServer, transport: Transport
) -> None:
    server.answer(b": hello\n\n", end="reset")
    server.answer(HELLO)
    assert await text_of(provider(server, transport)) == "Hello."


async def test_a_kept_connection_that_the_server_closed_is_no_failure(server: RawServer, transport: Transport) -> None:
    asked = provider(server, transport)
    server.answer(HELLO)
    await text_of(asked)
    server.answer(end="cut", head=False)
    server.answer(HELLO)
    assert await text_of(asked) == "Hello."


# failing ------------------------------------------------------------------------------------------------------------


async def test_a_server_that_is_not_there_is_named_at_once(transport: Transport) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        config = ProviderConfig("p", "Ollama", "openai_compat", "ollama", nobody)
        began = time.monotonic()
        with pytest.raises(failures.Unreachable) as caught:
            await text_of(OpenAICompat(config, "", transport))
    assert f"Ollama does not answer at {nobody}: Connection refused." in str(caught.value)
    assert time.monotonic() - began < 1
    assert caught.value.retryable


@pytest.mark.parametrize(
    "status, kind",
    [
        (401, failures.KeyRefused),
        (404, failures.ModelMissing),
        (400, failures.ContextOverflow),
        (418, failures.BadRequest),
    ],
)
async def test_a_refusal_is_shown_in_the_servers_own_words(
    server: RawServer, transport: Transport, status: int, kind: type[ProviderFailed]
) -> None:
    words = "the model has a context length of 8"
    server.answer(json.dumps({"error": {"message": words}}).encode(), status=status, kind="application/json")
    with pytest.raises(kind, match=words):
        await text_of(provider(server, transport, key="sk-secret"))
    assert len(server.received) == 1


async def test_a_silent_server_is_given_up_after_its_time(server: RawServer, transport: Transport) -> None:
    server.answer(b": loading\n\n", asyncio.Event())
    with pytest.raises(failures.Silent, match="sent nothing"):
        await text_of(provider(server, transport, settings={"first_event_timeout": 0.05}))
    server.answer(chunk({"content": "a"}).encode(), asyncio.Event())
    with pytest.raises(failures.Silent):
        await text_of(provider(server, transport, settings={"event_timeout": 0.05}))


async def test_after_the_finish_reason_nothing_is_waited_for_but_the_usage(
    server: RawServer, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devflow.providers.model_server.SETTLE", 0.05)
    server.answer((chunk({"content": "a"}) + chunk({}, "stop")).encode(), asyncio.Event())
    assert await text_of(provider(server, transport)) == "a"
    server.answer((chunk({"content": "b"}) + chunk({}, "stop")).encode(), end="cut")
    assert await text_of(provider(server, transport)) == "b"


async def test_an_option_that_the_server_does_not_know_is_left_out_and_remembered(
    server: RawServer, transport: Transport
) -> None:
    asked = provider(server, transport)
    server.answer(
        b'{"error": {"message": "Unrecognized request argument: stream_options"}}', status=400, kind="application/json"
    )
    server.answer(HELLO)
    server.answer(HELLO)
    assert await text_of(asked) == "Hello."
    assert await text_of(asked) == "Hello."
    assert ["stream_options" in request.json for request in server.received] == [True, False, False]


async def test_structured_output_falls_back_and_says_how_far(server: RawServer, transport: Transport) -> None:
    asked = provider(server, transport)
    for _ in range(2):
        server.answer(
            b'{"error": {"message": "response_format is not supported"}}', status=400, kind="application/json"
        )
    server.answer(HELLO)
    await text_of(asked, chat(json_schema={"answer": {"type": "object"}}))
    shapes = [request.json.get("response_format", {}).get("type") for request in server.received]
    assert shapes == ["json_schema", "json_object", None]
    assert asked.structured is Structured.PROMPT_ONLY


# addresses ----------------------------------------------------------------------------------------------------------


async def test_a_redirect_within_the_host_is_followed_with_its_body(server: RawServer, transport: Transport) -> None:
    server.answer(status=308, headers={"Location": "/v2/chat/completions"})
    server.answer(HELLO)
    assert await text_of(provider(server, transport)) == "Hello."
    assert server.received[1].path == "/v2/chat/completions"
    assert server.received[1].json == server.received[0].json


async def test_redirects_in_a_circle_end(server: RawServer, transport: Transport) -> None:
    for _ in range(9):
        server.answer(status=307, headers={"Location": "/v1/chat/completions"})
    with pytest.raises(failures.Redirected):
        await text_of(provider(server, transport))


async def test_this_machine_is_reached_directly_whatever_the_proxy(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for network in (Network("system"), Network("manual", "http://127.0.0.1:9"), Network("none")):
        transport = Transport(network)
        server.answer(HELLO)
        assert await text_of(provider(server, transport)) == "Hello."
        await transport.aclose()


async def test_another_host_goes_through_the_proxy(server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.origin)
    for network in (Network("system"), Network("manual", server.origin)):
        transport = Transport(network)
        server.answer(b'{"data": []}', kind="application/json")
        reply = await transport.request(Outgoing("Far", "http://model.invalid/v1/models", "GET"))
        assert reply.status == 200
        assert server.received[-1].path == "http://model.invalid/v1/models"
        await transport.aclose()


async def test_without_a_proxy_another_host_is_asked_directly(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, server.origin)
    transport = Transport(Network("none"))
    with pytest.raises(failures.Unreachable, match=r"model\.invalid"):
        await transport.request(Outgoing("Far", "http://model.invalid/v1/models", "GET"))
    assert server.received == []
    await transport.aclose()


# asking around ------------------------------------------------------------------------------------------------------


async def test_models_are_listed_in_the_servers_order(server: RawServer, transport: Transport) -> None:
    server.on("/v1/models", {"data": [{"id": "b"}, {"id": "a"}, {"id": "b"}, {"no": "id"}]})
    assert await provider(server, transport).models() == ("b", "a")


@pytest.mark.parametrize(
    "preset, path, body, tokens",
    [
        ("llama_cpp", "/props", {"default_generation_settings": {"n_ctx": 4096}}, 4096),
        ("custom", "/props", {"default_generation_settings": {"n_ctx": 4096}}, 4096),
        ("lm_studio", "/api/v0/models", {"data": [{"id": "m", "loaded_context_length": 8192}]}, 8192),
        ("ollama", "/api/ps", {"models": [{"name": "m", "context_length": 2048}]}, 2048),
        ("custom", "/v1/models", {"data": [{"id": "m", "max_model_len": 16000}]}, 16000),
        ("openai", "/v1/models", {"data": [{"id": "m"}]}, 77),
    ],
)
async def test_the_context_window_is_what_the_server_allocated_or_says_or_the_tables(
    server: RawServer, transport: Transport, preset: str, path: str, body: object, tokens: int
) -> None:
    server.on(path, body)
    config = ProviderConfig("p", "Server", "openai_compat", preset, server.base_url)
    asked = OpenAICompat(config, "", transport, windows={"m": 77})
    assert await asked.context_window("m") == tokens
    before = len(server.received)
    assert await asked.context_window("m") == tokens
    assert len(server.received) == before  # it holds for a while


async def test_the_users_own_window_wins(server: RawServer, transport: Transport) -> None:
    server.on("/props", {"default_generation_settings": {"n_ctx": 4096}})
    asked = provider(server, transport, settings={"context_window": 1000, "context_windows": {"m": 500}})
    assert await asked.context_window("m") == 500
    assert await asked.context_window("other") == 1000
    assert server.received == []


async def test_an_unknown_window_is_none_and_a_dead_server_no_failure(transport: Transport) -> None:
    config = ProviderConfig("p", "Dead", "openai_compat", "custom", "http://127.0.0.1:9")
    assert await OpenAICompat(config, "", transport).context_window("m") is None
