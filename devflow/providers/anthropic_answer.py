"""Reading the events of a streamed message into the internal ones; unknown events and deltas are passed over."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UsageChunk,
)
from devflow.providers import failures
from devflow.providers.answers import Speaker
from devflow.providers.anthropic_body import ADAPTER
from devflow.providers.assembly import ARGUMENTS_MAX, CALLS_MAX, whole_arguments
from devflow.providers.mending import Mender, mended

PAUSED = "pause_turn"
_FINISHES = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.STOP,  # with calls it is a tool turn whatever the reason says
    "max_tokens": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSED,
}
_OVERFLOWN = "model_context_window_exceeded"
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_PASSING = frozenset({"rate_limit_error", "api_error", "timeout_error", "overloaded_error"})
_TOKENS_MAX = 10**12


@dataclass(slots=True)
class _Block:
    """One block of content: as it began, and what was added to it."""

    value: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    stopped: bool = False

    @property
    def type(self) -> str:
        return str(self.value.get("type", ""))

    @property
    def arguments(self) -> str:
        return "".join(self.pieces.get("input", ()))

    def add(self, name: str, piece: str) -> None:
        self.pieces.setdefault(name, []).append(piece)

    def whole(self) -> dict[str, Any]:
        """As the API would have sent it in one piece."""
        value = {name: mended(part) if isinstance(part, str) else part for name, part in self.value.items()}
        for name, pieces in self.pieces.items():
            if name == "input":
                value[name] = _object(self.arguments)
            else:
                value[name] = mended(str(value.get(name) or "") + "".join(pieces))
        return value


class MessageAnswer:
    """One streamed message; `begun`, `finished` and `ended` are those of `model_server.Reading`.

    `before` are the blocks, and `spent` the output tokens, of the same answer before it paused. `paused` says at the
    end that it wants to be asked on, with `blocks`: then `finish` hands out no end.
    """

    def __init__(self, speaker: Speaker, before: Sequence[Mapping[str, Any]] = (), spent: int = 0) -> None:
        self.begun = False
        self.finished = False
        self.ended = False
        self._speaker = speaker
        self._before = [dict(block) for block in before]
        self._spent = spent
        self._blocks: dict[int, _Block] = {}
        self._said, self._thought = Mender(), Mender()
        self._usage: dict[str, int] = {}
        self._reason = ""
        self._detail = ""
        self._size = 0

    @property
    def paused(self) -> bool:
        return self._reason == PAUSED

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The whole answer so far, block by block, as it came."""
        return self._before + [self._blocks[index].whole() for index in sorted(self._blocks)]

    @property
    def written(self) -> int:
        """Output tokens so far."""
        return self._spent + self._usage.get("output_tokens", 0)

    def read(self, data: str) -> Iterator[StreamEvent]:
        """The events of one event's data."""
        try:
            event = loads(data)
        except ValueError:
            return
        if not isinstance(event, Mapping):
            return
        match event.get("type"):
            case "message_start":
                message = event.get("message")
                self._count(message.get("usage") if isinstance(message, Mapping) else None)
            case "content_block_start":
                yield from self._start(event.get("index"), event.get("content_block"))
            case "content_block_delta":
                yield from self._delta(event.get("index"), event.get("delta"))
            case "content_block_stop":
                if block := self._block(event.get("index")):
                    block.stopped = True
            case "message_delta":
                self._end(event.get("delta"))
                self._count(event.get("usage"))
            case "message_stop":
                self.ended = True
            case "message":  # a server that does not stream
                yield from self._whole(event)
            case _:  # a ping, or what a newer API sends
                if event.get("error"):
                    raise self._error(event["error"])

    def finish(self) -> Iterator[StreamEvent]:
        """What is left once the stream has ended: calls, usage, what wants to go back, the end; nothing of a pause."""
        if rest := self._thought.close():
            yield ReasoningChunk(rest)
        if rest := self._said.close():
            yield TextChunk(rest)
        if self.paused:
            return
        calls = () if self._reason == "refusal" else self._calls()
        reason = self._finish_reason(bool(calls))
        yield from calls
        if self._usage:
            yield UsageChunk(self._read_tokens, self.written)
        if any(block["type"] not in ("text", "tool_use") for block in self.blocks):
            yield ReplayChunk({"adapter": ADAPTER, "blocks": self.blocks})
        yield StreamEnd(reason, self._detail)

    # events --------------------------------------------------------------------------------------------------------

    def _start(self, index: object, value: object) -> Iterator[StreamEvent]:
        if not isinstance(index, int) or not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
            return
        if len(self._blocks) >= CALLS_MAX:
            raise failures.too_much(self._speaker.server, ARGUMENTS_MAX)
        self._blocks[index] = block = _Block(dict(value))
        match block.type:
            case "text":
                yield from self._say(_text(value.get("text")))
            case "thinking":
                yield from self._think(_text(value.get("thinking")))
            case _:
                self.begun = True

    def _delta(self, index: object, delta: object) -> Iterator[StreamEvent]:
        block = self._block(index)
        if block is None or not isinstance(delta, Mapping):
            return
        match delta.get("type"):
            case "text_delta":
                piece = _text(delta.get("text"))
                block.add("text", piece)
                yield from self._say(piece)
            case "thinking_delta":
                piece = _text(delta.get("thinking"))
                block.add("thinking", piece)
                yield from self._think(piece)
            case "signature_delta":
                block.add("signature", _text(delta.get("signature")))
            case "input_json_delta":
                piece = _text(delta.get("partial_json"))
                block.add("input", piece)
                self._size += len(piece)
                if self._size > ARGUMENTS_MAX:
                    raise failures.too_much(self._speaker.server, ARGUMENTS_MAX)
            case _:
                pass

    def _say(self, piece: str) -> Iterator[StreamEvent]:
        self.begun = self.begun or bool(piece)
        if text := self._said.feed(piece):
            yield TextChunk(text)

    def _think(self, piece: str) -> Iterator[StreamEvent]:
        self.begun = self.begun or bool(piece)
        if text := self._thought.feed(piece):
            yield ReasoningChunk(text)

    def _end(self, delta: object) -> None:
        if not isinstance(delta, Mapping):
            return
        reason, details = delta.get("stop_reason"), delta.get("stop_details")
        if isinstance(reason, str) and reason:
            self._reason = reason
            self.finished = True
        if isinstance(details, Mapping) and isinstance(details.get("explanation"), str):
            self._detail = failures.tidy(details["explanation"], self._speaker.secrets)

    def _whole(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        content = message.get("content")
        for index, value in enumerate(content if isinstance(content, list) else ()):
            yield from self._start(index, value)
            if block := self._block(index):
                block.stopped = True
        self._count(message.get("usage"))
        self._end(message)
        self.ended = True

    def _block(self, index: object) -> _Block | None:
        return self._blocks.get(index) if isinstance(index, int) else None

    # the end -------------------------------------------------------------------------------------------------------

    def _calls(self) -> tuple[CallChunk, ...]:
        """Whole calls only: one that did not end, or whose arguments end inside, means that nothing of it may run."""
        found: list[CallChunk] = []
        taken: set[str] = set()
        asked = [block for _, block in sorted(self._blocks.items()) if block.type == "tool_use"]
        for block in asked:
            name, wire_id = _text(block.value.get("name")), _text(block.value.get("id"))
            text = block.arguments
            if not text and block.value.get("input"):
                text = _as_json(block.value["input"])
            arguments = whole_arguments(text)
            emptied = not text and self._reason == "max_tokens" and block is asked[-1]
            if arguments is None or not name or not block.stopped or emptied:
                raise failures.cut_arguments(self._speaker.server, name)
            if not wire_id or wire_id in taken:
                wire_id = f"toolu_{uuid.uuid4().hex[:24]}"
            taken.add(wire_id)
            found.append(CallChunk(wire_id, name, mended(arguments)))
        return tuple(found)

    def _finish_reason(self, has_calls: bool) -> FinishReason:
        speaker = self._speaker
        if self._reason == _OVERFLOWN:
            raise failures.overflow(speaker.server, speaker.model, _OVERFLOWN)
        if has_calls:
            return FinishReason.TOOL_CALLS
        if not self._reason:
            raise failures.no_finish(speaker.server)
        return _FINISHES.get(self._reason, FinishReason.STOP)

    def _count(self, usage: object) -> None:
        """Counts are cumulative: the last one of each name holds."""
        if isinstance(usage, Mapping):
            for name, value in usage.items():
                if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _TOKENS_MAX:
                    self._usage[name] = value

    @property
    def _read_tokens(self) -> int | None:
        """All that was read: what came from the provider's cache, and what went into it, is counted apart."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        counts = [self._usage[name] for name in names if name in self._usage]
        return sum(counts) if counts else None

    def _error(self, error: object) -> failures.WireFailure:
        """What passes by itself is a broken stream once something has arrived; all else is what it would have been."""
        speaker = self._speaker
        kind = error.get("type") if isinstance(error, Mapping) else None
        status = _STATUSES.get(kind) if isinstance(kind, str) else None
        if isinstance(error, Mapping) and status is not None:
            error = {**error, "status": status}
        return failures.from_error_object(
            error,
            server=speaker.server,
            model=speaker.model,
            secrets=speaker.secrets,
            midway=self.begun and (kind in _PASSING or status is None),
        )


def _as_json(value: object) -> str:
    """An object that came whole, as the JSON text that pieces would have made."""
    return json.dumps(value, ensure_ascii=False)


def _object(text: str) -> dict[str, Any]:
    try:
        value = loads(whole_arguments(text) or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
