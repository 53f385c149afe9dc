"""What is posted to Ollama's own chat."""

from __future__ import annotations

from typing import Any

from devflow.domain.request import (
    AssistantTurn,
    ModelRequest,
    NotUsed,
    Purpose,
    ToolResult,
    ToolSpec,
    UserText,
    WireCall,
)
from devflow.providers.chat_body import Structured
from devflow.providers.ollama_body import ollama_body

NOTE = ToolSpec("note", "Note it.", {"type": "object", "properties": {"text": {"type": "string", "maxLength": 99_999}}})


def body(*messages: Any, window: int | None = None, **fields: Any) -> dict[str, Any]:
    wanted = {"library": NotUsed("off"), "pages": NotUsed("off"), "model": "m", "system": "", **fields}
    return ollama_body(ModelRequest(messages=messages, **wanted), window=window)


def test_there_is_one_system_message_and_it_stands_first() -> None:
    sent = body(UserText("a"), UserText("b"), system="Rules.")["messages"]
    assert [(m["role"], m["content"]) for m in sent] == [("system", "Rules."), ("user", "a\n\nb")]


def test_options_are_sent_only_where_something_was_chosen() -> None:
    assert "options" not in body(UserText("q"))
    assert body(UserText("q"), window=16_384)["options"] == {"num_ctx": 16_384}
    assert body(UserText("q"), temperature=0.2, max_output_tokens=9)["options"] == {
        "num_predict": 9,
        "temperature": 0.2,
    }


def test_a_call_goes_back_as_an_object_and_its_result_by_the_tools_name() -> None:
    turn = AssistantTurn("I will.", (WireCall("c", "note", '{"text": "a"}'), WireCall("d", "note", "{not json")), "hm")
    sent = body(UserText("q"), turn, ToolResult("c", "note", "done"), ToolResult("d", "note", "failed"))["messages"]
    assert sent[1] == {
        "role": "assistant",
        "content": "I will.",
        "thinking": "hm",
        "tool_calls": [
            {"function": {"index": 0, "name": "note", "arguments": {"text": "a"}}},
            {"function": {"index": 1, "name": "note", "arguments": {}}},
        ],
    }
    assert sent[2:] == [
        {"role": "tool", "tool_name": "note", "content": "done"},
        {"role": "tool", "tool_name": "note", "content": "failed"},
    ]


def test_thinking_goes_back_only_beside_the_calls_that_came_of_it() -> None:
    assert "thinking" not in body(UserText("q"), AssistantTurn("a", reasoning="hm"))["messages"][1]


def test_titles_and_tests_are_written_without_thinking() -> None:
    without = {purpose for purpose in Purpose if body(UserText("q"), purpose=purpose).get("think") is False}
    assert without == {Purpose.TITLE, Purpose.PROBE}


def test_tools_are_left_out_for_a_model_that_has_no_use_for_them() -> None:
    with_tools = ModelRequest(NotUsed("off"), NotUsed("off"), "m", "", (UserText("q"),), tools=(NOTE,))
    assert ollama_body(with_tools)["tools"][0]["function"]["parameters"]["properties"] == {"text": {"type": "string"}}
    assert "tools" not in ollama_body(with_tools, tools=False)


def test_a_schema_is_the_format_as_far_as_the_server_goes() -> None:
    request = ModelRequest(
        NotUsed("off"), NotUsed("off"), "m", "", (UserText("q"),), json_schema={"items": {"type": "object"}}
    )
    formats = [ollama_body(request, structured=level).get("format") for level in reversed(Structured)]
    assert formats == [None, "json", {"type": "object"}]
