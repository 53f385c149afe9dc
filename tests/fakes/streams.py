"""Chat completion streams in a few words: chunks, calls, the end. Whole recorded ones stand in `tests/conformance`."""

from __future__ import annotations

import json
from typing import Any


def data(value: object) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> str:
    return data(
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}],
            **more,
        }
    )


def call(**piece: Any) -> dict[str, Any]:
    """A delta with one piece of a tool call: `name` and `arguments` go into the function."""
    function = {key: piece.pop(key) for key in ("name", "arguments") if key in piece}
    return {"tool_calls": [{**piece, **({"function": function} if function else {})}]}


DONE = "data: [DONE]\n\n"
