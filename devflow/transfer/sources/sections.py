"""A Markdown text in sections, or in the points of its list; what stands in a code block is neither."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_POINT = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_INLINE = re.compile(r"\*\*|__|`|!?\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Section:
    """`title` is empty for what stands before the first heading; `line` counts from 1; `text` has no heading."""

    title: str
    line: int
    text: str


def sections(text: str) -> tuple[Section, ...]:
    """Split at the highest level of heading that occurs more than once, and at the ones above it. Empty ones go."""
    lines = text.split("\n")
    headings = {at: found for at, line in _prose(lines) if (found := _HEADING.match(line))}
    levels = Counter(len(found[1]) for found in headings.values())
    split = min((level for level, count in levels.items() if count > 1), default=max(levels, default=0))
    starts = [at for at, found in headings.items() if len(found[1]) <= split]
    parts = [_section("", 0, lines[: starts[0]] if starts else lines)]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        parts.append(_section(plain(headings[at][2] or ""), at, lines[at + 1 : end]))
    return tuple(each for each in parts if each.text.strip())


def points(text: str) -> tuple[Section, ...]:
    """The points of a text that is a list, each with the lines that belong to it; nothing where it is none."""
    lines = text.split("\n")
    starts = [at for at, line in _prose(lines) if _POINT.match(line)]
    if len(starts) < 2 or "\n".join(lines[: starts[0]]).strip():
        return ()
    ends = [*starts[1:], len(lines)]
    return tuple(_section("", at, lines[at:end]) for at, end in zip(starts, ends, strict=True))


def first_heading(text: str) -> tuple[str, str]:
    """The heading that the text begins with, and the text without it; ("", text) where it begins with none."""
    head, _, rest = text.lstrip("\n").partition("\n")
    found = _HEADING.match(head)
    return (plain(found[2] or ""), rest) if found and len(found[1]) == 1 else ("", text)


def plain(line: str) -> str:
    """A heading's words, without marks."""
    return " ".join(_INLINE.sub(lambda mark: mark[1] or "", line).split())


def _section(title: str, at: int, lines: list[str]) -> Section:
    return Section(title, at + 1, "\n".join(lines).strip("\n").rstrip())


def _prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines outside code blocks, each with its place."""
    fence = ""
    for at, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            fence = found[1]
        else:
            yield at, line
