"""Reading the chunks of a streamed chat completion into the internal events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.domain.request import (
    FinishReason,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UsageChunk,
)
from devflow.providers import failures
from devflow.providers.assembly import ARGUMENTS_MAX, CallAssembler, CutShort, Endless
from devflow.providers.chat_body import ADAPTER, EXTRA
from devflow.providers.mending import Mender
from devflow.providers.thinking import ThinkSplitter

_FINISHES = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSED,
    "sensitive": FinishReason.REFUSED,
    "refusal": FinishReason.REFUSED,
}
_TOKENS_MAX = 10**12
_BROKEN = {"network_error", "error", "insufficient_system_resource", "abort", "timeout"}
_OVERFLOWN = {"model_context_window_exceeded", "context_length_exceeded"}


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who is answering, for sentences: the server's name and the model's; `secrets` never appear in them."""

    server: str
    model: str
    secrets: tuple[str, ...] = ()


class Answer:
    """One streamed answer. `read` every event's data in turn, then `finish` once.

    `begun`, `finished` and `ended` are those of `model_server.Reading`.
    """

    def __init__(self, speaker: Speaker) -> None:
        self.begun = False
        self.finished = False
        self.ended = False
        self._speaker = speaker
        self._calls = CallAssembler()
        self._think = ThinkSplitter()
        self._said, self._thought = Mender(), Mender()
        self._usage: UsageChunk | None = None
        self._reason = ""
        self._refusal = False

    def read(self, data: str) -> Iterator[StreamEvent]:
        """The events of one chunk. Chunks that are no JSON objects, or of unknown shape, are passed over."""
        if data.strip() == "[DONE]":
            self.finished = self.ended = True
            return
        try:
            chunk = loads(data)
        except ValueError:
            return
        if not isinstance(chunk, Mapping):
            return
        self._raise_if_error(chunk)
        self._count(chunk.get("usage"))
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index", 0) in (0, None):
                yield from self._choice(choice)

    def finish(self) -> Iterator[StreamEvent]:
        """What is left once the stream has ended: calls, usage, the end. Raises where the answer is not whole."""
        if rest := self._thought.close():
            yield ReasoningChunk(rest)
        if rest := self._said.close():
            yield from self._think.feed(rest)
        yield from self._think.close()
        try:
            calls = () if self._is_refused else self._calls.calls(whole=self._is_whole)
        except CutShort as error:
            raise failures.CutArguments(
                N_("{server} broke off inside the arguments of a tool call ({tool}); nothing of it ran."),
                N_("Retry."),
                server=self._speaker.server,
                tool=error.tool or "?",
            ) from None
        reason = self._finish_reason(bool(calls))
        yield from calls
        if self._usage is not None:
            yield self._usage
        if self._calls.extras:
            yield ReplayChunk({"adapter": ADAPTER, EXTRA: self._calls.extras})
        yield StreamEnd(reason, self._reason)

    @property
    def _is_refused(self) -> bool:
        """A filter may stop an answer anywhere, between two calls too: none of them runs."""
        return _FINISHES.get(self._reason.lower()) is FinishReason.REFUSED

    @property
    def _is_whole(self) -> bool:
        """Whether the server said that it was through, so that a call without arguments has none."""
        return _FINISHES.get(self._reason.lower()) is not FinishReason.LENGTH if self._reason else self.ended

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[StreamEvent]:
        error = choice.get("error")
        if error:
            raise self._error(error)
        self._count(choice.get("usage"))
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            yield from self._delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._reason = reason
            self.finished = True

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        for name in ("reasoning_content", "reasoning"):
            thought = delta.get(name)
            if isinstance(thought, str) and thought:
                self.begun = True
                yield from self._thoughts(thought)
                break
        for kind, text in _texts(delta.get("content")):
            self.begun = True
            if kind == "thinking":
                yield from self._thoughts(text)
            elif text := self._said.feed(text):
                yield from self._think.feed(text)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self.begun = self._refusal = True
            if text := self._said.feed(refusal):
                yield TextChunk(text)
        if delta.get("tool_calls"):
            self._add_calls(delta["tool_calls"])
        elif delta.get("function_call"):
            self._add_calls({"index": 0, "function": delta["function_call"]})

    def _thoughts(self, piece: str) -> Iterator[ReasoningChunk]:
        if text := self._thought.feed(piece):
            yield ReasoningChunk(text)

    def _add_calls(self, pieces: object) -> None:
        self.begun = True
        try:
            self._calls.add(pieces)
        except Endless:
            raise failures.too_much(self._speaker.server, ARGUMENTS_MAX) from None

    def _finish_reason(self, has_calls: bool) -> FinishReason:
        reason = self._reason.lower()
        speaker = self._speaker
        if reason in _OVERFLOWN:
            raise failures.overflow(speaker.server, speaker.model, reason)
        if reason in _BROKEN:
            raise failures.from_error_object(reason, server=speaker.server, model=speaker.model, midway=True)
        if has_calls:
            return FinishReason.TOOL_CALLS
        if not reason:
            raise failures.NoFinish(
                N_("{server} ended the answer without saying that it is complete."),
                N_("The text so far is kept. Retry."),
                server=speaker.server,
            )
        if self._refusal:
            return FinishReason.REFUSED
        found = _FINISHES.get(reason, FinishReason.STOP)
        return FinishReason.STOP if found is FinishReason.TOOL_CALLS else found

    def _count(self, usage: object) -> None:
        """Usage is cumulative where it comes more than once: the last one counts."""
        if isinstance(usage, Mapping):
            read = _tokens(usage, "prompt_tokens", "input_tokens")
            written = _tokens(usage, "completion_tokens", "output_tokens")
            if before := self._usage:
                read = before.input_tokens if read is None else read
                written = before.output_tokens if written is None else written
            if read is not None or written is not None:
                self._usage = UsageChunk(read, written)

    def _raise_if_error(self, chunk: Mapping[str, Any]) -> None:
        error = chunk.get("error")
        if error:
            raise self._error(error)
        if "choices" not in chunk and (chunk.get("object") == "error" or {"code", "message"} <= chunk.keys()):
            raise self._error(chunk)

    def _error(self, error: object) -> failures.WireFailure:
        speaker = self._speaker
        return failures.from_error_object(
            error, server=speaker.server, model=speaker.model, secrets=speaker.secrets, midway=self.begun
        )


def _texts(content: object) -> Iterator[tuple[str, str]]:
    """Content as text, or as a list of parts: (`text` or `thinking`, the text)."""
    if isinstance(content, str):
        if content:
            yield "text", content
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str) and part:
            yield "text", part
        elif isinstance(part, Mapping):
            if isinstance(part.get("text"), str) and part["text"]:
                yield "text", part["text"]
            elif part.get("type") == "thinking":
                for _, text in _texts(part.get("thinking")):
                    yield "thinking", text


def _tokens(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _TOKENS_MAX:
            return value
    return None
