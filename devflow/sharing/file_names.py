"""A file's name from a title: readable in its own script, and allowed on every system."""

from __future__ import annotations

import re
import unicodedata

from devflow.domain.text import graphemes
from devflow.domain.text.hidden import hidden_characters

NAME_BYTES = 180
"""Of UTF-8, without the suffix: file systems take 255, and some tools put words of their own before or behind."""

_UNSAFE = re.compile(r"[<>:\"/\\|?*\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]+")
"""What Windows refuses; other systems refuse less."""
_RESERVED = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|COM[0-9¹²³]|LPT[0-9¹²³])(?:\.|$)", re.IGNORECASE)


def file_name(title: str, suffix: str, otherwise: str) -> str:
    """`多 agent 团队：怎么分工？` → `多 agent 团队：怎么分工？.md`; `otherwise` where nothing readable is left.

    `suffix` begins with its dot.
    """
    text = _UNSAFE.sub(" ", unicodedata.normalize("NFC", title))
    hidden = {found.start for found in hidden_characters(text)}
    seen = "".join(char for place, char in enumerate(text) if place not in hidden)
    name = " ".join(seen.split()).strip(". ")
    while len(name.encode()) > NAME_BYTES:
        name = graphemes.cut(name, len(name) - 1).rstrip(". ")
    if _RESERVED.match(name):
        name = f"_{name}"
    return f"{name or otherwise}{suffix}"
