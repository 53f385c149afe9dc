"""What a command printed, within bounds and as plain text: its beginning and its end, and how much lies between."""

from __future__ import annotations

import locale
import re
import sys
from collections import deque

from devflow.domain.text.hidden import hidden_characters

HEAD_MAX, TAIL_MAX = 10_000, 20_000
"""Bytes kept of the beginning and of the end."""
NEWEST_MAX = 4_000
"""Bytes of the end that are shown while the command runs."""

_ESCAPES = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, the cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|[()*+][0-9A-Za-z]"  # character sets
    r"|[=>78cDEHMNOZ]"
    r")"
)


class Output:
    """Fed in chunks of any size; never holds more than about `HEAD_MAX` + `TAIL_MAX` + one chunk."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._dropped_lines = 0

    def add(self, data: bytes) -> None:
        room = HEAD_MAX - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= TAIL_MAX:
            self._drop(self._tail.popleft())

    def text(self) -> str:
        """The whole output, or its two ends with a line between them that says what is missing."""
        tail = b"".join(self._tail)
        extra = max(0, len(tail) - TAIL_MAX)
        dropped, lines = self._dropped + extra, self._dropped_lines + tail[:extra].count(b"\n")
        if not dropped:
            return plain(bytes(self._head) + tail)
        head, cut_before = _without_cut_end(bytes(self._head))
        rest, cut_after = _without_cut_start(tail[extra:])
        missing = dropped + cut_before + cut_after
        marker = f"[{missing:,} bytes with {lines:,} line ends are left out here]"
        return f"{plain(head)}\n{marker}\n{plain(rest)}"

    def newest(self) -> str:
        """The end of what there is so far."""
        data = b"".join(self._tail)[-NEWEST_MAX:]
        if len(data) < NEWEST_MAX:
            data = bytes(self._head)[len(data) - NEWEST_MAX :] + data
        return plain(_without_cut_start(data)[0] if len(data) == NEWEST_MAX else data)

    def _drop(self, data: bytes) -> None:
        self._dropped += len(data)
        self._dropped_lines += data.count(b"\n")
        self._tail_size -= len(data)


def plain(data: bytes) -> str:
    """Text without terminal sequences; other control and bidirectional characters are shown, not rendered.

    A lone carriage return is a new line: what it would overwrite on a terminal was printed too.
    """
    text = _ESCAPES.sub("", _decoded(data)).replace("\r\n", "\n").replace("\r", "\n")
    return shown_controls(text)


def shown_controls(text: str) -> str:
    """Characters that nobody sees, but for line ends and tabs, in their spelling: `\\x1b`, `\\u202e`."""
    hidden = {each.start for each in hidden_characters(text)}
    if not hidden and text.isprintable():
        return text
    return "".join(
        char if char in "\n\t" or (char.isprintable() and place not in hidden) else _shown(char)
        for place, char in enumerate(text)
    )


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if sys.platform == "win32":  # programs there print in the system's own code page
            return data.decode(locale.getencoding(), "backslashreplace")
        return data.decode("utf-8", "backslashreplace")


def _shown(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _without_cut_end(data: bytes) -> tuple[bytes, int]:
    """Without the beginning of a character whose rest is missing; how many bytes that took."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            whole = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return (data[:-back], back) if back < whole else (data, 0)
    return data, 0


def _without_cut_start(data: bytes) -> tuple[bytes, int]:
    """Without the end of a character whose beginning is missing."""
    at = 0
    while at < min(3, len(data)) and 0x80 <= data[at] < 0xC0:
        at += 1
    return data[at:], at
