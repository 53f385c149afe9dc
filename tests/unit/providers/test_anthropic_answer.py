"""What a streamed message of Anthropic's API means."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UsageChunk,
)
from devflow.providers import failures
from devflow.providers.answers import Speaker
from devflow.providers.anthropic_answer import MessageAnswer
from devflow.providers.sse import SseParser
from tests.fakes import anthropic_stream as wire


def meaning(body: str, answer: MessageAnswer | None = None) -> list[StreamEvent]:
    answer = answer or MessageAnswer(Speaker("Claude", "m"))
    parser = SseParser()
    found: list[StreamEvent] = []
    for event in parser.feed(body.encode()) + parser.close():
        found += answer.read(event.data)
    return [*found, *answer.finish()]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


def test_text_comes_in_its_pieces_and_ends_with_the_counts() -> None:
    assert meaning(wire.start() + wire.text(0, "Hel", "lo.") + wire.end()) == [
        TextChunk("Hel"),
        TextChunk("lo."),
        UsageChunk(25, 15),
        StreamEnd(FinishReason.STOP),
    ]


def test_usage_is_cumulative_and_counts_what_the_cache_read_and_wrote() -> None:
    body = wire.start(input_tokens=5, cache_read_input_tokens=90, cache_creation_input_tokens=4) + wire.text(0, "a")
    assert UsageChunk(99, 7) in meaning(body + wire.end(output_tokens=7))


def test_pings_and_unknown_events_blocks_and_deltas_are_passed_over() -> None:
    body = (
        wire.PING
        + wire.start()
        + wire.event({"type": "weather", "sunny": True})
        + wire.begin(0, {"type": "text", "text": ""})
        + wire.delta(0, {"type": "mood_delta", "mood": "fine"})
        + wire.delta(7, {"type": "text_delta", "text": "of no block"})
        + wire.delta(0, {"type": "text_delta", "text": "fine"})
        + wire.stop(0)
        + "data: 17\n\ndata: no json\n\n"
        + wire.end()
    )
    assert text_of(meaning(body)) == "fine"


def test_a_call_is_assembled_from_the_pieces_of_its_input() -> None:
    body = wire.start() + wire.text(0, "I look.") + wire.tool(1, "read", '{"path": "a', '.txt"}') + wire.end("tool_use")
    events = meaning(body)
    assert CallChunk("toolu_1", "read", '{"path": "a.txt"}') in events
    assert events[-1] == StreamEnd(FinishReason.TOOL_CALLS)


def test_an_input_of_no_pieces_is_an_empty_object() -> None:
    assert CallChunk("toolu_1", "list", "{}") in meaning(wire.start() + wire.tool(0, "list") + wire.end("tool_use"))


def test_parallel_calls_keep_their_order_and_get_ids_of_their_own() -> None:
    body = wire.start() + wire.tool(0, "a", "{}", id="x") + wire.tool(1, "b", "{}", id="x") + wire.end("tool_use")
    first, second = (event for event in meaning(body) if isinstance(event, CallChunk))
    assert (first.wire_id, first.tool, second.tool) == ("x", "a", "b")
    assert second.wire_id != "x"


@pytest.mark.parametrize(
    "tail",
    [
        wire.tool(1, "write", '{"path": "a", "text": "half') + wire.end("max_tokens"),
        wire.tool(1, "write", '{"path": "a", "text": "half'),
        wire.tool(1, "write") + wire.end("max_tokens"),
        wire.begin(1, {"type": "tool_use", "id": "t", "name": "write", "input": {}}),
    ],
    ids=["at the limit", "by the end of the stream", "before its first argument", "before its end"],
)
def test_a_call_that_was_cut_fails_and_nothing_of_it_runs(tail: str) -> None:
    with pytest.raises(failures.CutArguments):
        meaning(wire.start() + wire.tool(0, "read", '{"path": "b"}', id="r") + tail)


def test_thinking_is_kept_apart_and_wanted_back_with_everything_around_it_as_it_came() -> None:
    body = (
        wire.start()
        + wire.thinking(0, "Let me", " see.")
        + wire.redacted(1)
        + wire.text(2, "I look.")
        + wire.tool(3, "read", '{"path": "a"}')
        + wire.end("tool_use")
    )
    events = meaning(body)
    assert [event.text for event in events if isinstance(event, ReasoningChunk)] == ["Let me", " see."]
    (replay,) = (event.value for event in events if isinstance(event, ReplayChunk))
    assert replay == {
        "adapter": "anthropic",
        "blocks": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "RW5j"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
        ],
    }


def test_thinking_that_is_not_shown_is_still_wanted_back() -> None:
    events = meaning(wire.start() + wire.thinking(0, signature="only") + wire.text(1, "a") + wire.end())
    assert not [event for event in events if isinstance(event, ReasoningChunk)]
    (replay,) = (event.value for event in events if isinstance(event, ReplayChunk))
    assert replay["blocks"][0] == {"type": "thinking", "thinking": "", "signature": "only"}


def test_an_answer_without_thinking_wants_nothing_back() -> None:
    body = wire.start() + wire.text(0, "a") + wire.tool(1, "read", "{}") + wire.end("tool_use")
    assert not [event for event in meaning(body) if isinstance(event, ReplayChunk)]


@pytest.mark.parametrize(
    "reason, finish",
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("refusal", FinishReason.REFUSED),
        ("a_reason_of_tomorrow", FinishReason.STOP),
    ],
)
def test_a_stop_reason_means(reason: str, finish: FinishReason) -> None:
    assert meaning(wire.start() + wire.text(0, "a") + wire.end(reason))[-1] == StreamEnd(finish)


def test_a_refusal_tells_why_and_runs_no_call() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This asks for malware."}
    events = meaning(wire.start() + wire.tool(0, "read", "{}") + wire.end("refusal", details=details))
    assert events[-1] == StreamEnd(FinishReason.REFUSED, "This asks for malware")
    assert not [event for event in events if isinstance(event, CallChunk)]


def test_a_full_context_window_is_an_overflow() -> None:
    with pytest.raises(failures.ContextOverflow):
        meaning(wire.start() + wire.text(0, "a") + wire.end("model_context_window_exceeded"))


def test_a_stream_that_ends_without_a_reason_is_a_failure() -> None:
    with pytest.raises(failures.NoFinish):
        meaning(wire.start() + wire.text(0, "half an ans"))


def test_an_answer_that_pauses_has_no_end_and_reads_on_as_one() -> None:
    first = MessageAnswer(Speaker("Claude", "m"))
    search = wire.begin(1, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})
    asked = wire.delta(1, {"type": "input_json_delta", "partial_json": '{"query": "x"}'})
    events = meaning(
        wire.start() + wire.text(0, "One, ") + search + asked + wire.stop(1) + wire.end("pause_turn"), first
    )
    assert events == [TextChunk("One, ")]
    assert first.paused
    assert first.blocks[1] == {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    second = MessageAnswer(Speaker("Claude", "m"), first.blocks, first.written)
    events = meaning(wire.start() + wire.text(0, "two.") + wire.end(output_tokens=4), second)
    assert UsageChunk(25, 19) in events
    (replay,) = (event.value for event in events if isinstance(event, ReplayChunk))
    assert [block["type"] for block in replay["blocks"]] == ["text", "server_tool_use", "text"]


@pytest.mark.parametrize(
    "kind, failure",
    [
        ("overloaded_error", failures.ServerError),
        ("api_error", failures.ServerError),
        ("timeout_error", failures.ServerError),
        ("rate_limit_error", failures.RateLimited),
        ("authentication_error", failures.KeyRefused),
        ("permission_error", failures.KeyRefused),
        ("billing_error", failures.NoCredit),
        ("invalid_request_error", failures.BadRequest),
        ("request_too_large", failures.BadRequest),
    ],
)
def test_an_error_at_the_head_of_the_stream_is_what_its_status_would_have_been(
    kind: str, failure: type[failures.WireFailure]
) -> None:
    with pytest.raises(failure) as raised:
        meaning(wire.start() + wire.PING + wire.error(kind, "It says why."))
    assert "It says why" in str(raised.value.params["words"])


@pytest.mark.parametrize("kind", ["overloaded_error", "api_error", "rate_limit_error", "an_error_of_tomorrow"])
def test_what_passes_by_itself_breaks_the_stream_once_something_has_come(kind: str) -> None:
    with pytest.raises(failures.StreamCut) as raised:
        meaning(wire.start() + wire.text(0, "half") + wire.error(kind, "Overloaded"))
    assert raised.value.retryable


def test_an_invalid_key_in_the_middle_is_still_an_invalid_key() -> None:
    with pytest.raises(failures.KeyRefused):
        meaning(wire.start() + wire.text(0, "half") + wire.error("authentication_error", "revoked"))


def test_a_whole_message_is_read_where_a_server_does_not_stream() -> None:
    answer = MessageAnswer(Speaker("Claude", "m"))
    whole = (
        '{"type": "message", "content": [{"type": "text", "text": "all"}, {"type": "tool_use", "id": "t", "name":'
        ' "read", "input": {"path": "a"}}], "stop_reason": "tool_use", "usage": {"output_tokens": 2}}'
    )
    assert [*answer.read(whole), *answer.finish()] == [
        TextChunk("all"),
        CallChunk("t", "read", '{"path": "a"}'),
        UsageChunk(None, 2),
        StreamEnd(FinishReason.TOOL_CALLS),
    ]


_JSON = st.sampled_from([None, True, 0, -1, 10**30, "", "text", "\ud800", [], [1], {}, {"type": "text"}, {"text": 3}])


@settings(deadline=None)  # a busy machine is no bug
@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["message_start", "content_block_start", "content_block_delta", "message_delta"])},
            optional={
                "index": _JSON,
                "content_block": _JSON | st.fixed_dictionaries({"type": _JSON, "input": _JSON, "text": _JSON}),
                "delta": _JSON | st.fixed_dictionaries({"type": st.just("text_delta"), "text": _JSON}),
                "usage": _JSON,
                "message": _JSON,
            },
        ),
        max_size=6,
    )
)
def test_events_of_any_shape_are_passed_over_or_a_typed_failure(events: list[dict[str, object]]) -> None:
    with contextlib.suppress(failures.WireFailure):
        meaning("".join(f"data: {json.dumps(event)}\n\n" for event in events) + wire.end())
