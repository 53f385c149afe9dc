"""What is posted to Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

import pytest

from devflow.domain.request import (
    AssistantTurn,
    Measure,
    ModelRequest,
    NotUsed,
    ToolResult,
    ToolSpec,
    UserText,
    WireCall,
)
from devflow.providers.anthropic_body import DEFAULT_LIMIT, LIMIT_MAX, ROOM_TO_THINK, Accepts, messages_body, without

NOTE = ToolSpec("note", "Note it.", {"type": "object", "properties": {}})
SCHEMA = {"candidates": {"type": "object"}}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "s"}


def body(*messages: Any, limit: int | None = None, accepts: Accepts | None = None, **fields: Any) -> dict[str, Any]:
    wanted = {"library": NotUsed("off"), "pages": NotUsed("off"), "model": "m", "system": "", **fields}
    return messages_body(ModelRequest(messages=messages, **wanted), accepts or Accepts(), limit=limit)


def asked(arguments: str = "{}", wire_id: str = "toolu_1", text: str = "", **fields: Any) -> AssistantTurn:
    return AssistantTurn(text, (WireCall(wire_id, "note", arguments),), **fields)


def test_the_system_prompt_stands_beside_the_messages() -> None:
    sent = body(UserText("hi"), system="Rules.")
    assert sent["system"] == "Rules."
    assert sent["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    assert "system" not in body(UserText("hi"))


def test_it_always_streams_and_leaves_the_temperature_out_unless_set() -> None:
    assert body()["stream"] is True
    assert "temperature" not in body()
    assert body(temperature=2.0)["temperature"] == 1.0


def test_the_limit_of_the_answer_is_never_left_out() -> None:
    assert body(max_output_tokens=48)["max_tokens"] == 48
    assert body()["max_tokens"] == DEFAULT_LIMIT
    assert body(limit=4_096)["max_tokens"] == 4_096
    assert body(limit=128_000)["max_tokens"] == LIMIT_MAX


def test_a_short_answer_leaves_a_claude_model_room_to_think() -> None:
    assert body(model="claude-x", max_output_tokens=200)["max_tokens"] == ROOM_TO_THINK
    assert body(model="claude-x", max_output_tokens=4_000)["max_tokens"] == 4_000


def test_the_limit_of_the_answer_stays_within_what_the_window_leaves() -> None:
    assert body(limit=64_000, measure=Measure(system=500, history=2_500, window=8_000))["max_tokens"] == 5_000
    assert body(limit=64_000, measure=Measure(history=7_900, window=8_000))["max_tokens"] == 1_024


def test_a_result_answers_its_call_at_the_head_of_the_next_user_message() -> None:
    sent = body(
        UserText("q"), asked('{"a": 1}', text="I will."), ToolResult("toolu_1", "note", "done"), UserText("and?")
    )
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"},
                {"type": "text", "text": "and?"},
            ],
        },
    ]


def test_roles_take_turns() -> None:
    sent = body(UserText("a"), UserText("b"), AssistantTurn("c"), AssistantTurn("d"), UserText("e"))
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert [block["text"] for block in sent["messages"][0]["content"]] == ["a", "b"]


def test_blank_texts_are_left_out_because_they_are_refused() -> None:
    sent = body(UserText("q"), asked(text=" \n"), ToolResult("toolu_1", "note", "ok"))
    assert [block["type"] for block in sent["messages"][1]["content"]] == ["tool_use"]
    assert len(body(UserText("q"), AssistantTurn(""), UserText("again"))["messages"]) == 1


def test_ids_of_other_providers_are_made_acceptable_and_unique() -> None:
    turn = asked(wire_id="functions.note:0")
    result = ToolResult("functions.note:0", "note", "ok")
    sent = body(UserText("q"), turn, result, UserText("again"), turn, result)["messages"]
    calls = [block for m in sent for block in m["content"] if block["type"] == "tool_use"]
    results = [block for m in sent for block in m["content"] if block["type"] == "tool_result"]
    assert [call["id"] for call in calls] == ["functions_note_0", "functions_note_0_2"]
    assert [result["tool_use_id"] for result in results] == [call["id"] for call in calls]


def test_arguments_that_are_no_object_go_back_as_an_empty_one() -> None:
    sent = body(UserText("q"), asked("{not json"), ToolResult("toolu_1", "note", "failed"))
    assert sent["messages"][1]["content"][0]["input"] == {}


# what goes back verbatim


def blocks(text: str = "I will.") -> list[dict[str, Any]]:
    return [
        SIGNED,
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": text},
        {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"a": 1}},
    ]


def replayed(turn: AssistantTurn) -> Any:
    return body(UserText("q"), turn, ToolResult("toolu_1", "note", "ok"))["messages"][1]["content"]


def test_thinking_goes_back_verbatim_in_its_place() -> None:
    turn = asked('{"a": 1}', text="I will.", replay={"adapter": "anthropic", "blocks": blocks()})
    assert replayed(turn) == blocks()


def test_what_a_newer_api_puts_into_a_call_goes_back_too() -> None:
    newer = [*blocks()[:3], {**blocks()[3], "caller": {"type": "direct"}}]
    turn = asked('{"a": 1}', text="I will.", replay={"adapter": "anthropic", "blocks": newer})
    assert replayed(turn) == newer


def test_arguments_that_the_user_edited_go_back_as_edited() -> None:
    turn = asked('{"a": 2}', text="I will.", replay={"adapter": "anthropic", "blocks": blocks()})
    assert replayed(turn)[3]["input"] == {"a": 2}
    assert replayed(turn)[:2] == blocks()[:2]


@pytest.mark.parametrize(
    "replay",
    [
        None,
        {"adapter": "tomorrow", "blocks": blocks()},
        {"adapter": "anthropic", "blocks": blocks("something else")},
        {"adapter": "anthropic", "blocks": blocks()[:3]},
        {"adapter": "anthropic", "blocks": "nonsense"},
        {"adapter": "anthropic", "blocks": [17]},
    ],
    ids=["none", "another adapter's", "another text", "other calls", "no list", "no blocks"],
)
def test_what_does_not_belong_to_the_turn_is_dropped(replay: Any) -> None:
    turn = asked('{"a": 1}', text="I will.", replay=replay)
    assert [block["type"] for block in replayed(turn)] == ["text", "tool_use"]


def test_reasoning_without_a_signature_never_goes_back() -> None:
    assert [block["type"] for block in replayed(asked(reasoning="hm"))] == ["tool_use"]


# options


def test_tools_are_described_and_one_of_them_can_be_demanded() -> None:
    sent = body(UserText("q"), tools=(NOTE,), require_tool="note")
    assert sent["tools"] == [
        {"name": "note", "description": "Note it.", "input_schema": {"type": "object", "properties": {}}}
    ]
    assert sent["tool_choice"] == {"type": "tool", "name": "note"}
    assert "tool_choice" not in body(UserText("q"), tools=(NOTE,))


def test_a_tools_limits_are_only_those_that_a_grammar_holds() -> None:
    wide = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 1_000_000}}}
    sent = body(UserText("q"), tools=(ToolSpec("note", "", wide),))
    assert sent["tools"][0]["input_schema"]["properties"] == {"text": {"type": "string"}}


def test_a_schema_becomes_an_output_format() -> None:
    assert body(json_schema=SCHEMA)["output_config"] == {
        "format": {"type": "json_schema", "schema": {"type": "object"}}
    }


@pytest.mark.parametrize(
    "fields, complaint, gone",
    [
        ({"json_schema": SCHEMA}, "output_config: Extra inputs are not permitted", "output_config"),
        ({"json_schema": SCHEMA}, "output_format is not supported by this model", "output_config"),
        (
            {"tools": (NOTE,), "require_tool": "note"},
            "Thinking may not be enabled when tool_choice forces tool use.",
            "tool_choice",
        ),
        ({"temperature": 0.5}, "`temperature` is not supported", "temperature"),
    ],
)
def test_what_a_server_complains_about_is_left_out_the_next_time(
    fields: dict[str, Any], complaint: str, gone: str
) -> None:
    first = body(UserText("q"), **fields)
    assert gone in first
    learnt = without(Accepts(), first, complaint)
    assert gone not in body(UserText("q"), accepts=learnt, **fields)


def test_another_complaint_changes_nothing() -> None:
    assert without(Accepts(), body(json_schema=SCHEMA), "messages: roles must alternate") == Accepts()
