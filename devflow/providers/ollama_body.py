"""The body of a request to Ollama's own chat, made from a `ModelRequest`.

`num_ctx` is sent only where the user chose a window: a server loads the model anew for another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from devflow.domain.foreign_json import loads
from devflow.domain.request import (
    AssistantTurn,
    ChatMessage,
    ModelRequest,
    Purpose,
    ToolSpec,
    WireCall,
)
from devflow.providers.chat_body import Structured, folded
from devflow.providers.tool_schema import sendable_schema


def ollama_body(
    request: ModelRequest,
    *,
    window: int | None = None,
    tools: bool = True,
    structured: Structured = Structured.JSON_SCHEMA,
    think: bool = True,
) -> dict[str, Any]:
    """The JSON body to post.

    `window` is the user's own choice in tokens; `tools`: whether the model has any use; `think`: whether the server
    takes it that a model shall not think, which titles and tests have no time for.
    """
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request.system, request.messages),
        "stream": True,
    }
    options: dict[str, Any] = {}
    if window is not None:
        options["num_ctx"] = window
    if request.max_output_tokens is not None:
        options["num_predict"] = request.max_output_tokens
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if options:
        body["options"] = options
    if request.tools and tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    if think and request.purpose in (Purpose.TITLE, Purpose.PROBE):
        body["think"] = False
    if request.json_schema:
        schema = next(iter(request.json_schema.values()))
        match structured:
            case Structured.JSON_SCHEMA:
                body["format"] = schema
            case Structured.JSON_OBJECT:
                body["format"] = "json"
            case Structured.PROMPT_ONLY:
                pass
            case _:
                assert_never(structured)
    return body


def _messages(system: str, turns: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    return folded(
        system,
        turns,
        assistant=_assistant,
        result=lambda result: {"role": "tool", "tool_name": result.tool, "content": result.text},
    )


def _assistant(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [_call(index, call) for index, call in enumerate(turn.calls)]
        if turn.reasoning:
            message["thinking"] = turn.reasoning
    return message


def _call(index: int, call: WireCall) -> dict[str, Any]:
    return {"function": {"index": index, "name": call.tool, "arguments": _object(call.arguments)}}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": sendable_schema(spec.parameters),
        },
    }


def _object(arguments: str) -> Mapping[str, Any]:
    """Arguments go back as an object, as they came."""
    try:
        value = loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
