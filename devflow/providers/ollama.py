"""Ollama's own API: its `/v1` cannot carry the context window, and swallows errors in the middle of a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.provider import ProviderConfig
from devflow.domain.request import ModelRequest
from devflow.providers import sse
from devflow.providers.chat_body import Structured
from devflow.providers.failures import WireFailure
from devflow.providers.model_server import ModelServer, chosen_window, model_rows_in
from devflow.providers.ndjson import LineParser
from devflow.providers.ollama_answer import OllamaAnswer
from devflow.providers.ollama_body import ollama_body
from devflow.providers.retry import Retry
from devflow.providers.sse import Patience, SseEvent
from devflow.providers.transport import Transport

_WAIT = 2.0  # seconds; a turn does not wait longer to know how much fits


class Ollama(ModelServer):
    """One configured server. Which models have no tools it learns from the server, as they are asked."""

    def __init__(
        self,
        config: ProviderConfig,
        key: str,
        transport: Transport,
        *,
        windows: Mapping[str, int] | None = None,
        retry: Retry | None = None,
    ) -> None:
        super().__init__(config, key, transport, windows=windows, retry=retry)
        self._structured = Structured.JSON_SCHEMA
        self._think = True
        self._without_tools: set[str] = set()
        self._allocated: dict[str, int] = {}

    async def model_rows(self) -> list[Mapping[str, Any]]:
        """The models that were pulled, each with a text `id`; raises `ProviderFailed`."""
        return model_rows_in(await self._get(self.address.listing("ollama")))

    @property
    def _chat_url(self) -> str:
        return f"{self.address.native}/chat"

    def _body(self, request: ModelRequest) -> Mapping[str, Any]:
        return ollama_body(
            request,
            window=chosen_window(self.config.settings, request.model),
            tools=request.model not in self._without_tools,
            structured=self._structured,
            think=self._think,
        )

    def _answer(self, request: ModelRequest) -> OllamaAnswer:
        return OllamaAnswer(self._speaker(request))

    def _source(self, chunks: AsyncIterator[bytes], patience: Patience) -> AsyncGenerator[SseEvent, None]:
        return sse.events(chunks, patience, self.config.name, parser=LineParser())

    def _is_whole(self, content_type: str) -> bool:
        return False  # one JSON value is one line

    def _learns(self, body: Mapping[str, Any], complaint: bytes) -> bool:
        """A model without tools still answers; a server without schemas may know `json`."""
        said = complaint.decode("utf-8", "replace").casefold()
        if "tools" in body and "does not support tools" in said:
            self._without_tools.add(str(body["model"]))
            return True
        if "think" in body and "think" in said:
            self._think = False
            return True
        if "format" in body and any(word in said for word in ("format", "schema", "grammar")):
            self._structured = Structured(self._structured - 1)
            return True
        return False

    async def _ask_window(self, model: str) -> int | None:
        """What is allocated now, else what was the last time, else what the model's own file asks for.

        What a model was trained for says nothing: the server allocates less unless told. So a model of which nothing is
        known is loaded first, which the request that follows would do anyway; and what did not fit, the server would
        leave out without a word.
        """
        running, shown = await asyncio.gather(
            self._look(f"{self.address.native}/ps"), self._look(f"{self.address.native}/show", {"model": model})
        )
        capabilities = shown.get("capabilities")
        if isinstance(capabilities, list) and capabilities and "tools" not in capabilities:
            self._without_tools.add(model)
        self._learn_allocated(running, model)
        known = self._allocated.get(model) or _num_ctx(shown.get("parameters"))
        if known is None and "models" in running and shown and "remote_host" not in shown:
            await self._look(
                f"{self.address.native}/generate", {"model": model, "stream": False}, wait=self._patience().first
            )
            self._learn_allocated(await self._look(f"{self.address.native}/ps"), model)
            known = self._allocated.get(model)
        return known

    def _learn_allocated(self, running: Mapping[str, Any], model: str) -> None:
        row = next((row for row in model_rows_in(running) if _same(row, model)), {})
        allocated = row.get("context_length")
        if isinstance(allocated, int) and not isinstance(allocated, bool) and allocated > 0:
            self._allocated[model] = allocated

    async def _look(self, url: str, body: Mapping[str, Any] | None = None, *, wait: float = _WAIT) -> Mapping[str, Any]:
        """A small answer, or nothing where the server does not give one in time."""
        outgoing = self._outgoing(url, method="GET" if body is None else "POST", body=body)
        try:
            reply = await self._transport.request(outgoing, timeout=wait)
            value = loads(reply.body) if reply.status == 200 else None
        except (WireFailure, ValueError):
            return {}
        return value if isinstance(value, Mapping) else {}


def _same(row: Mapping[str, Any], model: str) -> bool:
    """A name without a tag means its `latest`."""
    full = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    names = (row.get("name"), row.get("model"))
    return model in names or full in names


def _num_ctx(parameters: object) -> int | None:
    """`PARAMETER num_ctx` of the model's file, which `/api/show` lists one a line."""
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdigit():
            return int(value)
    return None
