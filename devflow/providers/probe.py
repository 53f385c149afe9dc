"""Test a server: reachable, key, models, streaming, tool calls and embeddings, each by itself, in its own words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from devflow.domain.errors import ProviderFailed
from devflow.domain.foreign_json import loads
from devflow.domain.ids import now
from devflow.domain.messages import N_
from devflow.domain.provider import LineState, Probe, TestLine, TestReport
from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ModelRequest,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    TextChunk,
    ToolSpec,
    UsageChunk,
)
from devflow.providers.embeddings import NotOffered
from devflow.providers.failures import KeyRefused, Unreachable
from devflow.providers.protocol import Server

WAIT = 120.0  # seconds for one answer: a local model may have to be loaded
QUESTION = "Count from one to ten in words."
TOOL_QUESTION = "Use the tool to note the word: ready."
EMBEDDING_WORDS = ("embed", "bge-", "e5-", "gte-", "minilm")
NOTE = ToolSpec(
    "note",
    "Note one word.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "the word"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


class ProbeRequest(Protocol):
    """Makes the request of a test (`prompt.compose_probe`): with a `tool`, the model must call it."""

    def __call__(self, model: str, text: str, *, tool: ToolSpec | None = None) -> ModelRequest: ...


@dataclass(slots=True)
class _Heard:
    """What one answer brought. Times are in seconds."""

    first: float = 0.0
    whole: float = 0.0
    chunks: int = 0
    tokens: int | None = None
    call: CallChunk | None = None
    cut: bool = False


async def examine(
    provider: Server,
    make_request: ProbeRequest,
    *,
    has_key: bool,
    progress: Callable[[TestLine], None] = lambda line: None,
    wait: float = WAIT,
) -> TestReport:
    """Ask the server everything a conversation would. `progress` gets each line as soon as it is known."""
    started, at = time.monotonic(), now()
    lines: dict[Probe, TestLine] = {}

    def say(what: Probe, state: LineState, message: str, **params: object) -> None:
        lines[what] = TestLine(what, state, message, params)
        progress(lines[what])

    def fail(what: Probe, failure: ProviderFailed) -> None:
        message, params = in_short(failure)
        say(what, LineState.FAILED, message, **params)

    listed = await _models(provider, say, fail)
    if listed is not None:
        chosen = provider.config.models
        model = _likely_chat_model(chosen) or next(iter(chosen), "") or _likely_chat_model(listed)
        if model:
            await _streaming(provider, make_request(model, QUESTION), wait, say, fail)
            await _tools(provider, make_request(model, TOOL_QUESTION, tool=NOTE), wait, say, fail)
        if listed or model:
            await _embeddings(provider, _likely_embedding_model((*chosen, *listed)), model, wait, say, fail)
        if Probe.KEY not in lines:
            if has_key:
                say(Probe.KEY, LineState.OK, N_("Accepted"))
            else:
                say(Probe.KEY, LineState.NOT_NEEDED, N_("Not needed"))
    for what in Probe:
        if what not in lines:
            say(what, LineState.SKIPPED, N_("Not tested"))
    return TestReport(at, round((time.monotonic() - started) * 1000), tuple(lines[what] for what in Probe))


def in_short(failure: ProviderFailed) -> tuple[str, dict[str, object]]:
    """A failure as a line beside its name: the server's own words where it had any, else the whole sentence."""
    words, status = failure.params.get("words"), failure.params.get("status")
    if not words:
        return failure.message, dict(failure.params)
    return "{words}", {"words": f"{status} {words}" if status else words}


_Say = Callable[..., None]
_Fail = Callable[[Probe, ProviderFailed], None]


async def _models(provider: Server, say: _Say, fail: _Fail) -> tuple[str, ...] | None:
    """The server's list; None when asking it more makes no sense."""
    await provider.prepare()
    began = time.monotonic()
    try:
        names = await provider.models()
    except Unreachable as failure:
        fail(Probe.REACHABLE, failure)
        return None
    except ProviderFailed as failure:
        say(Probe.REACHABLE, LineState.OK, N_("{ms} ms"), ms=round((time.monotonic() - began) * 1000))
        if isinstance(failure, KeyRefused):
            fail(Probe.KEY, failure)
            return None
        fail(Probe.MODELS, failure)
        return ()  # some servers list none and still answer
    say(Probe.REACHABLE, LineState.OK, N_("{ms} ms"), ms=round((time.monotonic() - began) * 1000))
    if not names:
        say(Probe.MODELS, LineState.FAILED, N_("The server has no model loaded"))
    elif len(names) > 2:
        say(Probe.MODELS, LineState.OK, N_("{names} +{more}"), names=", ".join(names[:2]), more=len(names) - 2)
    else:
        say(Probe.MODELS, LineState.OK, "{names}", names=", ".join(names))
    return names


