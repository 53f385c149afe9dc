"""Fences around text from outside: opened and closed by a nonce that the text cannot know (spec 03, Tools).

One nonce serves all blocks of a receipt. What stands between the marks is data, whatever it says about itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable


def new_nonce(texts: Iterable[str] = ()) -> str:
    """A fresh nonce of 12 hexadecimal digits that occurs in none of `texts`."""
    known = tuple(texts)
    while True:
        nonce = secrets.token_hex(6)
        if not any(nonce in text for text in known):
            return nonce


def fenced(label: str, nonce: str, text: str) -> str:
    """`text` between marks of its own lines; `label` names the source (`K1`, `P2`, `tool`)."""
    return f"{_opening(label, nonce)}\n{text}\n{_closing(label, nonce)}"


def _opening(label: str, nonce: str) -> str:
    return f"<<<{label} {nonce}>>>"


def _closing(label: str, nonce: str) -> str:
    return f"<<<end {label} {nonce}>>>"
