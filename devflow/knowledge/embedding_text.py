"""What of an entry is given to an embedding model: its text in parts, each under the entry's title.

A model reads a few hundred words; of a longer text it sees the beginning, or a blur. Parts are cut where a paragraph or
a sentence ends. The first part is the title with the first sentence alone: what an entry is about stands there, and a
question is about as long (tldr-xling: recall@3 .75 without, .91 with it).
"""

from __future__ import annotations

import re

PART_HAN, PART = 500, 1_300
"""Characters in a part: Han text has about a token a character, other text one for four."""
PARTS_MAX = 40
LEAD_MIN, LEAD_MAX = 20, 200
_HAN_SHARE, _HAN_NOTED = 0.2, 0.02
_HAN = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_END = re.compile(r"(?<=[。！？；\n])|(?<=[.!?;])\s+")


def parts_of(title: str, content: str) -> list[str]:
    """The texts to embed, at least one; a title alone where the content is blank."""
    parts = _cut(content, PART_HAN if is_han(content) else PART)[:PARTS_MAX]
    lead = _lead(content)
    whole = [lead, *parts] if parts and lead != parts[0] else parts
    return [f"{title}\n{part}" for part in whole] or [title]


def is_han(text: str) -> bool:
    """Whether the text is mostly Chinese, Japanese or Korean: technical words in between do not count."""
    sample = text[:2_000]
    return len(_HAN.findall(sample)) > _HAN_SHARE * len(sample)


def has_han(part: str) -> bool:
    """Whether there is more than a character or two of it: code under a Chinese title is near Chinese questions."""
    sample = part[:2_000]
    return len(_HAN.findall(sample)) > _HAN_NOTED * len(sample)


def _lead(content: str) -> str:
    """The first sentence, or as many as say something."""
    lead = ""
    for sentence in _END.split(content[: 2 * LEAD_MAX]):
        lead += sentence if sentence.endswith("\n") else f"{sentence} "
        if len(lead.strip()) >= LEAD_MIN:
            break
    return lead.strip()[:LEAD_MAX]


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
