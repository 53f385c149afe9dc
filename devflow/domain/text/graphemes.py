"""Cutting text where a reader sees no wound: between what is perceived as characters, best at a sentence."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_JOINER = "\u200d"
_SENTENCE_END = re.compile(r"[。！？；…]+[”’」』）》]*|[.!?][\"')\]]*(?=\s)|\n+")
_SPACE = re.compile(r"\s+")


def is_boundary(text: str, index: int) -> bool:
    """Whether cutting before `text[index]` leaves every perceived character whole (emoji, accents, jamo, flags)."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before == "\r" and after == "\n":
        return False
    if before == _JOINER or after == _JOINER or _extends(after):
        return False
    if "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff":
        return False
    return not (_is_flag_half(after) and _flag_halves_before(text, index) % 2)


def cut(text: str, max_chars: int) -> str:
    """The longest beginning of at most `max_chars` characters (code points) that splits no perceived character."""
    if len(text) <= max_chars:
        return text
    index = max(max_chars, 0)
    while index > 0 and not is_boundary(text, index):
        index -= 1
    return text[:index]


def cut_at_sentence(text: str, max_chars: int) -> tuple[str, bool]:
    """At most `max_chars` characters, ended at a sentence if one ends in the second half, else at a space.

    The second value says whether anything was cut; then the text ends in `…`, which counts.
    """
    if len(text) <= max_chars:
        return text, False
    room = max(max_chars - len(ELLIPSIS), 0)
    head = cut(text, room)
    # One character more is shown to the pattern: a full stop ends a sentence only before white space.
    ends = [m.end() for m in _SENTENCE_END.finditer(text[: len(head) + 1]) if len(head) // 2 <= m.end() <= len(head)]
    if not ends:
        ends = [m.start() for m in _SPACE.finditer(head) if m.start() >= len(head) // 2]
    return (head[: ends[-1]] if ends else head).rstrip() + ELLIPSIS, True


def _extends(char: str) -> bool:
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or "\ufe00" <= char <= "\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves_before(text: str, index: int) -> int:
    start = index
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return index - start
