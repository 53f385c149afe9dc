"""The parser of server-sent events: whatever comes is read, passed over or refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.request import StreamEvent
from devflow.providers.answers import Answer, Speaker
from devflow.providers.failures import NotAnAnswer, Silent, WireFailure
from devflow.providers.sse import EventTooBig, Patience, SseEvent, SseParser, events


def meaning(cut: Iterable[bytes]) -> list[StreamEvent]:
    """The events of a chat completion in these pieces."""
    parser, answer = SseParser(), Answer(Speaker("Server", "m"))
    found: list[StreamEvent] = []
    for piece in cut:
        for event in parser.feed(piece):
            found += answer.read(event.data)
    for event in parser.close():
        found += answer.read(event.data)
    return [*found, *answer.finish()]


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
    assert SseParser().feed(b"event: ping\ndata: {}\n\n") == [SseEvent("{}", "ping")]


def test_an_event_named_error_is_one_in_its_data() -> None:
    for sent, data in (
        ('{"error": 1}', '{"error": 1}'),
        ('{"a": 1}', '{"error": {"a": 1}}'),
        ("gone", '{"error": "gone"}'),
    ):
        assert SseParser().feed(f"event: error\ndata: {sent}\n\n".encode()) == [SseEvent(data, "error")]


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
