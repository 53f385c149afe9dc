"""The wire against llama.cpp's own server with a real small model: it streams, stops, dies, and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from devflow.domain.provider import LineState, Probe, ProviderConfig
from devflow.domain.request import (
    AssistantTurn,
    CallChunk,
    FinishReason,
    StreamEnd,
    TextChunk,
    ToolResult,
    ToolSpec,
    UsageChunk,
    UserText,
    WireCall,
)
from devflow.providers import failures
from devflow.providers.anthropic import Anthropic
from devflow.providers.embeddings import NotOffered
from devflow.providers.openai_compat import OpenAICompat
from devflow.providers.probe import examine
from devflow.providers.transport import Transport
from tests.fakes.llama import CONTEXT, MODEL, LlamaServer
from tests.fakes.requests import chat, probe

pytestmark = pytest.mark.model

STORY = "Tell a long story about a lighthouse keeper and the sea."


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    with LlamaServer(embeddings=True) as running:
        yield running


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    running = Transport(connections=4)
    yield running
    await running.aclose()


def provider(server: LlamaServer, transport: Transport, *, key: str = "", **settings: Any) -> OpenAICompat:
    config = ProviderConfig("p", "llama.cpp", "openai_compat", "llama_cpp", server.base_url, (MODEL,), settings)
    return OpenAICompat(config, key, transport)


def messages_api(server: LlamaServer, transport: Transport, *, key: str = "") -> Anthropic:
    config = ProviderConfig("p", "llama.cpp", "anthropic", "custom", server.origin, (MODEL,))
    return Anthropic(config, key, transport)


async def test_it_streams_text_counts_tokens_and_ends(server: LlamaServer, transport: Transport) -> None:
    request = chat("Say hello.", model=MODEL, system="You are brief.", max_output_tokens=24)
    events = [event async for event in provider(server, transport).stream(request)]
    assert sum(isinstance(event, TextChunk) for event in events) > 1
    usage = next(event for event in events if isinstance(event, UsageChunk))
    assert usage.input_tokens
    assert usage.output_tokens
    assert isinstance(events[-1], StreamEnd)
    assert events[-1].reason in (FinishReason.STOP, FinishReason.LENGTH)


async def test_it_stops_at_once_and_answers_again(server: LlamaServer, transport: Transport) -> None:
    asked = provider(server, transport)
    for _ in range(3):
        seen = asyncio.Event()

        async def listen(seen: asyncio.Event = seen) -> None:
            async with aclosing(asked.stream(chat(STORY, model=MODEL))) as events:
                async for _ in events:
                    seen.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(seen.wait(), 30)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert time.monotonic() - began < 0.1
    events = [event async for event in asked.stream(chat("Hi.", model=MODEL, max_output_tokens=4))]
    assert isinstance(events[-1], StreamEnd)


async def test_tool_calls_arrive_whole(server: LlamaServer, transport: Transport) -> None:
    tool = ToolSpec(
        "read_file",
        "Read a file.",
        {"type": "object", "properties": {"path": {"type": "string", "maxLength": 20}}, "required": ["path"]},
    )
    request = chat("Read README.md.", model=MODEL, tools=(tool,), require_tool="read_file", max_output_tokens=128)
    events = [event async for event in provider(server, transport).stream(request)]
    call = next(event for event in events if isinstance(event, CallChunk))
    assert call.tool == "read_file"
    assert isinstance(json.loads(call.arguments)["path"], str)
    assert call.wire_id
    assert events[-1] == StreamEnd(FinishReason.TOOL_CALLS, "tool_calls")


async def test_a_tool_that_takes_very_long_texts_is_called_well(server: LlamaServer, transport: Transport) -> None:
    """Its grammar cannot hold such a limit; sent all the same, the call came back as loose text."""
    tool = ToolSpec(
        "write_file",
        "Write a file.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "enum": ["notes.txt"]},
                "content": {"type": "string", "maxLength": 1_000_000},
            },
            "required": ["path", "content"],
        },
    )
    request = chat(
        "Write one word into notes.txt.", model=MODEL, tools=(tool,), require_tool="write_file", max_output_tokens=200
    )
    with contextlib.suppress(failures.CutArguments):  # a long text is no failure of the wire
        events = [event async for event in provider(server, transport).stream(request)]
        call = next(event for event in events if isinstance(event, CallChunk))
        assert json.loads(call.arguments)["path"] == "notes.txt"


async def test_texts_become_vectors_in_batches_and_in_order(server: LlamaServer, transport: Transport) -> None:
    embedder = provider(server, transport).embedder(MODEL)
    assert embedder is not None
    words = [f"lighthouse number {number}" for number in range(40)]
    vectors = await embedder.embed(words)
    assert (len(vectors), embedder.dimension) == (40, 576)
    (again,) = await embedder.embed(words[37:38])
    assert again == pytest.approx(vectors[37], abs=1e-3)
    assert again != pytest.approx(vectors[36], abs=1e-3)
    with pytest.raises(failures.ContextOverflow, match="too long for the embedding model"):
        await embedder.embed(["word " * 4_000])


async def test_a_server_started_without_embeddings_says_so(transport: Transport) -> None:
    with LlamaServer() as server:
        embedder = provider(server, transport).embedder(MODEL)
        assert embedder is not None
        with pytest.raises(NotOffered, match="does not support embeddings"):
            await embedder.embed(["text"])


async def test_structured_output_obeys_its_schema(server: LlamaServer, transport: Transport) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    request = chat("Is water wet?", model=MODEL, json_schema={"answer": schema}, max_output_tokens=32)
    events = [event async for event in provider(server, transport).stream(request)]
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    assert isinstance(json.loads(text)["ok"], bool)


async def test_the_window_is_what_the_server_allocated(server: LlamaServer, transport: Transport) -> None:
    assert await provider(server, transport).context_window(MODEL) == CONTEXT


async def test_too_long_a_conversation_is_called_that(server: LlamaServer, transport: Transport) -> None:
    long = chat("word " * (CONTEXT * 2), model=MODEL)
    with pytest.raises(failures.ContextOverflow, match="too long for smollm2"):
        [event async for event in provider(server, transport).stream(long)]


async def test_the_test_of_a_provider_says_each_thing_by_itself(server: LlamaServer, transport: Transport) -> None:
    said = []
    report = await examine(provider(server, transport), probe, has_key=False, progress=said.append)
    states = {line.what: line.state for line in report.lines}
    assert states == {
        Probe.REACHABLE: LineState.OK,
        Probe.KEY: LineState.NOT_NEEDED,
        Probe.MODELS: LineState.OK,
        Probe.STREAMING: LineState.OK,
        Probe.TOOLS: LineState.OK,
        Probe.EMBEDDINGS: LineState.OK,
    }
    assert report.usable
    assert {line.what for line in said} == set(Probe)


async def test_it_speaks_the_messages_api_too(server: LlamaServer, transport: Transport) -> None:
    asked = messages_api(server, transport)
    request = chat("Say hello.", model=MODEL, system="You are brief.", max_output_tokens=24)
    events = [event async for event in asked.stream(request)]
    assert sum(isinstance(event, TextChunk) for event in events) > 1
    usage = next(event for event in events if isinstance(event, UsageChunk))
    assert usage.input_tokens
    assert usage.output_tokens
    assert isinstance(events[-1], StreamEnd)
    assert await asked.context_window(MODEL) == CONTEXT


async def test_a_tool_turn_works_over_the_messages_api(server: LlamaServer, transport: Transport) -> None:
    tool = ToolSpec(
        "read_file",
        "Read a file.",
        {"type": "object", "properties": {"path": {"type": "string", "maxLength": 20}}, "required": ["path"]},
    )
    asked = messages_api(server, transport)
    request = chat("Read README.md.", model=MODEL, tools=(tool,), require_tool="read_file", max_output_tokens=128)
    events = [event async for event in asked.stream(request)]
    call = next(event for event in events if isinstance(event, CallChunk))
    assert call.tool == "read_file"
    assert isinstance(json.loads(call.arguments)["path"], str)
    assert events[-1] == StreamEnd(FinishReason.TOOL_CALLS)
    turn = AssistantTurn("", (WireCall(call.wire_id, call.tool, call.arguments),))
    history = (UserText("Read README.md."), turn, ToolResult(call.wire_id, call.tool, "It says: hello."))
    answered = chat(model=MODEL, tools=(tool,), messages=history, max_output_tokens=24)
    assert isinstance([event async for event in asked.stream(answered)][-1], StreamEnd)


async def test_a_key_and_an_overflow_are_told_over_the_messages_api(transport: Transport) -> None:
    with LlamaServer(key="right-key") as server:
        with pytest.raises(failures.KeyRefused, match="refused the key"):
            [event async for event in messages_api(server, transport, key="wrong-key").stream(chat(model=MODEL))]
        long = chat("word " * (CONTEXT * 2), model=MODEL)
        with pytest.raises(failures.ContextOverflow):
            [event async for event in messages_api(server, transport, key="right-key").stream(long)]


async def test_a_death_in_the_middle_is_a_clear_sentence_and_a_retry_works(transport: Transport) -> None:
    with LlamaServer() as server:
        asked = provider(server, transport)
        heard = []

        async def listen() -> None:
            async with aclosing(asked.stream(chat(STORY, model=MODEL))) as events:
                async for event in events:
                    heard.append(event)
                    if len(heard) == 3:
                        await asyncio.to_thread(server.kill)

        with pytest.raises(failures.StreamCut) as caught:
            await listen()
        assert len(heard) >= 3
        assert str(caught.value) == "llama.cpp broke off in the middle of the answer."
        assert "retry" in caught.value.hint
        assert caught.value.retryable

        with pytest.raises(
            failures.Unreachable, match=f"llama.cpp does not answer at {server.origin}: Connection refused"
        ):
            await listen()

        await asyncio.to_thread(server.start)
        request = chat(model=MODEL, messages=(UserText("Hi."),), max_output_tokens=4)
        events = [event async for event in asked.stream(request)]
        assert isinstance(events[-1], StreamEnd)


async def test_a_key_is_demanded_refused_and_accepted(transport: Transport) -> None:
    with LlamaServer(key="right-key") as server:
        for key, words in (("", "wants a key"), ("wrong-key", "refused the key")):
            with pytest.raises(failures.KeyRefused, match=words) as caught:
                [event async for event in provider(server, transport, key=key).stream(chat(model=MODEL))]
            assert "wrong-key" not in str(caught.value)
        report = await examine(
            provider(server, transport, key="right-key"), probe, has_key=True, progress=lambda line: None
        )
        assert [line.state for line in report.lines if line.what is Probe.KEY] == [LineState.OK]
