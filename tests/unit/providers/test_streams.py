"""Every recorded stream means the same however its bytes are cut: whole, byte by byte, with CRLF, with CR."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.request import CallChunk, ReasoningChunk, StreamEvent, TextChunk
from devflow.providers.answers import Answer, Speaker
from devflow.providers.failures import NotAnAnswer, Silent, WireFailure
from devflow.providers.sse import EventTooBig, Patience, SseEvent, SseParser, events
from tests.fakes.streams import STREAMS, Stream


def meaning(cut: Iterable[bytes]) -> list[StreamEvent]:
    """The events of a stream in these pieces, with neighbouring texts joined."""
    parser, answer = SseParser(), Answer(Speaker("Server", "m"))
    found: list[StreamEvent] = []
    for piece in cut:
        for event in parser.feed(piece):
            found += answer.read(event.data)
    for event in parser.close():
        found += answer.read(event.data)
    found += answer.finish()
    return joined(found)


def joined(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    whole: list[StreamEvent] = []
    for event in events:
        last = whole[-1] if whole else None
        if isinstance(event, TextChunk) and isinstance(last, TextChunk):
            whole[-1] = TextChunk(last.text + event.text)
        elif isinstance(event, ReasoningChunk) and isinstance(last, ReasoningChunk):
            whole[-1] = ReasoningChunk(last.text + event.text)
        else:
            whole.append(event)
    return whole


def check(stream: Stream, cut: Iterable[bytes]) -> None:
    if stream.failure is not None:
        with pytest.raises(stream.failure) as caught:
            meaning(cut)
        assert stream.words in str(caught.value)
        return
    found = meaning(cut)
    own = {
        event.wire_id
        for event, wanted in zip(found, stream.events, strict=True)
        if isinstance(wanted, CallChunk) and wanted.wire_id == "*"
    }
    assert all(id.startswith("call_") for id in own)
    ids = [event.wire_id for event in found if isinstance(event, CallChunk)]
    assert len(ids) == len(set(ids))
    blank = [
        replace(event, wire_id="*") if isinstance(event, CallChunk) and event.wire_id in own else event
        for event in found
    ]
    assert blank == list(stream.events)


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_stream_means_the_same_whole_and_byte_by_byte(stream: Stream, newline: str) -> None:
    body = stream.body.replace("\n", newline).encode()
    check(stream, [body])
    check(stream, [body[i : i + 1] for i in range(len(body))])


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_a_stream_means_the_same_cut_in_two_anywhere(stream: Stream) -> None:
    body = stream.body.replace("\n", "\r\n").encode()
    for at in range(0, len(body), 7):
        check(stream, [body[:at], body[at:]])


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_nonsense_is_passed_over_or_a_typed_failure(pieces: list[bytes]) -> None:
    with contextlib.suppress(WireFailure):
        meaning(pieces)


@given(st.text(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_the_parser_does_not_care_where_bytes_are_cut(text: str, cuts: list[int]) -> None:
    body = text.encode("utf-8", "surrogatepass")
    edges = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    whole, piecewise = SseParser(), SseParser()
    expected = whole.feed(body) + whole.close()
    found: list[SseEvent] = []
    for start, end in pairwise(edges):
        found += piecewise.feed(body[start:end])
    assert found + piecewise.close() == expected


def test_an_event_over_the_cap_is_refused_and_not_kept() -> None:
    parser = SseParser(limit=1000)
    for _ in range(19):
        parser.feed(b"data: " + b"x" * 50 + b"\n")
    with pytest.raises(EventTooBig):
        parser.feed(b"data: " + b"x" * 50)


def test_event_names_are_kept() -> None:
    assert SseParser().feed(b"event: error\ndata: {}\n\n") == [SseEvent("{}", "error")]


async def pieces_of(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_comments_do_not_reset_the_watchdog() -> None:
    async def keep_alives() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0)
            yield b": still loading\n\n"

    with pytest.raises(Silent) as caught:
        async for _ in events(keep_alives(), Patience(first=0.05, between=0.05), "Server"):
            pass
    assert "sent nothing" in str(caught.value)


async def test_the_first_event_may_take_longer_than_the_next() -> None:
    async def slow_start() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        await asyncio.Event().wait()

    source = events(slow_start(), Patience(first=60, between=0.02), "Server")
    assert await anext(source) == SseEvent("1")
    with pytest.raises(Silent):
        await anext(source)


async def test_a_huge_event_is_a_typed_failure() -> None:
    piece = b"data: " + b"x" * (1024 * 1024)
    with pytest.raises(NotAnAnswer):
        async for _ in events(pieces_of(*[piece] * 10), Patience(), "Server"):
            pass
