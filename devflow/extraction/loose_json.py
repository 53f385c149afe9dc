"""The JSON in a model's answer: think blocks, fences and prose removed, its syntax mended, nothing invented."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST = 200_000  # characters of an answer that are looked at
_STARTS_TRIED = 20

_THINKING = re.compile(
    r"\A\s*(?:<(think|thinking|thought|reasoning)>.*?</\1>|◁think▷.*?◁/think▷)", re.DOTALL | re.IGNORECASE
)
_OPENS = re.compile(r"[\[{]")
_THINKING_BEGINS = re.compile(r"\A\s*(?:<(?:think|thinking|thought|reasoning)>|◁think▷)", re.IGNORECASE)
_MARKS = {'"': '"', "'": "'", "“": "”", "”": "”", "„": "“", "＂": "＂"}
"""What opens a string outside of one, and what ends it."""
_SIGNS = {"，": ",", "：": ":", "［": "[", "］": "]", "｛": "{", "｝": "}"}
_ENCODED = re.compile(r'"(?:\s|\\[nrt])*[\[{](?=(?:\s|\\[nrt])*(?:[{\[\]}]|\\"))')
_BEGINS_AS_JSON = re.compile(r"\[\s*(?:[{\[\]]|//|/\*|#)|\{\s*(?:[\"'“}]|//|/\*|#|[A-Za-z_]\w*\s*[:：])")
_OBJECT_LATER = re.compile(r"[,，]\s*\{\s*[\"'“A-Za-z_]")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING_ENDS = re.compile(r"\s*(?:[,:，：\]}］｝]|\Z)")
_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_THINKING_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>|◁/think▷", re.IGNORECASE)


class NotJson(Exception):
    """There is no JSON object or array in the text."""


@dataclass(frozen=True, slots=True)
class Found:
    """The values of the text, outermost ones only. `cut`: the text ended inside the last one, what was open is gone."""

    values: tuple[Any, ...]
    cut: bool


def find_json(text: str) -> Found:
    """Every outermost JSON object or array in `text`, in order; raises `NotJson` when there is none."""
    body = _without_thinking(text[:LONGEST]).lstrip("\ufeff").strip()
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return _find_in_prose(body)
    match value:
        case list() | dict():
            return Found((value,), cut=False)
        case str() if len(value) < len(body):  # the whole answer once more as a JSON string
            return find_json(value)
        case _:
            raise NotJson


def _without_thinking(text: str) -> str:
    """Drop the think blocks before the answer; one that never ends has no answer behind it."""
    while (block := _THINKING.match(text)) is not None:
        text = text[block.end() :]
    return "" if _THINKING_BEGINS.match(text) else text


def _find_in_prose(text: str) -> Found:
    """Behind the end of a thought whose beginning the server swallowed; else anywhere."""
    if (inner := _written_as_a_string(text)) is not None:
        return find_json(inner)
    ends = [match.end() for match in _THINKING_ENDS.finditer(text)]
    for body in (text[ends[-1] :], text) if ends else (text,):
        values: list[Any] = []
        cut = False
        for piece, whole in _pieces(body):
            value = _read(piece)
            if value is not None:
                values.append(value)
                cut = cut or not whole
        if values:
            return Found(tuple(values), cut)
    raise NotJson


def _written_as_a_string(text: str) -> str | None:
    """The JSON that a JSON string holds, where nothing that looks like JSON stands before it."""
    string = _ENCODED.search(text)
    if string is None or any(
        _BEGINS_AS_JSON.match(text, each.start()) for each in _OPENS.finditer(text, 0, string.start())
    ):
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, string.start())
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Outermost bracketed stretches and whether they are whole; of one that is cut, what was complete."""
    at, tried = 0, 0
    while (start := _next_bracket(text, at)) is not None and tried < _STARTS_TRIED:
        tried += 1
        end, complete = _match_brackets(text, start)
        if end is not None:
            piece = text[start:end]
            if _looks_like_json(piece):
                yield piece, True
            at = end
            continue
        if complete is not None and _looks_like_json(text[start:]):
            yield complete, False
            return
        at = start + 1


def _next_bracket(text: str, at: int) -> int | None:
    found = _OPENS.search(text, at)
    return found.start() if found else None


def _looks_like_json(piece: str) -> bool:
    """`[1]` or `{name}` in prose is none: an array holds objects or nothing, an object begins with a name."""
    if _BEGINS_AS_JSON.match(piece) is not None:
        return True
    return piece[0] == "[" and _OBJECT_LATER.search(piece) is not None


def _match_brackets(text: str, start: int) -> tuple[int | None, str | None]:
    """Where the stretch that opens at `start` ends; if it never does, its complete objects with the rest closed."""
    closing: list[str] = []
    last_object: tuple[int, str] | None = None
    i = start
    while i < len(text):
        char = text[i]
        if char in _MARKS and char != "'":
            end = _end_of_string(text, i + 1, _MARKS[char])
            i = len(text) if end is None else end
        elif char in "[{":
            closing.append("]" if char == "[" else "}")
        elif char in "]}":
            if char not in closing:
                i += 1
                continue
            while closing.pop() != char:
                pass  # a bracket the model forgot
            if not closing:
                return i + 1, None
            if char == "}" and closing[-1] == "]":
                last_object = (i + 1, "".join(reversed(closing)))
        i += 1
    if last_object is None:
        return None, None
    end, rest = last_object
    return None, text[start:end] + rest


def _read(piece: str) -> Any:
    """The piece's value, or None if even mending its syntax gives neither object nor array."""
    try:
        return json.loads(piece, strict=False)
    except ValueError:
        pass
    except RecursionError:
        return None
    plain = _plain_signs(piece)
    try:
        return json.loads(plain, strict=False)
    except ValueError:
        pass
    import json_repair  # at the first broken answer, not at start-up

    try:
        value = json_repair.loads(plain, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list | dict) else None


def _plain_signs(piece: str) -> str:
    """Between its strings “，” and “：” are a comma and a colon, comments are nothing, and “…” is a string as "…" is.

    What the strings themselves say stays as it is. A piece that does not come out even is left alone: somewhere in it a
    quotation mark was not what it seemed.
    """
    out: list[str] = []
    at = 0
    while at < len(piece):
        char = piece[at]
        until = _MARKS.get(char)
        if until is None:
            comment = _COMMENT.match(piece, at)
            out.append("" if comment else _SIGNS.get(char, char))
            at = comment.end() if comment else at + 1
            continue
        end = _end_of_string(piece, at + 1, until)
        if end is None:
            return piece
        inner = piece[at + 1 : end]
        out.append(f'"{inner}"' if until == '"' else f'"{_QUOTE.sub(_as_json, inner)}"')
        at = end + 1
    return "".join(out)


def _end_of_string(text: str, at: int, until: str) -> int | None:
    """A “…” or '…' that stands inside of a string has words behind it, not a sign of JSON."""
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == until and (until == '"' or _STRING_ENDS.match(text, at + 1)):
            return at
        at += 1
    return None


def _as_json(found: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])
