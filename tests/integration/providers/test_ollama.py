"""Ollama's own API over a real socket: lines, tools, windows, capabilities, and the test of a server."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from devflow.domain.provider import LineState, Probe, ProviderConfig
from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ModelRequest,
    Purpose,
    ReasoningChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UsageChunk,
)
from devflow.providers import failures
from devflow.providers.ollama import Ollama
from devflow.providers.probe import NOTE, examine
from devflow.providers.retry import Retry
from devflow.providers.transport import Transport
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.openai_server import Call, Turn
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import chat, probe

AT_ONCE = Retry(random=lambda: 0.0)
LINES = "application/x-ndjson"


def line(content: str = "", *, done: str | None = None, **message: Any) -> bytes:
    value: dict[str, Any] = {"model": "m", "message": {"role": "assistant", "content": content, **message}}
    value["done"] = done is not None
    if done is not None:
        value |= {"done_reason": done, "prompt_eval_count": 26, "eval_count": 9}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def provider(base_url: str, transport: Transport, **config: Any) -> Ollama:
    base = {"id": "p", "name": "Ollama", "adapter": "ollama", "preset": "ollama", "base_url": base_url}
    return Ollama(ProviderConfig(**{**base, **config}), "", transport, retry=AT_ONCE)


async def events_of(asked: Ollama, request: ModelRequest | None = None) -> list[StreamEvent]:
    async with aclosing(asked.stream(request or chat())) as events:
        return [event async for event in events]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/api", "/api/chat", "/v1/chat/completions"])
async def test_every_form_of_the_address_leads_to_its_own_chat(
    end: str, server: RawServer, transport: Transport
) -> None:
    server.answer(line("Hello."), line(done="stop"), kind=LINES)
    assert text_of(await events_of(provider(server.origin + end, transport))) == "Hello."
    assert server.received[0].path == "/api/chat"


async def test_text_thinking_and_counts_come_in_their_pieces(server: RawServer, transport: Transport) -> None:
    server.answer(
        line(thinking="Let me"), line(thinking=" see."), line("好"), line("的"), line(done="stop"), kind=LINES
    )
    assert await events_of(provider(server.origin, transport)) == [
        ReasoningChunk("Let me"),
        ReasoningChunk(" see."),
        TextChunk("好"),
        TextChunk("的"),
        UsageChunk(26, 9),
        StreamEnd(FinishReason.STOP, "stop"),
    ]


async def test_lines_may_be_cut_anywhere_and_the_last_may_lack_its_end(server: RawServer, transport: Transport) -> None:
    body = (line("好的 👍") + b"\n" + line(done="stop")).replace(b"\n", b"\r\n").rstrip()
    server.answer(*[body[i : i + 1] for i in range(len(body))], kind=LINES)
    assert text_of(await events_of(provider(server.origin, transport))) == "好的 👍"


async def test_calls_come_whole_with_arguments_as_objects(server: RawServer, transport: Transport) -> None:
    calls = [
        {"function": {"index": 0, "name": "read", "arguments": {"path": "a"}}},
        {"function": {"index": 1, "name": "read", "arguments": {"path": "b"}}},
    ]
    more = [{"function": {"name": "list", "arguments": {}}}]
    server.answer(line(tool_calls=calls), line(tool_calls=more), line(done="stop"), kind=LINES)
    events = await events_of(provider(server.origin, transport))
    found = [event for event in events if isinstance(event, CallChunk)]
    assert [(call.tool, call.arguments) for call in found] == [
        ("read", '{"path": "a"}'),
        ("read", '{"path": "b"}'),
        ("list", "{}"),
    ]
    assert len({call.wire_id for call in found}) == 3
    assert events[-1] == StreamEnd(FinishReason.TOOL_CALLS, "stop")


async def test_an_answer_at_its_limit_is_cut(server: RawServer, transport: Transport) -> None:
    server.answer(line("half"), line(done="length"), kind=LINES)
    assert (await events_of(provider(server.origin, transport)))[-1] == StreamEnd(FinishReason.LENGTH, "length")


async def test_a_text_without_its_last_line_is_a_failure(server: RawServer, transport: Transport) -> None:
    server.answer(line("half of it"), kind=LINES)
    with pytest.raises(failures.NoFinish):
        await events_of(provider(server.origin, transport))


async def test_whole_calls_without_the_last_line_are_a_tool_turn(server: RawServer, transport: Transport) -> None:
    server.answer(line(tool_calls=[{"function": {"name": "list", "arguments": {}}}]), kind=LINES)
    *_, end = await events_of(provider(server.origin, transport))
    assert end == StreamEnd(FinishReason.TOOL_CALLS)


async def test_an_error_in_the_middle_of_a_stream_is_told_in_the_servers_words(
    server: RawServer, transport: Transport
) -> None:
    server.answer(line("half"), b'{"error": "llama runner process has terminated"}\n', kind=LINES)
    with pytest.raises(failures.StreamCut) as raised:
        await events_of(provider(server.origin, transport))
    assert raised.value.params["words"] == "llama runner process has terminated"


async def test_a_model_that_was_only_loaded_is_asked_again(server: RawServer, transport: Transport) -> None:
    server.answer(line(done="load"), kind=LINES)
    server.answer(line("Hello."), line(done="stop"), kind=LINES)
    assert text_of(await events_of(provider(server.origin, transport))) == "Hello."


async def test_a_missing_model_is_named(server: RawServer, transport: Transport) -> None:
    server.answer(b'{"error": "model \'m\' not found"}', status=404, kind="application/json")
    with pytest.raises(failures.ModelMissing):
        await events_of(provider(server.origin, transport))


async def test_a_model_without_tools_is_asked_without_them(server: RawServer, transport: Transport) -> None:
    words = b'{"error": "registry.ollama.ai/library/m:latest does not support tools"}'
    server.answer(words, status=400, kind="application/json")
    server.answer(line("Hello."), line(done="stop"), kind=LINES)
    server.answer(line("Again."), line(done="stop"), kind=LINES)
    asked = provider(server.origin, transport)
    assert text_of(await events_of(asked, chat(tools=(NOTE,)))) == "Hello."
    assert text_of(await events_of(asked, chat(tools=(NOTE,)))) == "Again."
    assert ["tools" in received.json for received in server.received] == [True, False, False]


async def test_a_server_that_knows_no_thinking_is_asked_without_a_word_of_it(
    server: RawServer, transport: Transport
) -> None:
    server.answer(b'{"error": "\\"m\\" does not support thinking"}', status=400, kind="application/json")
    server.answer(line("A title"), line(done="stop"), kind=LINES)
    assert text_of(await events_of(provider(server.origin, transport), chat(purpose=Purpose.TITLE))) == "A title"
    assert ["think" in received.json for received in server.received] == [True, False]


async def test_the_window_is_sent_only_where_the_user_chose_one(server: RawServer, transport: Transport) -> None:
    for _ in range(2):
        server.answer(line("a"), line(done="stop"), kind=LINES)
    await events_of(provider(server.origin, transport))
    chosen = provider(server.origin, transport, settings={"context_windows": {"m": 16_384}})
    await events_of(chosen, chat(temperature=0.0, max_output_tokens=48))
    assert "options" not in server.received[0].json
    assert server.received[1].json["options"] == {"num_ctx": 16_384, "num_predict": 48, "temperature": 0.0}


async def test_a_schema_is_the_format_and_falls_back_to_json(server: RawServer, transport: Transport) -> None:
    server.answer(b'{"error": "invalid format: expected \\"json\\" or a JSON Schema"}', status=400, kind="text/plain")
    server.answer(line("{}"), line(done="stop"), kind=LINES)
    await events_of(provider(server.origin, transport), chat(json_schema={"items": {"type": "object"}}))
    assert [received.json["format"] for received in server.received] == [{"type": "object"}, "json"]


async def test_the_window_is_what_the_server_has_really_allocated(transport: Transport) -> None:
    with OllamaServer(models=("m:latest",), context_window=8_192) as server:
        server.loaded.add("m:latest")
        asked = provider(server.base_url, transport)
        assert await asked.context_window("m:latest") == 8_192
        assert await asked.context_window("m") == 8_192


async def test_a_model_of_which_nothing_is_known_is_loaded_to_know_its_window(transport: Transport) -> None:
    with OllamaServer(models=("m",), context_window=4_096) as server:
        assert await provider(server.base_url, transport).context_window("m") == 4_096
        assert server.loaded == {"m"}
        assert await provider(server.base_url, transport).context_window("nobody") is None


async def test_a_chosen_window_asks_nothing_of_the_server(transport: Transport) -> None:
    with OllamaServer(models=("m",), context_window=4_096) as server:
        asked = provider(server.base_url, transport, settings={"context_window": 32_768})
        assert await asked.context_window("m") == 32_768
        assert server.loaded == set()


async def test_the_window_of_a_model_that_was_put_away_is_what_it_last_was(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devflow.providers.model_server._WINDOW_HOLDS", -1.0)
    with OllamaServer(models=("m",), context_window=8_192) as server:
        asked = provider(server.base_url, transport)
        server.loaded.add("m")
        assert await asked.context_window("m") == 8_192
        server.loaded.clear()
        assert await asked.context_window("m") == 8_192


async def test_a_window_that_the_models_own_file_asks_for_is_known_before_it_is_loaded(transport: Transport) -> None:
    with OllamaServer(models=("m",)) as server:
        server.num_ctx = 12_288
        assert await provider(server.base_url, transport).context_window("m") == 12_288
        assert server.loaded == set()


async def test_a_model_that_says_it_has_no_tools_is_never_sent_any(transport: Transport) -> None:
    with OllamaServer(models=("m",)) as server:
        server.capabilities = ("completion",)
        server.script("a")
        asked = provider(server.base_url, transport)
        await asked.context_window("m")
        await events_of(asked, chat(tools=(NOTE,)))
        assert "tools" not in server.requests[0].body


async def test_the_test_of_a_server_passes(transport: Transport) -> None:
    with OllamaServer(models=("qwen3:8b",)) as server:
        server.script(Turn("One, two, three."), Turn(calls=[Call("note", {"word": "ready"})]))
        asked = provider(server.base_url, transport)
        report = await examine(asked, probe, has_key=asked.has_key)
    states = {line.what: line.state for line in report.lines}
    assert report.usable
    assert states[Probe.KEY] is LineState.NOT_NEEDED
    for what in (Probe.REACHABLE, Probe.MODELS, Probe.STREAMING, Probe.TOOLS):
        assert states[what] is LineState.OK, what


async def test_a_server_that_is_away_is_unreachable_and_has_no_window(transport: Transport) -> None:
    asked = provider("http://127.0.0.1:9", transport)
    assert await asked.context_window("m") is None
    with pytest.raises(failures.Unreachable):
        await events_of(asked)
