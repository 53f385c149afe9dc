"""Reading the lines of Ollama's own chat into the internal events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.request import FinishReason, ReasoningChunk, StreamEnd, StreamEvent, UsageChunk
from devflow.providers import failures
from devflow.providers.answers import Speaker
from devflow.providers.assembly import ARGUMENTS_MAX, CallAssembler, CutShort, Endless
from devflow.providers.mending import Mender
from devflow.providers.thinking import ThinkSplitter

_ONLY_LOADED = frozenset({"load", "unload"})
_TOKENS_MAX = 10**12


class OllamaAnswer:
    """One streamed answer; `begun`, `finished` and `ended` are those of `model_server.Reading`.

    The line with `done` ends it: without that line a text is not whole. Calls come whole in a line, so that those that
    came are a tool turn all the same (spec 03, Tool calls), unless a line was cut after them.
    """

    def __init__(self, speaker: Speaker) -> None:
        self.begun = False
        self.finished = False
        self.ended = False
        self._speaker = speaker
        self._calls = CallAssembler()
        self._think = ThinkSplitter()
        self._said, self._thought = Mender(), Mender()
        self._reason = ""
        self._broken = False
        self._usage: UsageChunk | None = None

    def read(self, data: str) -> Iterator[StreamEvent]:
        """The events of one line. What is no JSON object is passed over."""
        try:
            line = loads(data)
        except ValueError:
            self._broken = True
            return
        if not isinstance(line, Mapping):
            return
        if line.get("error"):
            raise self._error(line)
        message = line.get("message")
        if isinstance(message, Mapping):
            yield from self._message(message)
        if line.get("done") is True:
            reason = line.get("done_reason")
            self._reason = reason if isinstance(reason, str) else ""
            self._count(line)
            self.finished = self.ended = True

    def finish(self) -> Iterator[StreamEvent]:
        """What is left once the stream has ended: calls, usage, the end. Raises where the answer is not whole."""
        if rest := self._thought.close():
            yield ReasoningChunk(rest)
        if rest := self._said.close():
            yield from self._think.feed(rest)
        yield from self._think.close()
        if not self.finished and (self._broken or not self._calls):
            raise failures.no_finish(self._speaker.server)
        if self._reason in _ONLY_LOADED and not self.begun:
            raise failures.from_error_object(
                f"the model was only {self._reason}ed",
                server=self._speaker.server,
                model=self._speaker.model,
                midway=True,
            )
        try:
            calls = self._calls.calls()
        except CutShort as error:
            raise failures.cut_arguments(self._speaker.server, error.tool) from None
        yield from calls
        if self._usage is not None:
            yield self._usage
        if calls:
            yield StreamEnd(FinishReason.TOOL_CALLS, self._reason)
        else:
            yield StreamEnd(FinishReason.LENGTH if self._reason == "length" else FinishReason.STOP, self._reason)

    def _message(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        thought = message.get("thinking")
        if isinstance(thought, str) and thought:
            self.begun = True
            if text := self._thought.feed(thought):
                yield ReasoningChunk(text)
        said = message.get("content")
        if isinstance(said, str) and said:
            self.begun = True
            if text := self._said.feed(said):
                yield from self._think.feed(text)
        if message.get("tool_calls"):
            self.begun = True
            try:
                self._calls.add(message["tool_calls"])
            except Endless:
                raise failures.too_much(self._speaker.server, ARGUMENTS_MAX) from None

    def _count(self, line: Mapping[str, Any]) -> None:
        read, written = _tokens(line.get("prompt_eval_count")), _tokens(line.get("eval_count"))
        if read is not None or written is not None:
            self._usage = UsageChunk(read, written)

    def _error(self, line: Mapping[str, Any]) -> failures.WireFailure:
        speaker = self._speaker
        return failures.from_error_object(
            line["error"], server=speaker.server, model=speaker.model, secrets=speaker.secrets, midway=self.begun
        )


def _tokens(value: object) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _TOKENS_MAX
    return value if known else None  # type: ignore[return-value]  # `known` says so