async def _streaming(provider: Server, request: ModelRequest, wait: float, say: _Say, fail: _Fail) -> None:
    try:
        heard = await _listen(provider, request, wait)
    except ProviderFailed as failure:
        if isinstance(failure, KeyRefused):
            fail(Probe.KEY, failure)
        fail(Probe.STREAMING, failure)
        return
    except TimeoutError:
        say(Probe.STREAMING, LineState.FAILED, N_("No whole answer within {seconds} seconds"), seconds=round(wait))
        return
    seconds = f"{heard.first:.1f}"
    count, after = heard.tokens or heard.chunks, heard.whole - heard.first
    if count > 1 and after > 0:
        say(
            Probe.STREAMING,
            LineState.OK,
            N_("First token {seconds} s · {rate} tokens/s"),
            seconds=seconds,
            rate=max(1, round((count - 1) / after)),
        )
    else:
        say(Probe.STREAMING, LineState.OK, N_("First token {seconds} s"), seconds=seconds)


async def _tools(provider: Server, request: ModelRequest, wait: float, say: _Say, fail: _Fail) -> None:
    try:
        heard = await _listen(provider, request, wait)
    except ProviderFailed as failure:
        fail(Probe.TOOLS, failure)
        return
    except TimeoutError:
        say(Probe.TOOLS, LineState.FAILED, N_("No whole answer within {seconds} seconds"), seconds=round(wait))
        return
    if heard.call is None and heard.cut:
        say(Probe.TOOLS, LineState.SKIPPED, N_("It was still thinking at the end of the test"))
    elif heard.call is None:
        say(Probe.TOOLS, LineState.FAILED, N_("It answered in text instead of calling the tool"))
    elif _has_word(heard.call):
        say(Probe.TOOLS, LineState.OK, N_("Arguments came back whole"))
    else:
        say(Probe.TOOLS, LineState.FAILED, N_("It called the tool with other arguments than asked for"))


async def _embeddings(provider: Server, likely: str, model: str, wait: float, say: _Say, fail: _Fail) -> None:
    """Ask the model that looks made for it, else the one that chats: a server that has none is no worse for it."""
    name = likely or model
    embedder = provider.embedder(name)
    if embedder is None:
        say(Probe.EMBEDDINGS, LineState.NOT_NEEDED, N_("Not offered"))
        return
    try:
        async with asyncio.timeout(wait):
            (vector,) = await embedder.embed([QUESTION])
    except TimeoutError:
        say(Probe.EMBEDDINGS, LineState.FAILED, N_("No whole answer within {seconds} seconds"), seconds=round(wait))
    except ProviderFailed as failure:
        if likely and not isinstance(failure, NotOffered):
            fail(Probe.EMBEDDINGS, failure)
        else:
            say(Probe.EMBEDDINGS, LineState.NOT_NEEDED, N_("Not offered"))
    else:
        say(Probe.EMBEDDINGS, LineState.OK, N_("{name} · {count} dimensions"), name=name, count=len(vector))


async def _listen(provider: Server, request: ModelRequest, wait: float) -> _Heard:
    heard, began = _Heard(), time.monotonic()
    async with asyncio.timeout(wait), aclosing(provider.stream(request)) as events:
        async for event in events:
            match event:
                case TextChunk() | ReasoningChunk() | CallChunk():
                    heard.chunks += 1
                    heard.first = heard.first or time.monotonic() - began
                    heard.whole = time.monotonic() - began
                    if isinstance(event, CallChunk):
                        heard.call = event
                case ReplayChunk():
                    pass
                case UsageChunk(_, written):
                    heard.tokens = written
                case StreamEnd(reason):
                    heard.cut = reason is FinishReason.LENGTH
    return heard


def _has_word(call: CallChunk) -> bool:
    try:
        arguments = loads(call.arguments)
    except ValueError:
        return False
    return call.tool == NOTE.name and isinstance(arguments, dict) and isinstance(arguments.get("word"), str)


def _likely_chat_model(names: tuple[str, ...]) -> str:
    others = (*EMBEDDING_WORDS, "rerank", "whisper", "tts", "dall-e", "moderation")
    return next((name for name in names if not any(word in name.casefold() for word in others)), "")


def _likely_embedding_model(names: tuple[str, ...]) -> str:
    def fits(name: str) -> bool:
        return any(word in name for word in EMBEDDING_WORDS) and "rerank" not in name

    return next((name for name in names if fits(name.casefold())), "")
