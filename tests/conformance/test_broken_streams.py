"""Streams that no server was seen to send: recorded ones, damaged. What comes is an answer or a typed failure."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.request import CallChunk, ReasoningChunk, StreamEnd, StreamEvent, TextChunk
from devflow.domain.text.storable import is_storable
from devflow.providers.failures import WireFailure
from tests.conformance.fixture import PROTOCOLS, Fixture, fixtures
from tests.conformance.replay import Replay, provider
from tests.fakes.requests import chat

SMALL = {
    protocol: [one for one in fixtures(protocol) if one.size < 5_000 and one.then in ("end", "cut")]
    for protocol in PROTOCOLS
}
VALUES: list[Any] = [None, True, -1, 10**400, 1.5, "", "x", "\ud83d", "\x00", [], [None], {}, {"a": []}]


@st.composite
def damaged(draw: st.DrawFn, fixture: Fixture) -> bytes:
    """Lines of the body lost, doubled, swapped, cut, or with a value replaced by one of another shape."""
    lines = fixture.body(0).split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["lose", "double", "swap", "cut", "flip", "reshape", "reshape"])):
            case "lose":
                lines[at : at + 1] = [] if len(lines) > 1 else [b""]
            case "double":
                lines.insert(at, lines[at])
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "flip":
                if lines[at]:
                    place = draw(st.integers(0, len(lines[at]) - 1))
                    lines[at] = lines[at][:place] + draw(st.binary(min_size=1, max_size=2)) + lines[at][place + 1 :]
            case _:
                lines[at] = draw(reshaped(lines[at]))
    return b"\n".join(lines)


@st.composite
def reshaped(draw: st.DrawFn, line: bytes) -> bytes:
    head, brace, rest = line.partition(b"{")
    try:
        value = json.loads(brace + rest)
    except ValueError:
        return line
    parent: Any = None
    key: Any = None
    inner = value
    while isinstance(inner, dict | list) and inner and (parent is None or draw(st.booleans())):
        parent, key = inner, draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        inner = parent[key]
    if parent is not None:
        parent[key] = draw(st.sampled_from(VALUES))
    return head + json.dumps(value).encode()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_a_damaged_stream_is_an_answer_or_a_typed_failure(protocol: str, data: st.DataObject) -> None:
    fixture = data.draw(st.sampled_from(SMALL[protocol]), label="fixture")
    body = data.draw(damaged(fixture), label="body")
    events, failure = asyncio.run(_read(fixture, body))
    ends = [event for event in events if isinstance(event, StreamEnd)]
    assert len(ends) == (failure is None)
    assert failure is not None or isinstance(events[-1], StreamEnd)
    if failure is not None:
        assert not any(isinstance(event, CallChunk) for event in events)
        assert is_storable(str(failure))
    for event in events:
        match event:
            case TextChunk(text) | ReasoningChunk(text):
                assert text
                assert is_storable(text)
            case CallChunk(wire_id, tool, arguments):
                assert wire_id
                assert tool
                assert is_storable(wire_id + tool + arguments)
            case _:
                pass
    ids = [event.wire_id for event in events if isinstance(event, CallChunk)]
    assert len(ids) == len(set(ids))


async def _read(fixture: Fixture, body: bytes) -> tuple[list[StreamEvent], WireFailure | None]:
    asked = provider(fixture.protocol, Replay(fixture, [(body,)]), "http://127.0.0.1:9")
    events: list[StreamEvent] = []
    try:
        async with aclosing(asked.stream(chat())) as stream:
            async for event in stream:
                events.append(event)  # noqa: PERF401 - what came before a failure counts
    except WireFailure as failure:
        return events, failure
    return events, None
