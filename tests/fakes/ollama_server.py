"""A server that speaks Ollama's own API from a script, as `openai_server` speaks OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.openai_server import Gate, Handler, OpenAIServer, Request, Turn, pieces_of


@dataclass(frozen=True)
class OllamaRequest(Request):
    @property
    def purpose(self) -> str:
        return "extraction" if "format" in self.body else super().purpose


class _Handler(Handler):
    endpoint = "/api/chat"
    stream_type = "application/x-ndjson"
    request_type = OllamaRequest
    server: Any

    def look_up(self, body: Mapping[str, Any]) -> Any:
        script = self.server.script
        match self.path:
            case "/api/tags":
                return {"models": [{"name": name, "model": name, "size": 1, "details": {}} for name in script.models]}
            case "/api/ps":
                return {
                    "models": [
                        {"name": name, "model": name, "context_length": script.context_window}
                        for name in script.models
                        if name in script.loaded
                    ]
                }
            case "/api/generate" if body.get("model") in script.models:
                script.loaded.add(body["model"])
                return {"model": body["model"], "response": "", "done": True, "done_reason": "load"}
            case "/api/embed" if body.get("model") in script.embedding_models:
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                return {"model": body["model"], "embeddings": [[float(len(text)), 1.0, 0.5] for text in texts]}
            case "/api/show" if body.get("model") in script.models:
                parameters = (
                    f'num_ctx                        {script.num_ctx}\nstop "<|end|>"' if script.num_ctx else ""
                )
                return {"capabilities": list(script.capabilities), "parameters": parameters, "model_info": {}}
        return None

    def error(self, words: str, kind: str) -> Any:
        return {"error": words}

    def events(self, request: Any, turn: Turn) -> Sequence[str | Gate | None]:
        script = self.server.script
        script.loaded.add(request.body["model"])
        out: list[str | Gate | None] = []
        if turn.reasoning:
            out.append(_line(request, {"content": "", "thinking": turn.reasoning}))
        out += [p if isinstance(p, Gate) else _line(request, {"content": p}) for p in pieces_of(turn.text)]
        for index, call in enumerate(turn.calls):
            arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
            function = {"index": index, "name": call.tool, "arguments": arguments}
            out.append(_line(request, {"content": "", "tool_calls": [{"function": function}]}))
        if turn.break_with:
            return [*out, json.dumps({"error": turn.break_with}) + "\n"]
        if turn.cut:
            return [*out, None]
        read, written = turn.usage or (0, 0)
        last = {"done": True, "done_reason": turn.finish or "stop", "prompt_eval_count": read, "eval_count": written}
        return [*out, _line(request, {"content": ""}, total_duration=1_000, load_duration=10, **last)]


class OllamaServer(OpenAIServer):
    """`context_window` is what a loaded model has allocated; a model is loaded by the first request to it.

    `capabilities` and `num_ctx` are what `/api/show` says of every model; `embedding_models` make vectors.
    """

    handler = _Handler

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.loaded: set[str] = set()
        self.capabilities: Sequence[str] = ("completion", "tools")
        self.num_ctx: int | None = None
        self.embedding_models: Sequence[str] = ()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def _line(request: Request, message: Mapping[str, Any], **last: Any) -> str:
    value = {
        "model": request.body["model"],
        "created_at": "2026-01-01T00:00:00.000000Z",
        "message": {"role": "assistant", **message},
        "done": False,
        **last,
    }
    return json.dumps(value, ensure_ascii=False) + "\n"
