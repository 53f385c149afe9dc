"""Server-sent events as model servers really send them: a parser that does not care where the bytes are cut.

Beyond the standard: the last event counts without its blank line, and a bare JSON line is taken for data (some servers
put an error into the stream that way).
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from devflow.domain.messages import N_
from devflow.providers.failures import Silent, too_much

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
    """The watchdog's limits in seconds: to the first data event, and from one to the next (changeable on the way)."""

    first: float = FIRST_EVENT_TIMEOUT
    between: float = EVENT_TIMEOUT


class EventTooBig(ValueError):
    """One event is larger than `EVENT_MAX`."""


async def events(chunks: AsyncIterator[bytes], patience: Patience, server: str) -> AsyncGenerator[SseEvent, None]:
    """The data events of a byte stream, under the watchdog; raises `Silent`, and whatever `chunks` raises."""
    parser = SseParser()
    loop = asyncio.get_running_loop()
    allowed = patience.first
    deadline = loop.time() + allowed
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise Silent(
                N_("{server} sent nothing for {seconds} seconds."),
                N_("Retry; a large model on this machine may need more time to load."),
                server=server,
                seconds=round(allowed),
            ) from None
        try:
            found = parser.close() if chunk is None else parser.feed(chunk)
        except EventTooBig:
            raise too_much(server, EVENT_MAX) from None
        for event in found:
            yield event
        if chunk is None:
            return
        if found:  # the time that the reader took over the events is not the server's
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
        if line.startswith("{"):
            self._add_data(line)
            return []
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._add_data(value)
        elif field == "event":
            self._name = value
        return []

    def _add_data(self, value: str) -> None:
        self._data.append(value)
        self._data_size += len(value)

    def _dispatch(self) -> list[SseEvent]:
        data, name = "\n".join(self._data), self._name
        self._data.clear()
        self._data_size = 0
        self._name = ""
        return [SseEvent(data, name)] if data.strip() else []
