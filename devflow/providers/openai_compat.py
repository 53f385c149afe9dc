"""Chat completions as OpenAI's API has them, and as the many servers that speak it really do."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.domain.provider import ProviderConfig
from devflow.domain.request import ModelRequest, StreamEvent
from devflow.providers import failures, sse, urls
from devflow.providers.answers import Answer, Speaker
from devflow.providers.chat_body import Dialect, Structured, chat_body, without
from devflow.providers.context import allocated_window, window_in_models
from devflow.providers.retry import Retry, retry_after
from devflow.providers.sse import Patience
from devflow.providers.transport import Incoming, Outgoing, Transport

log = logging.getLogger(__name__)

SETTLE = 5.0  # seconds to wait for the usage once the answer is complete
_ERROR_BODY_MAX = 64 * 1024
_ERROR_BODY_WAIT = 10.0  # seconds
_MODELS_MAX = 5_000
_WINDOW_HOLDS = 60.0  # seconds; a local server may load the model anew with another window


class _Learnt(Exception):
    """The server rejected an option; the dialect now leaves it out and the request is worth sending again at once."""


class OpenAICompat:
    """One configured server. `windows` is the table of context windows that nobody else tells (model → tokens)."""

    def __init__(
        self,
        config: ProviderConfig,
        key: str,
        transport: Transport,
        *,
        dialect: Dialect | None = None,
        windows: Mapping[str, int] | None = None,
        retry: Retry | None = None,
    ) -> None:
        self.id = config.id
        self.config = config
        self.address = urls.parse(config.base_url)
        self._key = key
        self._transport = transport
        self._dialect = dialect or Dialect()
        self._windows = windows or {}
        self._retry = retry or Retry()
        self._asked: dict[str, tuple[float, int | None]] = {}

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    @property
    def structured(self) -> Structured:
        """How far this server has gone with structured output so far."""
        return self._dialect.structured

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One step, retried only while nothing of the answer has arrived."""
        failed = 0
        while True:
            answer = Answer(Speaker(self.config.name, request.model, self._secrets))
            try:
                async with aclosing(self._attempt(request, answer)) as events:
                    async for event in events:
                        yield event
                return
            except _Learnt:
                continue
            except failures.WireFailure as failure:
                failed += 1
                loopback = self.address.is_loopback
                pause = None if answer.begun else self._retry.pause(failed, failure, loopback=loopback)
                if pause is None:
                    raise
                log.info("try %d at %s failed (%s); again in %.1f s", failed, self.config.name, failure.code, pause)
            await asyncio.sleep(pause)

    async def prepare(self) -> None:
        """Have a connection pool, so that a measured time is the server's own."""
        await self._transport.prepare(self.address.chat)

    async def models(self) -> tuple[str, ...]:
        """The server's list, in its order."""
        return tuple(model["id"] for model in await self.model_rows())[:_MODELS_MAX]

    async def model_rows(self) -> list[Mapping[str, Any]]:
        """The rows of `/models`, each with a text `id`; raises `ProviderFailed`."""
        reply = await self._transport.request(self._outgoing(self.address.models, method="GET"), timeout=20.0)
        if reply.status != 200:
            raise failures.from_status(
                reply.status, reply.body, server=self.config.name, model="", secrets=self._secrets
            )
        try:
            value = loads(reply.body)
        except ValueError:
            raise self._not_an_answer(reply.body) from None
        return model_rows_in(value)

    async def context_window(self, model: str) -> int | None:
        """Override by the user, else what the server has allocated, else what it says, else the table (spec 03)."""
        chosen = _override(self.config.settings, model)
        if chosen is not None:
            return chosen
        at, known = self._asked.get(model, (-math.inf, None))
        if time.monotonic() - at > _WINDOW_HOLDS:
            known = await self._ask_window(model)
            self._asked[model] = (time.monotonic(), known)
        return known

    async def aclose(self) -> None:
        """The transport is shared and closed by its owner."""

    async def _ask_window(self, model: str) -> int | None:
        found = await allocated_window(self._transport, self._outgoing, self.address, self.config.preset, model)
        if found is None:
            try:
                found = window_in_models(await self.model_rows(), model)
            except failures.WireFailure:
                found = None
        return found if found is not None else table_window(self._windows, model)

    async def _attempt(self, request: ModelRequest, answer: Answer) -> AsyncGenerator[StreamEvent, None]:
        body = chat_body(request, self._dialect)
        async with self._transport.stream(self._outgoing(self.address.chat, body=body)) as incoming:
            if incoming.status != 200:
                await self._raise_for(incoming, body, request.model)
            kind = incoming.headers.get("content-type", "")
            if "json" in kind and "event-stream" not in kind:
                for event in answer.read(await self._whole(incoming)):
                    yield event
            else:
                if "text/html" in kind:
                    raise self._not_an_answer(await _error_body(incoming))
                async with aclosing(self._events(incoming.chunks, answer)) as events:
                    async for event in events:
                        yield event
        for event in answer.finish():
            yield event

    async def _events(self, chunks: AsyncIterator[bytes], answer: Answer) -> AsyncGenerator[StreamEvent, None]:
        patience = self._patience()
        try:
            async with aclosing(sse.events(chunks, patience, self.config.name)) as source:
                async for event in source:
                    for item in answer.read(event.data):
                        yield item
                    if event.data.strip() == "[DONE]":
                        return
                    if answer.finished:
                        patience.between = SETTLE
        except (failures.Silent, failures.StreamCut):
            if not answer.finished:
                raise

    async def _raise_for(self, incoming: Incoming, body: Mapping[str, Any], model: str) -> None:
        said = await _error_body(incoming)
        if incoming.status in (400, 422) and not failures.is_overflow(said):
            learnt = without(self._dialect, body, said.decode("utf-8", "replace"))
            if learnt is not None and learnt != self._dialect:
                log.info("%s: %s; the request is sent again without it", self.config.name, failures.words_of(said))
                self._dialect = learnt
                raise _Learnt
        raise failures.from_status(
            incoming.status,
            said,
            server=self.config.name,
            model=model,
            secrets=self._secrets,
            retry_after=retry_after(incoming.headers),
        )

    async def _whole(self, incoming: Incoming) -> str:
        """A body that is no stream: an error, or the whole answer of a server that does not stream."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._patience().first):
                async for chunk in incoming.chunks:
                    body += chunk
                    if len(body) > sse.EVENT_MAX:
                        raise self._not_an_answer(bytes(body[:_ERROR_BODY_MAX]))
        except TimeoutError:
            raise failures.cut(self.config.name, "timed out") from None
        text = body.decode("utf-8", "replace")
        if not text.lstrip().startswith("{"):
            parser = sse.SseParser()
            found = parser.feed(bytes(body)) + parser.close()
            if len(found) != 1:
                raise self._not_an_answer(bytes(body))
            text = found[0].data
        return text

    def _outgoing(self, url: str, *, method: str = "POST", body: Mapping[str, Any] | None = None) -> Outgoing:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return Outgoing(self.config.name, url, method, headers, body, self._secrets)

    def _patience(self) -> Patience:
        settings = self.config.settings
        return Patience(
            _seconds(settings.get("first_event_timeout"), sse.FIRST_EVENT_TIMEOUT),
            _seconds(settings.get("event_timeout"), sse.EVENT_TIMEOUT),
        )

    def _not_an_answer(self, body: bytes) -> failures.NotAnAnswer:
        return failures.NotAnAnswer(
            N_("{server} answers, but not like a model server: {words}."),
            N_("Check the address in Settings, under Providers; the line below it shows the full one."),
            server=self.config.name,
            words=failures.words_of(body[:_ERROR_BODY_MAX], self._secrets) or "an empty answer",
        )

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key,) if self._key else ()


def table_window(windows: Mapping[str, int], model: str) -> int | None:
    """The longest name in the table that the model's own name (without a path before it) begins with."""
    name = model.rpartition("/")[2].casefold()
    fitting = [known for known in windows if name.startswith(known.casefold())]
    return windows[max(fitting, key=len)] if fitting else None


async def _error_body(incoming: Incoming) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(_ERROR_BODY_WAIT):
            async for chunk in incoming.chunks:
                body += chunk
                if len(body) >= _ERROR_BODY_MAX:
                    break
    except (TimeoutError, failures.WireFailure):
        pass  # what has arrived says enough
    return bytes(body[:_ERROR_BODY_MAX])


def model_rows_in(value: object) -> list[Mapping[str, Any]]:
    """The rows of a list of models in any of its known shapes, each with a text `id`, none twice."""
    listed = value if isinstance(value, list) else None
    if isinstance(value, Mapping):
        listed = next((value[name] for name in ("data", "models") if isinstance(value.get(name), list)), None)
    rows: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    for row in listed or ():
        row = {"id": row} if isinstance(row, str) else row
        if not isinstance(row, Mapping):
            continue
        name = row.get("id") or row.get("name") or row.get("model")
        if isinstance(name, str) and name not in seen:
            seen.add(name)
            rows.append({**row, "id": name})
    return rows


def _override(settings: Mapping[str, Any], model: str) -> int | None:
    of_models = settings.get("context_windows")
    chosen = of_models.get(model) if isinstance(of_models, Mapping) else None
    for value in (chosen, settings.get("context_window")):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _seconds(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else default
