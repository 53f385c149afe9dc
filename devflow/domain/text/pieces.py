"""A long text in pieces: one call of a regular expression, or of the interpreter, holds every thread for its length."""

from __future__ import annotations

from collections.abc import Iterator

PIECE = 32_000
"""Characters; a text this long or shorter is one piece."""
_ENDS = ("\n", " ", "。", "，")


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """The text in pieces of at most `size` characters, cut between lines or words where there is such a place."""
    at = 0
    while len(text) - at > size:
        end = max(text.rfind(mark, at + size // 2, at + size) for mark in _ENDS) + 1 or at + size
        yield text[at:end]
        at = end
    yield text[at:] if at else text


def lines(text: str) -> Iterator[str]:
    """What `text.split("\\n")` gives, without the list of all of them."""
    at = 0
    while len(text) - at > PIECE:
        end = text.rfind("\n", at, at + PIECE)
        if end < 0:
            end = text.find("\n", at + PIECE)
            if end < 0:
                break
        yield from text[at:end].split("\n")
        at = end + 1
    yield from (text[at:] if at else text).split("\n")
