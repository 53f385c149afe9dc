"""What fits: characters for the library, tokens for the answer, and how a text that is too long is cut."""

from __future__ import annotations

from collections.abc import Sequence

from devflow.domain.text.passages import best_passages

ENTRY_CHARS = 1_200
"""At most so many characters of one entry's text stand in a prompt (spec 01, Injection)."""

UNKNOWN_WINDOW_CHARS = 2_000
MIN_LIBRARY_CHARS = 1_200
LIBRARY_SHARE = 0.1


def library_chars(window_tokens: int | None) -> int:
    """Characters for the library's whole block: max(1200, floor(window × 0.1)), 2,000 if unknown (spec 08)."""
    if window_tokens is None:
        return UNKNOWN_WINDOW_CHARS
    return max(MIN_LIBRARY_CHARS, int(window_tokens * LIBRARY_SHARE))


def library_tokens(window_tokens: int | None) -> int | None:
    """At most a third of the window, whatever script it is in: 1,200 Chinese characters would fill 2,048 tokens."""
    return None if window_tokens is None else window_tokens // 3


def output_reserve(window_tokens: int) -> int:
    """Tokens kept free for the answer: a quarter of the window, at most 4,096."""
    return min(4_096, window_tokens // 4)


def request_room(window_tokens: int, ratio: float) -> int:
    """Estimated tokens that a request may have: the window without the answer's reserve, by the model's own measure."""
    return int((window_tokens - output_reserve(window_tokens)) / ratio)


def cut_to_fit(text: str, limit: int, mark: str, terms: Sequence[str] = ()) -> str:
    """`text` if it fits; else the sentences around what matched, and `mark`: never more than `limit` characters."""
    if len(text) <= limit:
        return text
    room = limit - len(mark) - 1
    if room <= 0:
        return ""
    return f"{best_passages(text, terms, room).strip()}\n{mark}"
