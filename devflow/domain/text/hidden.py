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

_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:"
    "\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073"
    ")\U000e007f"
)
"""The flags of England, Scotland and Wales are spelled with tags, and are seen. Other tags behind a flag are not."""
_FLAG_BASE = "\U0001f3f4"
_HIDDEN_OR_FLAG = re.compile(f"{_FLAG.pattern}|{_HIDDEN.pattern}")
_SPELLED_OR_FLAG = re.compile(f"{_FLAG.pattern}|{_HIDDEN.pattern}|{_BREAKING.pattern}")
"""One pass each: text from outside may be flags throughout. Of these only a flag has more than one character."""


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
    found = (_HIDDEN_OR_FLAG if _FLAG_BASE in text else _HIDDEN).finditer(text)
    return tuple(Hidden(match.start(), match.group()) for match in found if len(match.group()) == 1)


def with_hidden_shown(text: str) -> str:
    """The text with hidden characters, and line ends that are none everywhere, spelled out: `\\x1b`, `\\u202e`."""
    if not _HIDDEN.search(text) and not _BREAKING.search(text):
        return text
    return _SPELLED_OR_FLAG.sub(lambda match: _spelled(match[0]) if len(match[0]) == 1 else match[0], text)


def _spelled(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
