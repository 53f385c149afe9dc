"""A page as it is read: its title and its content, without what is not content (spec 02, Corpus)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from devflow.wiki import layout

Origin = Literal["", "digest", "sediment", "init"]
"""Who wrote the page: its author, a digest of a file, `/sediment`, or the initialising, untouched since."""

TITLE_MAX = 200

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^([A-Za-z_][\w-]*):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FIRST_LEVEL = re.compile(r"^ {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}=+[ \t]*$")
_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|`+)(?=\S)(.+?)(?<=\S)\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Text:
    """`content` is what is searched and shown: no front matter, no comments. `is_bare`: nothing but headings."""

    title: str
    content: str
    is_bare: bool
    fields: dict[str, str]

    @property
    def origin(self) -> Origin:
        match self.fields.get("made_by", ""):
            case "digest":
                return "digest"
            case "sediment":
                return "sediment"
            case "init" if self.fields.get("untouched", "") == fingerprint(self.content):
                return "init"
            case _:
                return ""


def read(path: str, text: str) -> Text:
    """Take a page apart. The title is the front matter's, else the first real H1, else the file's name."""
    front, rest = _front_matter(text)
    content = without_comments(rest).strip("\n")
    lines = list(_outside_fences(content))
    title = front.get("title", "") or _first_heading(lines) or layout.stem(path)
    return Text(
        title=" ".join(title.split())[:TITLE_MAX],
        content=content,
        is_bare=not any(line.strip() and not _HEADING.match(line) for line in content.split("\n")),
        fields=front,
    )


def without_title(content: str, title: str) -> str:
    """The content without the heading that is its title, where it begins with that: for a page under its title."""
    first, _, rest = content.lstrip("\n").partition("\n")
    found = _FIRST_LEVEL.match(first)
    if found is not None and " ".join(_plain(found[1]).split())[:TITLE_MAX] == title:
        return rest.lstrip("\n")
    below, _, after = rest.partition("\n")
    if first.strip() and _UNDERLINE.match(below) and " ".join(_plain(first).split())[:TITLE_MAX] == title:
        return after.lstrip("\n")
    return content


def fingerprint(content: str) -> str:
    """Tells a page that was touched since it was written from one that was not."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def without_comments(text: str) -> str:
    """The text without its HTML comments; those in a code fence are code and stay. An open one ends nowhere."""
    out: list[str] = []
    inside = False
    fence = ""
    for line in text.split("\n"):
        if not inside:
            fence = _fence_after(line, fence)
            if fence:
                out.append(line)
                continue
        kept, inside = _strip(line, inside=inside)
        if kept.strip() or not line.strip():
            out.append(kept)
    return "\n".join(out)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Plain `key: value` lines only; whatever is more than that is left unread, and a broken block is content."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    return {key.lower(): _unquoted(value) for key, value in _FIELD.findall(found[1])}, text[found.end() :]


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if len(value) > 1 and value.startswith(quote) and value.endswith(quote):
            return value[1:-1].replace("\\" + quote, quote).replace(quote * 2, quote)
    return "" if value in ("|", ">", "|-", ">-", "null", "~") else value


def _outside_fences(text: str) -> Iterator[str]:
    fence = ""
    for line in text.split("\n"):
        before = fence
        fence = _fence_after(line, fence)
        if not fence and not before:
            yield line


def _fence_after(line: str, fence: str) -> str:
    """The mark of the fence that is open after this line; a closing line itself still counts as inside it."""
    found = _FENCE.match(line)
    if not fence:
        return found[1] if found is not None and not (found[1][0] == "`" and "`" in line[found.end() :]) else ""
    closes = found is not None and found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if closes else fence


def _first_heading(lines: list[str]) -> str:
    for number, line in enumerate(lines):
        found = _FIRST_LEVEL.match(line)
        if found is not None and found[1].strip():
            return _plain(found[1])
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line.strip() and _UNDERLINE.match(below) and not _HEADING.match(line):
            return _plain(line)
    return ""


def _plain(text: str) -> str:
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text)).strip()


def _strip(line: str, *, inside: bool) -> tuple[str, bool]:
    kept = ""
    while line:
        if inside:
            _, found, line = line.partition("-->")
            inside = not found
        else:
            before, found, line = line.partition("<!--")
            kept += before
            inside = bool(found)
    return kept, inside
