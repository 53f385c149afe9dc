"""Requests for tests of providers; in the product only `prompt.compose` makes them."""

from __future__ import annotations

from typing import Any

from devflow.domain.request import ModelRequest, NotUsed, Purpose, ToolSpec, UserText


def chat(text: str = "hello", *, model: str = "m", **fields: Any) -> ModelRequest:
    return ModelRequest(
        **{
            "library": NotUsed("off"),
            "pages": NotUsed("off"),
            "model": model,
            "system": "",
            "messages": (UserText(text),),
            **fields,
        }
    )


def probe(model: str, text: str, *, tool: ToolSpec | None = None) -> ModelRequest:
    return chat(
        text,
        model=model,
        purpose=Purpose.PROBE,
        tools=(tool,) if tool else (),
        require_tool=tool.name if tool else None,
        max_output_tokens=48,
    )
