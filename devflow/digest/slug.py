"""The name of a digest's page: readable in its own script, and safe on every file system and in `[[…]]`."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from pathlib import PurePath

from devflow.domain.text import graphemes
from devflow.domain.text.hidden import hidden_characters

SLUG_BYTES = 120
"""Of UTF-8; with the stamp it stays below what file systems take (255)."""

_UNSAFE = re.compile(r"[\s<>:\"/\\|?*\[\]#^(){}`'.,;!&$%~=+@（）《》〈〉“”‘’「」【】、，。；：？！…\ud800-\udfff]+")
"""What file systems refuse, what ends a reference to a page in an answer, and punctuation at large."""
_DASHES = re.compile(r"-{2,}")


def slug_of(name: str) -> str:
    """`我的 文章.v2.md` → `我的-文章-v2`; emoji stay, a name without anything readable becomes `digest`."""
    stem = unicodedata.normalize("NFC", PurePath(name).stem or name)
    hidden = {found.start for found in hidden_characters(stem)}
    seen = "".join(char for place, char in enumerate(stem) if place not in hidden)
    slug = _DASHES.sub("-", _UNSAFE.sub("-", seen)).strip("-")
    while len(slug.encode()) > SLUG_BYTES:
        slug = graphemes.cut(slug, len(slug) - 1).rstrip("-")
    return slug or "digest"


def stamp_of(at: datetime) -> str:
    """The ISO instant with `-` for `:` and `.`: `2026-11-30T19-45-12-345Z`."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H-%M-%S}-{utc.microsecond // 1000:03d}Z"
