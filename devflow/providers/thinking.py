"""Thinking that a local server leaves in the text: an answer that begins with `<think>` is split at `</think>`."""

from __future__ import annotations

from collections.abc import Iterator

from devflow.domain.request import ReasoningChunk, TextChunk

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Feed it the text in pieces. Only a tag at the very beginning counts: later ones are what the answer is about."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str) -> Iterator[TextChunk | ReasoningChunk]:
        if self._state == "text":
            yield TextChunk(text)
            return
        if self._state == "after":  # blank lines between the thinking and the answer
            if text.lstrip():
                self._state = "text"
                yield TextChunk(text.lstrip())
            return
        self._held += text
        if self._state == "start":
            begin = self._held.lstrip()
            if begin.startswith(_OPEN):
                self._held, self._state = begin[len(_OPEN) :], "thinking"
            elif not _OPEN.startswith(begin):
                held, self._held, self._state = self._held, "", "text"
                yield TextChunk(held)
                return
        if self._state == "thinking":
            yield from self._think()

    def close(self) -> Iterator[TextChunk | ReasoningChunk]:
        """What was held back, at the end of the answer."""
        held, self._held = self._held, ""
        if held:
            yield ReasoningChunk(held) if self._state == "thinking" else TextChunk(held)

    def _think(self) -> Iterator[TextChunk | ReasoningChunk]:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._held, self._state = "", "after"
            if thought:
                yield ReasoningChunk(thought)
            yield from self.feed(rest)
            return
        keep = _tail(self._held)
        ready, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        if ready:
            yield ReasoningChunk(ready)


def _tail(text: str) -> int:
    """How many characters at the end may be the beginning of the closing tag."""
    for length in range(min(len(_CLOSE) - 1, len(text)), 0, -1):
        if _CLOSE.startswith(text[-length:]):
            return length
    return 0
