"""JSON lines, as Ollama streams them; a blank line is nothing."""

from __future__ import annotations

from devflow.providers.sse import EVENT_MAX, EventTooBig, SseEvent


class LineParser:
    """Feed it bytes in any pieces; it hands out whole lines, the last one without its end too."""

    def __init__(self, limit: int = EVENT_MAX) -> None:
        self._limit = limit
        self._held = bytearray()
        self._at_start = True

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The lines that `chunk` completes; raises `sse.EventTooBig`."""
        self._held += chunk
        if b"\n" not in chunk:
            if len(self._held) > self._limit:
                raise EventTooBig
            return []
        *complete, rest = bytes(self._held).split(b"\n")
        self._held = bytearray(rest)
        return self._lines(complete)

    def close(self) -> list[SseEvent]:
        """What stands after the last line's end."""
        rest, self._held = bytes(self._held), bytearray()
        return self._lines([rest])

    def _lines(self, lines: list[bytes]) -> list[SseEvent]:
        found = []
        for line in lines:
            if len(line) > self._limit:
                raise EventTooBig
            text = line.decode("utf-8", "replace")
            if self._at_start:
                text = text.removeprefix("\ufeff")
                self._at_start = False
            if text.strip():
                found.append(SseEvent(text.strip()))
        return found
