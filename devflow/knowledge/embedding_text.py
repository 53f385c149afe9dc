"""What of an entry is given to an embedding model: its text in parts, each under the entry's title.

A model reads a few hundred words; of a longer text it sees the beginning, or a blur. Parts are cut where a paragraph or
a sentence ends.
"""

from __future__ import annotations

import re

PART_HAN, PART = 500, 1_300
"""Characters in a part: Han text has about a token a character, other text one for four."""
PARTS_MAX = 40
_HAN_SHARE = 0.2
_HAN = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_END = re.compile(r"(?<=[。！？；\n])|(?<=[.!?;])\s+")


def parts_of(title: str, content: str) -> list[str]:
    """The texts to embed, at least one; a title alone where the content is blank."""
    sample = content[:2_000]
    size = PART_HAN if len(_HAN.findall(sample)) > _HAN_SHARE * len(sample) else PART
    return [f"{title}\n{part}" for part in _cut(content, size)[:PARTS_MAX]] or [title]


def _cut(content: str, size: int) -> list[str]:
    parts: list[str] = []
    current = ""
    for sentence in _END.split(content):
        rest = sentence if sentence.endswith("\n") else f"{sentence} "
        if current and len(current) + len(rest) > size:
            parts.append(current)
            current = ""
        while len(rest) > size:
            parts.append(rest[:size])
            rest = rest[size:]
        current += rest
    parts.append(current)
    return [part.strip() for part in parts if part.strip()]
