"""The body of a request to the Messages API, made from a `ModelRequest`.

The system prompt stands beside the messages; roles take turns, so that what belongs to one is merged; every `tool_use`
is answered by a `tool_result` at the head of the next user message; `max_tokens` is never left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.request import AssistantTurn, ChatMessage, ModelRequest, ToolResult, ToolSpec, UserText
from devflow.providers.tool_schema import sendable_schema

ADAPTER = "anthropic"
"""Marks what `AssistantTurn.replay` holds as this adapter's."""

DEFAULT_LIMIT = 8_192
"""`max_tokens` for a model whose own limit nobody told, in tokens; every current one takes it."""
LIMIT_MAX = 32_000
"""More than any answer needs, though some models would take more; in tokens."""
LIMIT_MIN = 1_024
ROOM_TO_THINK = 2_048
"""Current Claude models may think before they answer, asked or not, and that counts: a title needs more than a title's
tokens."""

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Accepts:
    """What one server's Messages API takes; corrected as it complains."""

    output_format: bool = True
    tool_choice: bool = True
    temperature: bool = True


def messages_body(
    request: ModelRequest, accepts: Accepts, *, limit: int | None = None, begun: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The JSON body to post. `limit` is the model's own for an answer, in tokens.

    `begun` are the blocks of an answer that paused and is to go on.
    """
    messages = _messages(request.messages)
    if begun:
        _add(messages, "assistant", begun)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": _max_tokens(request, limit),
        "messages": messages,
        "stream": True,
    }
    if request.system.strip():
        body["system"] = request.system
    if request.temperature is not None and accepts.temperature:
        body["temperature"] = min(1.0, request.temperature)
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if request.require_tool and accepts.tool_choice:
            body["tool_choice"] = {"type": "tool", "name": request.require_tool}
    if request.json_schema and accepts.output_format:
        schema = next(iter(request.json_schema.values()))
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return body


def without(accepts: Accepts, body: Mapping[str, Any], complaint: str) -> Accepts:
    """What is left to accept after a 400's complaint; the same where it is about something else."""
    said = complaint.casefold()
    if "output_config" in body and any(word in said for word in ("output_config", "output_format", "schema")):
        return replace(accepts, output_format=False)
    if "tool_choice" in body and "tool_choice" in said:
        return replace(accepts, tool_choice=False)
    if "temperature" in body and "temperature" in said:
        return replace(accepts, temperature=False)
    return accepts


def _max_tokens(request: ModelRequest, limit: int | None) -> int:
    """Asked for, else as much as the model says that it writes, within what the window leaves."""
    if request.max_output_tokens is not None:
        return max(request.max_output_tokens, ROOM_TO_THINK if "claude" in request.model else 0)
    most = min(limit or DEFAULT_LIMIT, LIMIT_MAX)
    measure = request.measure
    if measure.window is not None:
        used = measure.system + measure.knowledge + measure.pages + measure.history
        most = min(most, max(LIMIT_MIN, measure.window - used))
    return most


def _messages(turns: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    ids = _Ids()
    for turn in turns:
        match turn:
            case UserText(text):
                _add(sent, "user", _text(text))
            case AssistantTurn():
                ids.begin(turn)
                _add(sent, "assistant", _assistant(turn, ids))
            case ToolResult(wire_id, _, text):
                block = {"type": "tool_result", "tool_use_id": ids[wire_id], "content": text}
                _add(sent, "user", (block,))
    return sent


def _add(sent: list[dict[str, Any]], role: str, blocks: Sequence[Mapping[str, Any]]) -> None:
    if not blocks:
        return
    if sent and sent[-1]["role"] == role:
        sent[-1]["content"] += blocks
    else:
        sent.append({"role": role, "content": list(blocks)})


class _Ids:
    """Ids as this API takes them: of its own alphabet, and unique in the whole request, whoever made them."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._now: dict[str, str] = {}

    def begin(self, turn: AssistantTurn) -> None:
        self._now = {}
        for call in turn.calls:
            stem = id = _NOT_IN_IDS.sub("_", call.wire_id) or "call"
            number = 1
            while id in self._taken:
                number += 1
                id = f"{stem}_{number}"
            self._taken.add(id)
            self._now[call.wire_id] = id

    def __getitem__(self, wire_id: str) -> str:
        return self._now.get(wire_id) or _NOT_IN_IDS.sub("_", wire_id)


def _assistant(turn: AssistantTurn, ids: _Ids) -> list[dict[str, Any]]:
    calls = {
        call.wire_id: {
            "type": "tool_use",
            "id": ids[call.wire_id],
            "name": call.tool,
            "input": _object(call.arguments),
        }
        for call in turn.calls
    }
    verbatim = _verbatim(turn)
    if verbatim is None:
        return [*_text(turn.text), *calls.values()]
    return [{**block, **calls[block["id"]]} if block["type"] == "tool_use" else block for block in verbatim]


def _verbatim(turn: AssistantTurn) -> list[dict[str, Any]] | None:
    """The blocks as they came, where they still say what the turn says; else they are of no use."""
    replay = turn.replay or {}
    blocks = replay.get("blocks")
    if replay.get("adapter") != ADAPTER or not isinstance(blocks, list):
        return None
    if not all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks):
        return None
    if [block.get("id") for block in blocks if block["type"] == "tool_use"] != [call.wire_id for call in turn.calls]:
        return None
    texts = [block for block in blocks if block["type"] == "text"]
    if "".join(str(block.get("text", "")) for block in texts) != turn.text:
        return None
    return [block for block in blocks if block["type"] != "text" or str(block.get("text", "")).strip()]


def _text(text: str) -> list[dict[str, Any]]:
    """A block of nothing but blanks is refused."""
    return [{"type": "text", "text": text}] if text.strip() else []


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": sendable_schema(spec.parameters)}


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
