"""Replaying a fixture through the real adapter: over a real socket, and in pieces of any size without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.domain.provider import ProviderConfig
from devflow.domain.request import StreamEvent
from devflow.providers import failures
from devflow.providers.adapters import make_server
from devflow.providers.presets import preset
from devflow.providers.protocol import Provider
from devflow.providers.retry import Retry
from devflow.providers.transport import Incoming, Outgoing, Transport
from tests.conformance.fixture import Fixture
from tests.conformance.outcome import difference, told
from tests.fakes.raw_server import Piece, RawServer
from tests.fakes.requests import chat

ADAPTER = {"openai": "openai_compat", "anthropic": "anthropic", "ollama": "ollama"}
RESOURCES = Path(__file__).parents[2] / "resources"
AT_ONCE = Retry(random=lambda: 0.0)
BIG = 20_000
"""Bodies of more bytes come in odd pieces of some thousand where others come byte by byte."""
_ODD = 4093
_KEEP_ALIVES = {"openai": b": keep-alive\n\n", "anthropic": b'event: ping\ndata: {"type": "ping"}\n\n', "ollama": b"\n"}
_BEAT = 0.005  # seconds between keep-alives


def provider(protocol: str, transport: Transport, base_url: str, settings: Any = None, *, key: str = "") -> Provider:
    """The real adapter of a protocol."""
    config = ProviderConfig("p", "Server", ADAPTER[protocol], "custom", base_url, ("m",), settings or {})
    return make_server(config, key, transport, preset=preset(RESOURCES, "custom"), retry=AT_ONCE)


async def whole(fixture: Fixture) -> str:
    """Over a real HTTP connection, the body in one piece; returns what is wrong with the outcome, or nothing."""
    async with RawServer() as server:
        transport = Transport(connections=4)
        beats: list[asyncio.Event] = []
        for number in range(fixture.tries):
            pieces, own = _pieces(fixture, number)
            beats += own
            server.answer(
                *pieces,
                status=fixture.status,
                kind=fixture.type,
                end="cut" if fixture.then == "cut" else "close",
            )
        heart = asyncio.create_task(_beat(beats))
        try:
            wrong = await _outcome(fixture, provider(fixture.protocol, transport, server.origin, fixture.settings))
            return wrong or _counted(fixture, len(server.received))
        finally:
            heart.cancel()
            await transport.aclose()


async def in_pieces(fixture: Fixture, cut: Callable[[bytes], Iterable[bytes]], newline: bytes = b"\n") -> str:
    """Without a socket, the body cut as `cut` says, its lines ended by `newline`; returns as `whole` does."""
    transport = Replay(fixture, [tuple(cut(body.replace(b"\n", newline))) for body in fixture.bodies])
    wrong = await _outcome(fixture, provider(fixture.protocol, transport, "http://127.0.0.1:9", fixture.settings))
    return wrong or _counted(fixture, transport.asked)


def bytewise(body: bytes) -> Iterator[bytes]:
    size = 1 if len(body) < BIG else _ODD
    return (body[at : at + size] for at in range(0, len(body), size))


async def at_every_byte(fixture: Fixture, *, stride: int = 1) -> str:
    """Byte by byte, and in two parts cut at every `stride`th place."""
    if wrong := await in_pieces(fixture, bytewise):
        return wrong
    size = fixture.size
    if size >= BIG or fixture.then in ("silence", "keep-alives"):
        return ""
    for at in range(1, size, stride):
        if wrong := await in_pieces(fixture, lambda body, at=at: (body[:at], body[at:])):  # type: ignore[misc]
            return f"cut at {at}: {wrong}"
    return ""


async def with_crlf(fixture: Fixture) -> str:
    """CRLF (and, for server-sent events, CR alone, which the standard allows too): whole and byte by byte."""
    newlines = (b"\r\n", b"\r") if fixture.type == "text/event-stream" else (b"\r\n",)
    for newline in newlines:
        for cut in (lambda body: (body,), bytewise):
            if wrong := await in_pieces(fixture, cut, newline):
                return f"{newline!r}: {wrong}"
    return ""


class Replay(Transport):
    """Answers each request with its pieces, handed out one by one, over no socket."""

    def __init__(self, fixture: Fixture, answers: list[tuple[bytes, ...]]) -> None:
        super().__init__()
        self.asked = 0
        self._fixture = fixture
        self._answers = answers

    @asynccontextmanager
    async def stream(self, outgoing: Outgoing) -> AsyncGenerator[Incoming, None]:
        pieces = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        async with aclosing(self._chunks(outgoing, pieces)) as chunks:
            yield Incoming(self._fixture.status, {"content-type": self._fixture.type}, chunks)

    async def prepare(self, url: str) -> None:
        """Nothing is connected."""

    async def _chunks(self, outgoing: Outgoing, pieces: tuple[bytes, ...]) -> AsyncGenerator[bytes, None]:
        for piece in pieces:
            yield piece
        match self._fixture.then:
            case "cut":
                raise failures.cut(outgoing.server, "incomplete read")
            case "silence":
                await asyncio.Event().wait()
            case "keep-alives":
                while True:
                    await asyncio.sleep(_BEAT)
                    yield _KEEP_ALIVES[self._fixture.protocol]
            case _:
                pass


@dataclass
class _Seen:
    events: list[StreamEvent]
    failure: failures.WireFailure | None = None


async def _outcome(fixture: Fixture, asked: Provider) -> str:
    seen = _Seen([])
    try:
        async with aclosing(asked.stream(chat())) as events:
            async for event in events:
                seen.events.append(event)
    except failures.WireFailure as failure:
        seen.failure = failure
    return difference(fixture.expected, told(seen.events, seen.failure))


def _counted(fixture: Fixture, asked: int) -> str:
    return "" if asked == fixture.tries else f"asked {asked} times, not {fixture.tries}"


def _pieces(fixture: Fixture, number: int) -> tuple[list[Piece], list[asyncio.Event]]:
    body: list[Piece] = [fixture.body(number)]
    match fixture.then:
        case "silence":
            return [*body, asyncio.Event()], []
        case "keep-alives":
            beats = [asyncio.Event() for _ in range(1_000)]
            return [*body, *(piece for beat in beats for piece in (beat, _KEEP_ALIVES[fixture.protocol]))], beats
        case _:
            return body, []


async def _beat(beats: list[asyncio.Event]) -> None:
    for beat in beats:
        await asyncio.sleep(_BEAT)
        beat.set()
