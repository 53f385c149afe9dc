"""Server-sent events as model servers really send them: a parser that does not care where the bytes are cut.

Beyond the standard, because servers are: the last event counts without its blank line; bare JSON is taken for data (an
error is put into the stream that way, on one line or printed over several); a line of data that follows a whole JSON
value is an event of its own; and an event named `error` is one in its data too, so that readers need no names.
"""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from devflow.domain.foreign_json import loads
from devflow.providers.failures import silent, too_much

EVENT_MAX = 8 * 1024 * 1024  # characters of one event
FIRST_EVENT_TIMEOUT = 600.0  # seconds; a local server may have to load the model first
EVENT_TIMEOUT = 60.0  # seconds between data events; comments do not count


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event; `name` is empty where the server gave none."""

    data: str
    name: str = ""


@dataclass(slots=True)
class Patience:
    """The watchdog's limits in seconds: to the first data event, and from one to the next (changeable on the way).

    `spent` of the first has gone by when the body begins: the wait for its head.
    """

    first: float = FIRST_EVENT_TIMEOUT
    between: float = EVENT_TIMEOUT
    spent: float = 0.0


class EventTooBig(ValueError):
    """One event is larger than `EVENT_MAX`."""


class Parser(Protocol):
    """Cuts a byte stream into events; a stream of another form than SSE brings its own."""

    def feed(self, chunk: bytes) -> list[SseEvent]: ...

    def close(self) -> list[SseEvent]: ...


def _always(event: SseEvent) -> bool:
    return True


async def events(
    chunks: AsyncIterator[bytes],
    patience: Patience,
    server: str,
    *,
    parser: Parser | None = None,
    is_data: Callable[[SseEvent], bool] = _always,
) -> AsyncGenerator[SseEvent, None]:
    """The data events of a byte stream, under the watchdog; raises `Silent`, and whatever `chunks` raises.

    An event that `is_data` denies (a keep-alive in the form of an event) is handed out and does not reset the watchdog.
    """
    parser = parser or SseParser()
    loop = asyncio.get_running_loop()
    allowed = patience.first
    deadline = loop.time() + allowed - patience.spent
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise silent(server, allowed) from None
        try:
            found = parser.close() if chunk is None else parser.feed(chunk)
        except EventTooBig:
            raise too_much(server, EVENT_MAX) from None
        for event in found:
            yield event
        if chunk is None:
            return
        if any(map(is_data, found)):  # the time that the reader took over the events is not the server's
            allowed = patience.between
            deadline = loop.time() + allowed


class SseParser:
    """Feed it bytes in any pieces; it hands out whole events."""

    def __init__(self, limit: int = EVENT_MAX) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._limit = limit
        self._line: list[str] = []
        self._line_size = 0
        self._data: list[str] = []
        self._data_size = 0
        self._name = ""
        self._bare = False
        self._at_start = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that `chunk` completes; raises `EventTooBig`."""
        return self._take(self._decode(chunk))

    def close(self) -> list[SseEvent]:
        """The event that stands unfinished at the end of the stream, if any."""
        found = self._take(self._decode(b"", True))
        if self._line:
            found += self._end_line()
        return found + self._dispatch()

    def _take(self, text: str) -> list[SseEvent]:
        if self._at_start and text:
            text = text.removeprefix("\ufeff")
            self._at_start = False
        if self._after_cr and text:
            text = text.removeprefix("\n")
            self._after_cr = False
        if text.endswith("\r"):
            self._after_cr = True
        found: list[SseEvent] = []
        *complete, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for piece in complete:
            self._append(piece)
            found += self._end_line()
        self._append(rest)
        return found

    def _append(self, piece: str) -> None:
        if piece:
            self._line.append(piece)
            self._line_size += len(piece)
            if self._line_size + self._data_size > self._limit:
                raise EventTooBig

    def _end_line(self) -> list[SseEvent]:
        line = "".join(self._line)
        self._line.clear()
        self._line_size = 0
        if not line:
            return self._dispatch()
        if self._bare and not line.startswith(_FIELDS):
            return self._add_data(line)
        if line.startswith("{"):
            found = self._add_data(line)
            self._bare = True
            return found
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            return self._add_data(value)
        if field == "event":
            self._name = value
        if field == "error":  # llama.cpp's field of its own, until late in 2025
            self._name = "error"
            return self._add_data(value)
        return []

    def _add_data(self, value: str) -> list[SseEvent]:
        found = self._dispatch() if len(self._data) == 1 and _is_whole(self._data[0]) else []
        self._data.append(value)
        self._data_size += len(value)
        return found

    def _dispatch(self) -> list[SseEvent]:
        data, name = "\n".join(self._data), self._name
        self._data.clear()
        self._data_size = 0
        self._name = ""
        self._bare = False
        if not data.strip():
            return []
        return [SseEvent(_as_error(data) if name == "error" else data, name)]


_FIELDS = (":", "data:", "event:", "error:", "id:", "retry:")


def _is_whole(data: str) -> bool:
    data = data.strip()
    return data == "[DONE]" or (data.startswith("{") and _object(data) is not None)


def _as_error(data: str) -> str:
    value = _object(data)
    if value is not None and value.get("error"):
        return data
    return json.dumps({"error": data if value is None else value}, ensure_ascii=False)


def _object(data: str) -> dict[str, object] | None:
    try:
        value = loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
