"""What the model wrote, held against the fixed sections of a page (spec 02, Batch digest)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from devflow.domain.text.hidden import with_hidden_shown
from devflow.wiki.page import with_comments_shown

SECTIONS = ("title", "core summary", "key details", "relation to the purpose", "open questions")
TITLE_MAX = 200
SUMMARY_MAX = 160
"""Characters of the summary that stand in the index."""

_NAMES = {
    "core summary": ("核心摘要", "核心总结", "摘要", "core summary", "summary"),
    "key details": ("关键细节", "关键要点", "要点", "key details", "details", "key points"),
    "relation to the purpose": (
        *("与知识库目的的关系", "与目的的关系", "与知识库的关系"),
        *("relation to the purpose", "relation to purpose", "relationship to the purpose", "relation"),
    ),
    "open questions": ("待解问题", "待解决问题", "待解的问题", "开放问题", "未解问题", "open questions", "questions"),
}
_KNOWN = {name: section for section, names in _NAMES.items() for name in names}

_OPENING = re.compile(r"^ {0,3}(#{1,6})[ \t]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_WHOLE_BLOCK = re.compile(r"\A\s*(`{3,}|~{3,})(?:markdown|md)?[ \t]*\n(.*)\n\1[ \t]*\Z", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_LABEL = re.compile(r"^(?:标题|题目|title)[ \t]*[:：][ \t]*", re.IGNORECASE)
_MARKS = re.compile(r"[*_`]+")
_BEFORE = re.compile(r"^[\s\d.、):（(-]+")
_AFTER = " \t:)#–—-"
"""What stands around a section's name: a number, a colon."""
_NAME_MAX = 200
"""Characters of a heading that may be a section's."""


@dataclass(frozen=True, slots=True)
class Digest:
    """A page's content: `markdown` begins with the title's heading; `summary` is a line for the index."""

    title: str
    summary: str
    markdown: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Sections that are not there; all of them where nothing was written."""

    sections: tuple[str, ...]


def parse_answer(text: str) -> Digest | Missing:
    """The page in the answer: what a model wraps around it (a code block, a greeting, its thoughts) is left out.

    What it would hide from whoever reads or searches the page (comments, characters without a shape) is shown.
    """
    body = _THOUGHT.sub("", text.replace("\r\n", "\n"), count=1)
    wrapped = _WHOLE_BLOCK.match(body)
    body = wrapped[2] if wrapped else body
    lines = with_comments_shown(with_hidden_shown(body.strip())).split("\n")
    headings = _headings(lines)
    first = next((place for place, level, words in headings if level == 1 and _section(words) is None), None)
    title = _title(lines[first]) if first is not None else ""
    found = {section: place for place, _, words in reversed(headings) if (section := _section(words)) is not None}
    missing = [name for name in SECTIONS[1:] if name not in found]
    if "core summary" in found and not (summary := _summary(lines, found["core summary"])):
        missing.insert(0, "core summary")
    if not title:
        missing.insert(0, "title")
    if missing or first is None:
        return Missing(tuple(missing))
    return Digest(title, summary, "\n".join(lines[first:]).strip())


def section_of_line(line: str) -> str | None:
    """The section that begins with this line of an answer that is still being written."""
    heading = heading_of(line.rstrip("\r"))
    return _section(heading[1]) if heading is not None else None


def heading_of(line: str) -> tuple[int, str] | None:
    """Level and words of a heading, in linear time: a model's line may be as long as its answer."""
    found = _OPENING.match(line)
    if found is None:
        return None
    words = line[found.end() :].strip(" \t")
    bare = words.rstrip("#")
    return len(found[1]), bare.rstrip(" \t") if not bare or bare[-1] in " \t" else words


def _headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """(line, level, words) of every heading that stands in no code block."""
    found, fence = [], ""
    for place, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is not None:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
            continue
        heading = heading_of(line)
        if heading is not None and not fence:
            found.append((place, *heading))
    return found


def _section(words: str) -> str | None:
    if len(words) > _NAME_MAX:
        return None
    plain = unicodedata.normalize("NFKC", _MARKS.sub("", words)).casefold()
    return _KNOWN.get(_BEFORE.sub("", plain).rstrip(_AFTER))


def _title(line: str) -> str:
    heading = heading_of(line)
    words = _MARKS.sub("", heading[1]) if heading is not None else ""
    return " ".join(_LABEL.sub("", words.strip()).split())[:TITLE_MAX]


def _summary(lines: list[str], place: int) -> str:
    """The first words below a heading, on one line."""
    for line in lines[place + 1 :]:
        if heading_of(line) is not None:
            return ""
        if words := " ".join(_MARKS.sub("", line).strip(" -*>\t").split()):
            return words if len(words) <= SUMMARY_MAX else f"{words[: SUMMARY_MAX - 1]}…"
    return ""
