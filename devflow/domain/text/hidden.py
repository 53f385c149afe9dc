"""Characters that a reader cannot see but a model reads: direction controls, zero-width marks, tags, controls."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"  # controls, but for tab and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # zero width, direction
    "\u3164\ufeff\uffa0\ufff9-\ufffb"  # fillers, the byte order mark, annotations
    "\U000e0000-\U000e0fff]"  # tags and further variation selectors: whole sentences can hide in them
)
_BREAKING = re.compile("\r(?!\n)|[\u2028\u2029\ud800-\udfff\ufdd0-\ufdef]")
"""What some readers take for a line end and others do not: it could hide the rest of a line, or make a line of it."""

_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
"""The flags of England, Scotland and Wales are spelled with tags, and are seen."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """One hidden character; `start` is its index in the text."""

    start: int
    char: str

    @property
    def name(self) -> str:
        """`U+202E RIGHT-TO-LEFT OVERRIDE`."""
        return f"U+{ord(self.char):04X} {unicodedata.name(self.char, '')}".rstrip()


def hidden_characters(text: str) -> tuple[Hidden, ...]:
    """Those in `text`, in order. Joiners inside words and emoji (U+200C, U+200D) are part of what is seen."""
    flags = [match.span() for match in _FLAG.finditer(text)] if "\U0001f3f4" in text else []
    found = (Hidden(match.start(), match.group()) for match in _HIDDEN.finditer(text))
    return tuple(hidden for hidden in found if not any(start <= hidden.start < end for start, end in flags))


def with_hidden_shown(text: str) -> str:
    """The text with hidden characters, and line ends that are none everywhere, spelled out: `\\x1b`, `\\u202e`."""
    places = {hidden.start for hidden in hidden_characters(text)}
    places.update(match.start() for match in _BREAKING.finditer(text))
    if not places:
        return text
    return "".join(_spelled(char) if place in places else char for place, char in enumerate(text))


def _spelled(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
