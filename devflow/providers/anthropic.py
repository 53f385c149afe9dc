"""Anthropic's Messages API, and the servers that speak it too (llama.cpp, gateways)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any
from urllib.parse import quote

from devflow.domain.foreign_json import loads
from devflow.domain.provider import ProviderConfig
from devflow.domain.request import FinishReason, ModelRequest, StreamEnd, StreamEvent
from devflow.providers import failures, sse
from devflow.providers.anthropic_answer import PAUSED, MessageAnswer
from devflow.providers.anthropic_body import Accepts, messages_body, without
from devflow.providers.context import allocated_window, table_window, window_in_models
from devflow.providers.model_server import ModelServer, model_rows_in
from devflow.providers.retry import Retry
from devflow.providers.sse import Patience, SseEvent
from devflow.providers.transport import Transport

ORIGIN = "https://api.anthropic.com"
NEWEST, ELSEWHERE = "2026-10-21", "2023-06-01"
"""Versions of the API: the newest is what Anthropic asks for; gateways and local servers know the one before it."""
PAUSES_MAX = 10
"""How often an answer that pauses is asked on; then it counts as cut, and the user can have it continued."""
Blocks = Sequence[Mapping[str, Any]]
_PAGE = 1_000  # models in one answer, the most that the API takes
_PAGES_MAX = 20


class Anthropic(ModelServer):
    """One configured server. `accepts` is what it takes of the API, corrected as it complains."""

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
        self._accepts = Accepts()
        self._limits: dict[str, int] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One step; an answer that pauses is asked on with what came, and reads as one."""
        answer = MessageAnswer(self._speaker(request))
        for _ in range(PAUSES_MAX):
            before: Blocks = answer.blocks
            spent = answer.written

            def begin(before: Blocks = before, spent: int = spent) -> MessageAnswer:
                nonlocal answer
                answer = MessageAnswer(self._speaker(request), before, spent)
                return answer

            async with aclosing(self._ask(partial(self._body, request, before), begin)) as events:
                async for event in events:
                    yield event
            if not answer.paused:
                return
        yield StreamEnd(FinishReason.LENGTH, PAUSED)

    async def model_rows(self) -> list[Mapping[str, Any]]:
        """All pages of the list, each row with a text `id`; raises `ProviderFailed`."""
        rows: list[Mapping[str, Any]] = []
        after = ""
        for _ in range(_PAGES_MAX):
            url = f"{self.address.models}?limit={_PAGE}" + (f"&after_id={quote(after, safe='')}" if after else "")
            page = await self._get(url)
            found = model_rows_in(page)
            rows += [row for row in found if row["id"] not in {known["id"] for known in rows}]
            last = page.get("last_id") if isinstance(page, Mapping) and page.get("has_more") is True else None
            if not found or not isinstance(last, str) or last in ("", after):
                break
            after = last
        for row in rows:
            self._learn_limit(row)
        return rows

    @property
    def _chat_url(self) -> str:
        return self.address.messages

    def _body(self, request: ModelRequest, begun: Blocks = ()) -> Mapping[str, Any]:
        return messages_body(request, self._accepts, limit=self._limits.get(request.model), begun=begun)

    def _answer(self, request: ModelRequest) -> MessageAnswer:
        return MessageAnswer(self._speaker(request))

    def _headers(self) -> dict[str, str]:
        return headers(self.address.origin, self._key)

    def _source(self, chunks: AsyncIterator[bytes], patience: Patience) -> AsyncGenerator[SseEvent, None]:
        return sse.events(chunks, patience, self.config.name, is_data=_is_data)

    def _learns(self, body: Mapping[str, Any], complaint: bytes) -> bool:
        learnt = without(self._accepts, body, complaint.decode("utf-8", "replace"))
        changed, self._accepts = learnt != self._accepts, learnt
        return changed

    async def _ask_window(self, model: str) -> int | None:
        try:
            row = await self._get(f"{self.address.models}/{quote(model, safe='')}")
        except failures.WireFailure:
            row = None
        if isinstance(row, Mapping):
            self._learn_limit({**row, "id": model})
            tokens = window_in_models([{**row, "id": model}], model)
            if tokens is not None:
                return tokens
        local = await allocated_window(self._transport, self._outgoing, self.address, "custom", model)
        return local if local is not None else table_window(self._windows, model)

    def _learn_limit(self, row: Mapping[str, Any]) -> None:
        most = row.get("max_tokens")
        if isinstance(most, int) and not isinstance(most, bool) and most > 0:
            self._limits[str(row["id"])] = most


def headers(origin: str, key: str) -> dict[str, str]:
    """The version and the key; gateways that speak this API mostly take the key in the other header."""
    if origin == ORIGIN:
        return {"anthropic-version": NEWEST, **({"x-api-key": key} if key else {})}
    given = {"x-api-key": key, "Authorization": f"Bearer {key}"} if key else {}
    return {"anthropic-version": ELSEWHERE, **given}


def _is_data(event: SseEvent) -> bool:
    """A ping keeps the connection open and says nothing of the model: the watchdog does not hear it."""
    if event.name == "ping":
        return False
    if event.name or '"ping"' not in event.data:
        return True
    try:
        value = loads(event.data)
    except ValueError:
        return True
    return not (isinstance(value, Mapping) and value.get("type") == "ping")
