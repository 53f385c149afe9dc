"""JSON lines, as Ollama streams them; a blank line is nothing, and a value printed over several lines is one line."""

from __future__ import annotations

from devflow.providers.sse import EVENT_MAX, EventTooBig, SseEvent


class LineParser:
    """Feed it bytes in any pieces; it hands out whole lines, the last one without its end too."""

    def __init__(self, limit: int = EVENT_MAX) -> None:
        self._limit = limit
        self._held = bytearray()
        self._at_start = True
        self._printed: list[str] = []
        self._printed_size = 0

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
        return self._lines([rest]) + self._end_printed()

    def _lines(self, lines: list[bytes]) -> list[SseEvent]:
        found = []
        for line in lines:
            if len(line) > self._limit:
                raise EventTooBig
            text = line.decode("utf-8", "replace")
            if self._at_start:
                text = text.removeprefix("\ufeff")
                self._at_start = False
            if self._printed or text.strip() == "{":
                self._printed.append(text)
                self._printed_size += len(text)
                if self._printed_size > self._limit:
                    raise EventTooBig
                if text.rstrip() == "}":
                    found += self._end_printed()
            elif text.strip():
                found.append(SseEvent(text.strip()))
        return found

    def _end_printed(self) -> list[SseEvent]:
        text = "\n".join(self._printed).strip()
        self._printed, self._printed_size = [], 0
        return [SseEvent(text)] if text else []
