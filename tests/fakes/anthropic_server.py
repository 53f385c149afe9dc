"""A server that speaks Anthropic's Messages API from a script, as `openai_server` speaks OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fakes import anthropic_stream as wire
from tests.fakes.openai_server import Gate, Handler, OpenAIServer, Request, Turn, pieces_of

SIGNATURE = "c2lnbmVkIGJ5IHRoZSBzZXJ2ZXI="
"""Signs whatever thinking a turn has."""


@dataclass(frozen=True)
class AnthropicRequest(Request):
    @property
    def system(self) -> str:
        return str(self.body.get("system", ""))

    @property
    def last_user(self) -> str:
        return next((text for text in reversed(self._texts("user"))), "")

    @property
    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.body.get("tools", [])]

    @property
    def tool_results(self) -> list[str]:
        return [block["content"] for block in self.blocks("user") if block["type"] == "tool_result"]

    @property
    def purpose(self) -> str:
        return "extraction" if "output_config" in self.body else super().purpose

    def blocks(self, role: str) -> list[dict[str, Any]]:
        """All blocks of one role, in order."""
        return [block for message in self.messages if message["role"] == role for block in message["content"]]

    def _texts(self, role: str) -> list[str]:
        return [block["text"] for block in self.blocks(role) if block["type"] == "text"]


class _Handler(Handler):
    endpoint = "/v1/messages"
    request_type = AnthropicRequest

    def key_given(self) -> str:
        return str(self.headers.get("x-api-key", ""))

    def look_up(self, body: Mapping[str, Any]) -> Any:
        """The list, in pages of `limit` from behind `after_id`, or one model."""
        parts = urlsplit(self.path)
        if self.headers.get("anthropic-version") is None:
            return None
        script = self.server.script
        if parts.path.startswith("/v1/models/"):
            name = unquote(parts.path.removeprefix("/v1/models/"))
            return self._model(name) if name in script.models else None
        if parts.path != "/v1/models":
            return None
        query = parse_qs(parts.query)
        size = min(int(query.get("limit", ["20"])[0]), PAGE)
        after = query.get("after_id", [""])[0]
        start = script.models.index(after) + 1 if after else 0
        page = script.models[start : start + size]
        return {
            "data": [self._model(name) for name in page],
            "first_id": page[0] if page else None,
            "last_id": page[-1] if page else None,
            "has_more": start + size < len(script.models),
        }

    def error(self, words: str, kind: str) -> Any:
        kind = {"invalid_api_key": "authentication_error", "scripted": "api_error"}.get(kind, f"{kind}_error")
        return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}

    def events(self, request: Any, turn: Turn) -> Sequence[str | Gate | None]:
        refused = problem_of(request.body)
        if refused:
            return [wire.error("invalid_request_error", refused)]
        read, written = turn.usage or (0, 0)
        out: list[str | Gate | None] = [wire.start(request.body["model"], input_tokens=read), wire.PING]
        index = 0
        if turn.reasoning:
            out.append(wire.thinking(index, turn.reasoning, signature=SIGNATURE))
            index += 1
        pieces = pieces_of(turn.text)
        if pieces:
            out.append(wire.begin(index, {"type": "text", "text": ""}))
            out += [p if isinstance(p, Gate) else wire.delta(index, {"type": "text_delta", "text": p}) for p in pieces]
            out.append(wire.stop(index))
            index += 1
        for number, call in enumerate(turn.calls):
            text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            id = call.id or f"toolu_{abs(hash((request.at, number))) % 10**8}"
            out.append(wire.tool(index, call.tool, text[: len(text) // 2], text[len(text) // 2 :], id=id))
            index += 1
        if turn.break_with:
            return [*out, wire.error("overloaded_error", turn.break_with)]
        if turn.cut:
            return [*out, None]
        return [*out, wire.end(turn.finish or ("tool_use" if turn.calls else "end_turn"), output_tokens=written)]

    def _model(self, name: str) -> dict[str, Any]:
        window = self.server.script.context_window
        return {
            "type": "model",
            "id": name,
            "display_name": name.title(),
            "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": window,
            "max_tokens": 64_000,
        }


PAGE = 2
"""Models in one page, however many were asked for."""


class AnthropicServer(OpenAIServer):
    """`key` is demanded as `x-api-key`; `context_window` is what it says of each model."""

    handler = _Handler

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def problem_of(body: Mapping[str, Any]) -> str:
    """What the real API would refuse in a request: its rules of messages, as far as they are published."""
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    role, asked, ids = "", [], set()
    for message in body["messages"]:
        if message["role"] == role:
            return "messages: roles must alternate"
        role = message["role"]
        for block in message["content"]:
            if block["type"] == "text" and not block["text"].strip():
                return "messages: text content blocks must contain non-whitespace text"
            if block["type"] == "thinking" and block["signature"] != SIGNATURE:
                return "messages: Invalid `signature` in `thinking` block"
        answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        if asked != answered:
            return f"messages: `tool_use` ids were found without `tool_result` blocks immediately after: {asked}"
        asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        if ids & set(asked):
            return "messages: `tool_use` ids must be unique"
        ids |= set(asked)
    return "messages: first message must use the user role" if body["messages"][0]["role"] != "user" else ""
