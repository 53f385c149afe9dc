"""What a stream came to, in the words of the fixtures' `expect` lines, and whether it is what was expected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from devflow.domain.request import CallChunk, ReasoningChunk, ReplayChunk, StreamEnd, StreamEvent, TextChunk, UsageChunk
from devflow.providers.failures import WireFailure

OWN = ("call_", "toolu_")
"""How the ids begin that adapters make themselves."""


@dataclass(frozen=True)
class Outcome:
    lines: tuple[str, ...]
    sentence: str = ""


def told(events: Sequence[StreamEvent], failure: WireFailure | None) -> Outcome:
    lines: list[str] = []
    for event in joined(events):
        match event:
            case TextChunk(text):
                lines.append(f"text {_string(text)}")
            case ReasoningChunk(text):
                lines.append(f"thought {_string(text)}")
            case CallChunk(wire_id, tool, arguments):
                lines.append(f"call {wire_id} {tool} {arguments}")
            case UsageChunk(read, written):
                lines.append(f"usage {_number(read)} {_number(written)}")
            case ReplayChunk(value):
                lines.append(f"replay {_string(list(_blocks(value)) if 'blocks' in value else value)}")
            case StreamEnd(reason, detail):
                lines.append(f"end {reason} {detail}".rstrip())
    if failure is None:
        return Outcome(tuple(lines))
    return Outcome((*lines, f"fail {failure.code}"), str(failure))


def difference(expected: Sequence[str], found: Outcome) -> str:
    """Empty if the outcome is right, else what is wrong in one line."""
    ids = [line.split(" ")[1] for line in found.lines if line.startswith("call ")]
    if len(ids) != len(set(ids)):
        return f"two calls share an id: {ids}"
    if len(found.lines) != len(expected):
        return f"{list(found.lines)} instead of {list(expected)}"
    for wanted, line in zip(expected, found.lines, strict=True):
        if wanted.startswith("call * "):
            _, id, rest = line.split(" ", 2)
            right = id.startswith(OWN) and rest == wanted.removeprefix("call * ")
        elif wanted.startswith("fail "):
            code, _, words = wanted.removeprefix("fail ").partition(" ")
            right = line == f"fail {code}" and words in found.sentence
            line = f"{line}: {found.sentence}"
        else:
            right = line == wanted
        if not right:
            return f"{line} instead of {wanted}"
    return ""


def joined(events: Sequence[StreamEvent]) -> list[StreamEvent]:
    """The events, neighbouring texts as one."""
    whole: list[StreamEvent] = []
    for event in events:
        last = whole[-1] if whole else None
        if isinstance(event, TextChunk) and isinstance(last, TextChunk):
            whole[-1] = TextChunk(last.text + event.text)
        elif isinstance(event, ReasoningChunk) and isinstance(last, ReasoningChunk):
            whole[-1] = ReasoningChunk(last.text + event.text)
        else:
            whole.append(event)
    return whole


def _blocks(value: object) -> Iterator[object]:
    """What is kept for the next request and is neither text nor a call, block by block."""
    if isinstance(value, Mapping):
        if "type" in value:
            if value["type"] not in ("text", "tool_use"):
                yield value
            return
        value = list(value.values())
    for inner in value if isinstance(value, list | tuple) else ():
        yield from _blocks(inner)


def _string(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
