"""The events of a streamed message as Anthropic's documentation describes them, to be put together in tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def event(value: Mapping[str, Any]) -> str:
    """One event: its name is its type."""
    return f"event: {value['type']}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"


PING = event({"type": "ping"})


def start(model: str = "m", **usage: int) -> str:
    counted = {"input_tokens": 25, "output_tokens": 1, **usage}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counted,
    }
    return event({"type": "message_start", "message": message})


def begin(index: int, block: Mapping[str, Any]) -> str:
    return event({"type": "content_block_start", "index": index, "content_block": block})


def delta(index: int, value: Mapping[str, Any]) -> str:
    return event({"type": "content_block_delta", "index": index, "delta": value})


def stop(index: int) -> str:
    return event({"type": "content_block_stop", "index": index})


def text(index: int, *pieces: str) -> str:
    deltas = "".join(delta(index, {"type": "text_delta", "text": piece}) for piece in pieces)
    return begin(index, {"type": "text", "text": ""}) + deltas + stop(index)


def thinking(index: int, *pieces: str, signature: str = "c2lnbmVk") -> str:
    deltas = "".join(delta(index, {"type": "thinking_delta", "thinking": piece}) for piece in pieces)
    signed = delta(index, {"type": "signature_delta", "signature": signature})
    return begin(index, {"type": "thinking", "thinking": "", "signature": ""}) + deltas + signed + stop(index)


def redacted(index: int, data: str = "RW5j") -> str:
    return begin(index, {"type": "redacted_thinking", "data": data}) + stop(index)


def tool(index: int, name: str, *pieces: str, id: str = "toolu_1") -> str:
    """A call; its `input` is empty at first and comes as pieces of JSON text, of which the first is empty."""
    deltas = "".join(delta(index, {"type": "input_json_delta", "partial_json": piece}) for piece in ("", *pieces))
    return begin(index, {"type": "tool_use", "id": id, "name": name, "input": {}}) + deltas + stop(index)


def end(reason: str | None = "end_turn", *, details: Mapping[str, Any] | None = None, **usage: int) -> str:
    """What stands at the end: the reason with the final counts, and the stop."""
    last: dict[str, Any] = {"stop_reason": reason, "stop_sequence": None}
    if details is not None:
        last["stop_details"] = details
    counted = {"output_tokens": 15, **usage}
    return event({"type": "message_delta", "delta": last, "usage": counted}) + event({"type": "message_stop"})


def error(kind: str, message: str) -> str:
    return event({"type": "error", "error": {"type": kind, "message": message}})
