"""What every adapter over HTTP shares: retrying, refusals, patience, reading a body, the lists, the window's cache."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, Protocol

from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.domain.provider import ProviderConfig
from devflow.domain.request import ModelRequest, StreamEvent
from devflow.providers import failures, sse, urls
from devflow.providers.answers import Speaker
from devflow.providers.context import allocated_window, table_window, window_in_models
from devflow.providers.embeddings import Embedder, make_embedder
from devflow.providers.retry import Retry, retry_after
from devflow.providers.sse import Patience, SseEvent
from devflow.providers.transport import Incoming, Outgoing, Transport

log = logging.getLogger(__name__)

SETTLE = 5.0  # seconds to wait for the usage once the answer is complete
_ERROR_BODY_MAX = 64 * 1024
_ERROR_BODY_WAIT = 10.0  # seconds
_LIST_WAIT = 20.0  # seconds
_MODELS_MAX = 5_000
_WINDOW_HOLDS = 60.0  # seconds; a local server may load the model anew with another window


class Reading(Protocol):
    """One answer as it is read: `read` takes every event's data in turn, `finish` is called once, at the end.

    `begun` says whether anything of the answer has arrived (after which nothing is ever retried silently); `finished`
    that the server gave its reason, so that only the usage may still come; `ended` that nothing more comes.
    """

    begun: bool
    finished: bool
    ended: bool

    def read(self, data: str) -> Iterator[StreamEvent]: ...

    def finish(self) -> Iterator[StreamEvent]: ...


class _Learnt(Exception):
    """The server rejected an option; the adapter now leaves it out and the request is worth sending again at once."""


class ModelServer(ABC):
    """One configured server. `windows` is the table of context windows that nobody else tells (model → tokens)."""

    def __init__(
        self,
        config: ProviderConfig,
        key: str,
        transport: Transport,
        *,
        windows: Mapping[str, int] | None = None,
        retry: Retry | None = None,
    ) -> None:
        self.id = config.id
        self.config = config
        self.address = urls.parse(config.base_url)
        self._key = key
        self._transport = transport
        self._windows = windows or {}
        self._retry = retry or Retry()
        self._asked: dict[str, tuple[float, int | None]] = {}

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One step, retried only while nothing of the answer has arrived."""
        return self._ask(lambda: self._body(request), lambda: self._answer(request))

    async def prepare(self) -> None:
        """Have a connection pool, so that a measured time is the server's own."""
        await self._transport.prepare(self._chat_url)

    async def models(self) -> tuple[str, ...]:
        """The server's list, in its order."""
        return tuple(model["id"] for model in await self.model_rows())[:_MODELS_MAX]

    async def model_rows(self) -> list[Mapping[str, Any]]:
        """The rows of the server's list of models, each with a text `id`; raises `ProviderFailed`."""
        return model_rows_in(await self._get(self.address.models))

    async def context_window(self, model: str) -> int | None:
        """Override by the user, else what the server has allocated, else what it says, else the table (spec 03)."""
        chosen = chosen_window(self.config.settings, model)
        if chosen is not None:
            return chosen
        at, known = self._asked.get(model, (-math.inf, None))
        if time.monotonic() - at > _WINDOW_HOLDS:
            known = await self._ask_window(model)
            self._asked[model] = (time.monotonic(), known)
        return known

    def embedder(self, model: str) -> Embedder | None:
        """What makes vectors with one of its models; None where its protocol has no embeddings."""
        return make_embedder(self.config, self._key, self._transport, model, retry=self._retry)

    async def aclose(self) -> None:  # noqa: B027 - the transport is shared and closed by its owner
        """Nothing belongs to one server alone."""

    # what an adapter says of its protocol --------------------------------------------------------------------------

    @property
    @abstractmethod
    def _chat_url(self) -> str:
        """Where a step is posted."""

    @abstractmethod
    def _body(self, request: ModelRequest) -> Mapping[str, Any]:
        """What is posted."""

    @abstractmethod
    def _answer(self, request: ModelRequest) -> Reading:
        """A reader for one answer to it."""

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _source(self, chunks: AsyncIterator[bytes], patience: Patience) -> AsyncGenerator[SseEvent, None]:
        """The events of a stream, under the watchdog."""
        return sse.events(chunks, patience, self.config.name)

    def _is_whole(self, content_type: str) -> bool:
        """Whether a body of this type is one JSON value, not a stream."""
        return "json" in content_type and "event-stream" not in content_type

    def _learns(self, body: Mapping[str, Any], complaint: bytes) -> bool:
        """Whether a 400 taught the adapter to ask differently from now on."""
        return False

    async def _ask_window(self, model: str) -> int | None:
        found = await allocated_window(self._transport, self._outgoing, self.address, self.config.preset, model)
        if found is None:
            try:
                found = window_in_models(await self.model_rows(), model)
            except failures.WireFailure:
                found = None
        return found if found is not None else table_window(self._windows, model)

    # for adapters --------------------------------------------------------------------------------------------------

    async def _ask(
        self, make_body: Callable[[], Mapping[str, Any]], make_answer: Callable[[], Reading]
    ) -> AsyncGenerator[StreamEvent, None]:
        """Post, read, and try again where that is right; both makers are called anew for every try."""
        failed = 0
        while True:
            answer = make_answer()
            try:
                async with aclosing(self._attempt(make_body(), answer)) as events:
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

    async def _get(self, url: str) -> object:
        """The JSON value at `url`; raises `ProviderFailed`."""
        reply = await self._transport.request(self._outgoing(url, method="GET"), timeout=_LIST_WAIT)
        if reply.status != 200:
            raise failures.from_status(
                reply.status, reply.body, server=self.config.name, model="", secrets=self._secrets
            )
        try:
            return loads(reply.body)
        except ValueError:
            raise self._not_an_answer(reply.body) from None

    def _speaker(self, request: ModelRequest) -> Speaker:
        return Speaker(self.config.name, request.model, self._secrets)

    def _outgoing(self, url: str, *, method: str = "POST", body: Mapping[str, Any] | None = None) -> Outgoing:
        return Outgoing(self.config.name, url, method, self._headers(), body, self._secrets)

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key,) if self._key else ()

    # helpers -------------------------------------------------------------------------------------------------------

    async def _attempt(self, body: Mapping[str, Any], answer: Reading) -> AsyncGenerator[StreamEvent, None]:
        patience = self._patience()
        async with self._head(body, patience) as incoming:
            if incoming.status != 200:
                await self._raise_for(incoming, body)
            kind = incoming.headers.get("content-type", "")
            if "text/html" in kind:
                raise self._not_an_answer(await _error_body(incoming))
            if self._is_whole(kind):
                for event in answer.read(await self._whole(incoming, patience)):
                    yield event
            else:
                async with aclosing(self._events(incoming.chunks, answer, patience)) as events:
                    async for event in events:
                        yield event
        for event in answer.finish():
            yield event

    @asynccontextmanager
    async def _head(self, body: Mapping[str, Any], patience: Patience) -> AsyncGenerator[Incoming, None]:
        """The answer once its head has come; some servers send that with the first event only, so it counts as one."""
        await self.prepare()
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(patience.first):
                    asked = self._transport.stream(self._outgoing(self._chat_url, body=body))
                    incoming = await stack.enter_async_context(asked)
            except TimeoutError:
                raise failures.silent(self.config.name, patience.first) from None
            patience.spent = loop.time() - began
            yield incoming

    async def _events(
        self, chunks: AsyncIterator[bytes], answer: Reading, patience: Patience
    ) -> AsyncGenerator[StreamEvent, None]:
        try:
            async with aclosing(self._source(chunks, patience)) as source:
                async for event in source:
                    for item in answer.read(event.data):
                        yield item
                    if answer.ended:
                        return
                    if answer.finished:
                        patience.between = SETTLE
        except (failures.Silent, failures.StreamCut):
            if not answer.finished:
                raise

    async def _raise_for(self, incoming: Incoming, body: Mapping[str, Any]) -> None:
        said = await _error_body(incoming)
        if incoming.status in (400, 422) and not failures.is_overflow(said) and self._learns(body, said):
            log.info("%s: %s; the request is sent again without it", self.config.name, failures.words_of(said))
            raise _Learnt
        raise failures.from_status(
            incoming.status,
            said,
            server=self.config.name,
            model=str(body.get("model", "")),
            secrets=self._secrets,
            retry_after=retry_after(incoming.headers),
        )

    async def _whole(self, incoming: Incoming, patience: Patience) -> str:
        """A body that is no stream: an error, or the whole answer of a server that does not stream."""
        body = bytearray()
        try:
            async with asyncio.timeout(patience.first - patience.spent):
                async for chunk in incoming.chunks:
                    body += chunk
                    if len(body) > sse.EVENT_MAX:
                        raise self._not_an_answer(bytes(body[:_ERROR_BODY_MAX]))
        except TimeoutError:
            raise failures.silent(self.config.name, patience.first) from None
        text = body.decode("utf-8", "replace")
        if not text.lstrip().startswith("{"):
            parser = sse.SseParser()
            found = parser.feed(bytes(body)) + parser.close()
            if len(found) != 1:
                raise self._not_an_answer(bytes(body))
            text = found[0].data
        return text

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


def chosen_window(settings: Mapping[str, Any], model: str) -> int | None:
    """The context window that the user set for the model, or for all of them; in tokens."""
    of_models = settings.get("context_windows")
    chosen = of_models.get(model) if isinstance(of_models, Mapping) else None
    for value in (chosen, settings.get("context_window")):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _seconds(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else default
