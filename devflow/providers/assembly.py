"""Tool calls put together from the pieces of a stream.

A piece belongs to the slot of its index, else of its id, else to the current one. Ids may be missing, empty, repeated
or shared: each call leaves with an id that is unique in its message. Arguments may come as text, as an object, encoded
twice, or not at all.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.request import CallChunk
from devflow.providers.mending import mended

ARGUMENTS_MAX = 8 * 1024 * 1024  # characters of all arguments of one answer
CALLS_MAX = 1_000
NAME_MAX = 200


@dataclass(slots=True)
class _Slot:
    wire_id: str = ""
    tool: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Endless(Exception):
    """More arguments, or more calls, than any answer has."""


class CutShort(Exception):
    """The arguments of a call end in the middle; `tool` is its name as far as it is known."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        super().__init__(tool)


class CallAssembler:
    """Feed it every `tool_calls` delta of one answer, then ask for the calls once."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._current: _Slot | None = None
        self._size = 0
        self.extras: dict[str, Mapping[str, Any]] = {}
        """What came with a call beside name and arguments, by its id, once `calls` was asked."""

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, pieces: object) -> None:
        """Take one delta's `tool_calls`: a list of pieces (a single piece is taken too, anything else is ignored).

        Raises `Endless` for more than anybody means.
        """
        for piece in pieces if isinstance(pieces, list) else [pieces]:
            if isinstance(piece, Mapping):
                self._add_piece(piece)

    def calls(self, *, whole: bool = True) -> tuple[CallChunk, ...]:
        """The whole calls, in the order in which they began; raises `CutShort`. A slot without a name is no call.

        `whole`: the server said that nothing is missing; where it did not, a call without arguments was cut there.
        """
        taken: set[str] = set()
        found = []
        for slot in self._slots:
            text = slot.text
            if not slot.tool and not text.strip():
                continue
            arguments = whole_arguments(text)
            if arguments is None or not slot.tool or not (whole or text.strip()):
                raise CutShort(slot.tool)
            wire_id = slot.wire_id
            if not wire_id or wire_id in taken:
                wire_id = f"call_{uuid.uuid4().hex[:24]}"
            taken.add(wire_id)
            if slot.extra:
                self.extras[wire_id] = slot.extra
            found.append(CallChunk(wire_id, slot.tool, mended(arguments)))
        return tuple(found)

    def _add_piece(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else piece
        name, wire_id = _text(function.get("name")), _text(piece.get("id"))
        slot = self._slot_for(piece.get("index"), wire_id, name)
        slot.wire_id = slot.wire_id or wire_id
        if not slot.tool:
            slot.tool = name
        elif name and name != slot.tool and not any(slot.pieces) and len(slot.tool) < NAME_MAX:
            slot.tool += name  # a name that comes in pieces
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            slot.pieces.append(arguments)
            self._size += len(arguments)
        elif arguments is not None:
            slot.pieces = [json.dumps(arguments, ensure_ascii=False)]
            self._size += len(slot.pieces[0])
        extra = piece.get("extra_content")
        if isinstance(extra, Mapping) and extra:
            slot.extra = extra
            self._size += len(json.dumps(extra))
        if self._size > ARGUMENTS_MAX or len(self._slots) > CALLS_MAX:
            raise Endless
        self._current = slot

    def _slot_for(self, index: object, wire_id: str, name: str) -> _Slot:
        index = int(index) if isinstance(index, str) and index.isdecimal() and len(index) < 10 else index
        if isinstance(index, int) and not isinstance(index, bool):
            slot = self._by_index.get(index)
            if slot is None or _is_another(slot, wire_id, name):
                slot = self._by_index[index] = self._new_slot()
            return slot
        if wire_id:
            for slot in self._slots:
                if slot.wire_id == wire_id and not (name and _is_complete(slot.text) and slot.text.strip()):
                    return slot
            return self._new_slot()
        if self._current is None or (name and _is_complete(self._current.text) and self._current.tool):
            return self._new_slot()
        return self._current

    def _new_slot(self) -> _Slot:
        slot = _Slot()
        self._slots.append(slot)
        return slot


def whole_arguments(text: str) -> str | None:
    """The JSON text of the arguments: an object where one can be made of it; None if it ends in the middle.

    Text that is whole but no JSON is returned as it is: the tool's own validation tells the model what is wrong.
    """
    stripped = text.strip()
    if stripped in ("", "null"):
        return "{}"
    try:
        value = loads(stripped, strict=False)
    except ValueError:
        if (once := _said_twice(stripped)) is not None:
            return once
        return None if ends_inside(stripped) else stripped
    if isinstance(value, str):  # encoded twice
        return whole_arguments(value) if value.strip() else "{}"
    return stripped if _is_strict(stripped) else json.dumps(value, ensure_ascii=False)


def ends_inside(text: str) -> bool:
    """Whether JSON text ends within a string or with brackets open."""
    depth, in_string, escaped = 0, False, False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
    return in_string or depth > 0


def _is_another(slot: _Slot, wire_id: str, name: str) -> bool:
    """Some servers give every parallel call the index 0: a new id and a name after a whole call begin another."""
    return bool(wire_id and name and slot.wire_id and wire_id != slot.wire_id and _is_complete(slot.text))


def _is_complete(text: str) -> bool:
    return not ends_inside(text)


def _said_twice(text: str) -> str | None:
    """Some servers stream the arguments and then send them whole once more."""
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    first, rest = text[:end], text[end:].strip()
    return first if rest == first.strip() else None


def _is_strict(text: str) -> bool:
    try:
        loads(text)
    except ValueError:
        return False
    return True


def _text(value: object) -> str:
    """A name or an id, as text that can be kept and is no longer than one is."""
    try:
        text = value if isinstance(value, str) else str(value) if isinstance(value, int) else ""
    except ValueError:  # a number of more digits than Python prints
        text = ""
    return mended(text[:NAME_MAX])
