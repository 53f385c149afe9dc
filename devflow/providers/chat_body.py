"""The body of a chat completion, made from a `ModelRequest`.

Rules of spec 03: one system message, first; consecutive user messages folded; temperature left out unless set; always
stream. What a server does not know is left out by its `Dialect`, which the adapter also corrects as it learns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, assert_never

from devflow.domain.foreign_json import loads
from devflow.domain.request import AssistantTurn, ChatMessage, ModelRequest, ToolResult, ToolSpec, UserText, WireCall
from devflow.providers.tool_schema import sendable_schema

ADAPTER = "openai_compat"
"""Marks what `AssistantTurn.replay` holds as this adapter's."""
EXTRA = "extra_content"
"""What a server puts beside a call and wants back with it: Gemini refuses its own calls without their signatures."""


class Structured(IntEnum):
    """How far a server goes with structured output, from most to least."""

    JSON_SCHEMA = 2
    JSON_OBJECT = 1
    PROMPT_ONLY = 0


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one server's chat completions accept."""

    structured: Structured = Structured.JSON_SCHEMA
    stream_options: bool = True
    completion_limit: str = "max_tokens"
    tool_choice: bool = True
    named_tool_choice: bool = False
    temperature: bool = True
    replay_reasoning: bool = False


def chat_body(request: ModelRequest, dialect: Dialect) -> dict[str, Any]:
    """The JSON body to post."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages(request.system, request.messages, dialect),
        "stream": True,
    }
    if dialect.stream_options:
        body["stream_options"] = {"include_usage": True}
    if request.temperature is not None and dialect.temperature:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        body[dialect.completion_limit] = request.max_output_tokens
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if request.require_tool and dialect.tool_choice:
            body["tool_choice"] = _tool_choice(request, dialect)
    if request.json_schema and (shape := _response_format(request.json_schema, dialect)) is not None:
        body["response_format"] = shape
    return body


def messages(system: str, turns: Sequence[ChatMessage], dialect: Dialect) -> list[dict[str, Any]]:
    """The conversation as the wire wants it."""
    return folded(
        system,
        turns,
        assistant=lambda turn: _assistant(turn, dialect),
        result=lambda result: {"role": "tool", "tool_call_id": result.wire_id, "content": result.text},
    )


def folded(
    system: str,
    turns: Sequence[ChatMessage],
    *,
    assistant: Callable[[AssistantTurn], dict[str, Any]],
    result: Callable[[ToolResult], dict[str, Any]],
) -> list[dict[str, Any]]:
    """One system message, first; consecutive user messages as one; the rest in the words of the wire (spec 03)."""
    sent: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        match turn:
            case UserText(text):
                if sent and sent[-1]["role"] == "user":
                    sent[-1]["content"] += "\n\n" + text
                else:
                    sent.append({"role": "user", "content": text})
            case AssistantTurn():
                if turn.text or turn.calls:
                    sent.append(assistant(turn))
            case ToolResult():
                sent.append(result(turn))
            case _:
                assert_never(turn)
    return sent


def without(dialect: Dialect, body: Mapping[str, Any], complaint: str) -> Dialect | None:
    """A dialect without what a server's 400 complains about, or None if the complaint is about something else."""
    said = complaint.casefold()
    if "stream_options" in said and "stream_options" in body:
        return replace(dialect, stream_options=False)
    if "max_completion_tokens" in said and "max_tokens" in body:
        return replace(dialect, completion_limit="max_completion_tokens")
    if "max_tokens" in said and "max_completion_tokens" in body:
        return replace(dialect, completion_limit="max_tokens")
    if "response_format" in body and any(
        word in said for word in ("response_format", "json_schema", "json_object", "schema", "grammar", "structured")
    ):
        return replace(dialect, structured=Structured(dialect.structured - 1))
    if "tool_choice" in said and "tool_choice" in body:
        return replace(dialect, tool_choice=False)
    if "temperature" in said and "temperature" in body:
        return replace(dialect, temperature=False)
    return None


def _assistant(turn: AssistantTurn, dialect: Dialect) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        extras = _extras(turn)
        message["tool_calls"] = [{**_call(call), **extras.get(call.wire_id, {})} for call in turn.calls]
        if turn.reasoning and dialect.replay_reasoning:
            message["reasoning_content"] = turn.reasoning
    return message


def _call(call: WireCall) -> dict[str, Any]:
    return {
        "id": call.wire_id,
        "type": "function",
        "function": {"name": call.tool, "arguments": _sendable(call.arguments)},
    }


def _extras(turn: AssistantTurn) -> dict[str, dict[str, Any]]:
    """By the call's id, what it had beside name and arguments."""
    replay = turn.replay or {}
    extras = replay.get(EXTRA)
    if replay.get("adapter") != ADAPTER or not isinstance(extras, Mapping):
        return {}
    return {wire_id: {EXTRA: extra} for wire_id, extra in extras.items() if isinstance(extra, Mapping)}


def _sendable(arguments: str) -> str:
    """Servers parse the arguments they are sent back; what was no object would fail the whole conversation."""
    try:
        return arguments if isinstance(loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"


def _tool(spec: ToolSpec) -> dict[str, Any]:
    parameters = sendable_schema(spec.parameters)
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": parameters},
    }


def _tool_choice(request: ModelRequest, dialect: Dialect) -> object:
    """`required` is understood by more servers than a name is, and means the same for a single tool."""
    if len(request.tools) > 1 and dialect.named_tool_choice:
        return {"type": "function", "function": {"name": request.require_tool}}
    return "required"


def _response_format(json_schema: Mapping[str, Any], dialect: Dialect) -> dict[str, Any] | None:
    match dialect.structured:
        case Structured.JSON_SCHEMA:
            name, schema = next(iter(json_schema.items()))
            return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}
        case Structured.JSON_OBJECT:
            return {"type": "json_object"}
        case Structured.PROMPT_ONLY:
            return None
        case _:
            assert_never(dialect.structured)
