from typing import Any

import pytest

from devflow.domain.request import AssistantTurn, ModelRequest, NotUsed, ToolResult, ToolSpec, UserText, WireCall
from devflow.providers.chat_body import Dialect, Structured, chat_body, without

NOTE = ToolSpec("note", "Note it.", {"type": "object", "properties": {}})


def body(dialect: Dialect | None = None, **fields: Any) -> dict[str, Any]:
    wanted = {"library": NotUsed("off"), "pages": NotUsed("off"), "model": "m", "system": "", "messages": (), **fields}
    return chat_body(ModelRequest(**wanted), dialect or Dialect())


def test_there_is_one_system_message_and_it_stands_first() -> None:
    sent = body(system="Rules.", messages=(UserText("hi"),))["messages"]
    assert [m["role"] for m in sent] == ["system", "user"]
    assert body(messages=(UserText("hi"),))["messages"][0]["role"] == "user"


def test_consecutive_user_messages_are_folded() -> None:
    sent = body(messages=(UserText("a"), UserText("b"), AssistantTurn("c"), UserText("d")))["messages"]
    assert [(m["role"], m["content"]) for m in sent] == [("user", "a\n\nb"), ("assistant", "c"), ("user", "d")]


def test_calls_and_their_results_go_back_as_they_came() -> None:
    turn = AssistantTurn("", (WireCall("c1", "note", '{"a": 1}'), WireCall("c2", "note", "{not json")))
    sent = body(messages=(UserText("q"), turn, ToolResult("c1", "note", "done"), ToolResult("c2", "note", "failed")))
    assistant, first, second = sent["messages"][1:]
    assert assistant["content"] is None
    assert [call["function"]["arguments"] for call in assistant["tool_calls"]] == ['{"a": 1}', "{}"]
    assert (first["role"], first["tool_call_id"], second["tool_call_id"]) == ("tool", "c1", "c2")


def test_an_answer_that_was_cut_before_its_first_word_is_left_out() -> None:
    assert [m["role"] for m in body(messages=(UserText("q"), AssistantTurn(""), UserText("again")))["messages"]] == [
        "user"
    ]


def test_reasoning_is_replayed_only_where_the_server_wants_it() -> None:
    turns = (UserText("q"), AssistantTurn("", (WireCall("c", "note", "{}"),), "because"), ToolResult("c", "note", "ok"))
    assert "reasoning_content" not in body(messages=turns)["messages"][1]
    assert body(Dialect(replay_reasoning=True), messages=turns)["messages"][1]["reasoning_content"] == "because"


def test_it_always_streams_and_leaves_the_temperature_out_unless_set() -> None:
    assert body()["stream"] is True
    assert "temperature" not in body()
    assert body(temperature=0.0)["temperature"] == 0.0


def test_a_schema_becomes_a_response_format_as_far_as_the_server_goes() -> None:
    schema = {"items": {"type": "object"}}
    full = body(json_schema=schema)["response_format"]
    assert full == {
        "type": "json_schema",
        "json_schema": {"name": "items", "schema": {"type": "object"}, "strict": True},
    }
    assert body(Dialect(structured=Structured.JSON_OBJECT), json_schema=schema)["response_format"] == {
        "type": "json_object"
    }
    assert "response_format" not in body(Dialect(structured=Structured.PROMPT_ONLY), json_schema=schema)


def test_a_required_tool_is_asked_for_in_the_words_most_servers_know() -> None:
    assert body(tools=(NOTE,), require_tool="note")["tool_choice"] == "required"
    assert "tool_choice" not in body(Dialect(tool_choice=False), tools=(NOTE,), require_tool="note")
    assert "tool_choice" not in body(tools=(NOTE,))


@pytest.mark.parametrize(
    "fields, complaint, gone",
    [
        ({}, "Unknown parameter: stream_options", {"stream_options": False}),
        (
            {"max_output_tokens": 5},
            "use 'max_completion_tokens' instead of 'max_tokens'",
            {"completion_limit": "max_completion_tokens"},
        ),
        (
            {"json_schema": {"a": {}}},
            "response_format type json_schema is unavailable",
            {"structured": Structured.JSON_OBJECT},
        ),
        (
            {"tools": (NOTE,), "require_tool": "note"},
            "tool_choice is not supported in thinking mode",
            {"tool_choice": False},
        ),
        ({"temperature": 1.0}, "Unsupported value: 'temperature'", {"temperature": False}),
    ],
)
def test_what_a_server_complains_about_is_left_out(
    fields: dict[str, Any], complaint: str, gone: dict[str, Any]
) -> None:
    learnt = without(Dialect(), body(**fields), complaint)
    assert learnt is not None
    assert {name: getattr(learnt, name) for name in gone} == gone


def test_a_complaint_about_something_else_teaches_nothing() -> None:
    assert without(Dialect(), body(), "messages must alternate") is None
    assert without(Dialect(), body(), "temperature is too high") is None


def test_structured_output_falls_back_step_by_step() -> None:
    schema = {"a": {}}
    first = without(Dialect(), body(json_schema=schema), "json_schema unsupported")
    assert first is not None
    second = without(first, body(first, json_schema=schema), "response_format unsupported")
    assert second is not None
    assert second.structured is Structured.PROMPT_ONLY
    assert without(second, body(second, json_schema=schema), "response_format unsupported") is None
