"""A page as it is read: its title and its content, without what is not content (spec 02, Corpus)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from devflow.domain.text.pieces import lines
from devflow.wiki import layout

Origin = Literal["", "digest", "sediment", "init"]
"""Who wrote the page: its author, a digest of a file, `/sediment`, or the initialising, untouched since."""

TITLE_MAX = 200
COMMENT_SHOWN = "<\\!--"

LINE_MAX = 1_000
"""Characters of a line that are looked at for a title or a field: one line may be as long as its page."""
FRONT_MAX = 64_000
"""Characters of front matter whose fields are read."""

_KEY = re.compile(r"[A-Za-z_][\w-]*")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
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
    title = front.get("title", "") or _first_heading(_outside_fences(content)) or layout.stem(path)
    return Text(
        title=_title(title),
        content=content,
        is_bare=not any(line.strip() and not _level(line) for line in lines(content)),
        fields=front,
    )


def without_title(content: str, title: str) -> str:
    """The content without the heading that is its title, where it begins with that: for a page under its title."""
    first, _, rest = content.lstrip("\n").partition("\n")
    if _level(first) == 1 and _title(_plain(_heading(first))) == title:
        return rest.lstrip("\n")
    below, _, after = rest.partition("\n")
    if first.strip() and _underlines(below) and _title(_plain(first)) == title:
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
    for line in lines(text):
        if not inside:
            fence = _fence_after(line, fence)
            if fence:
                out.append(line)
                continue
        kept, inside = _strip(line, inside=inside)
        if kept.strip() or not line.strip():
            out.append(kept)
    return "\n".join(out)


def with_comments_shown(text: str) -> str:
    """The text so that nothing in it is taken for a comment: what somebody else wrote must not hide what follows it."""
    out: list[str] = []
    fence = ""
    for line in lines(text):
        fence = _fence_after(line, fence)
        out.append(line if fence else line.replace("<!--", COMMENT_SHOWN))
    return "\n".join(out)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Plain `key: value` lines only; whatever is more than that is left unread, and a broken block is content."""
    first = text.find("\n")
    if first < 0 or text[:first].rstrip(" \t") != "---":
        return {}, text
    at = first + 1
    for line in lines(text[at:]):
        if line.rstrip(" \t") in ("---", "..."):
            return _fields(text[first + 1 : min(at, first + FRONT_MAX)]), text[at + len(line) + 1 :]
        at += len(line) + 1
    return {}, text


def _fields(front: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in front.split("\n"):
        key, found, value = line.partition(":")
        if found and _KEY.fullmatch(key):
            fields[key.lower()] = _unquoted(value[:LINE_MAX].strip(" \t"))
    return fields


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if len(value) > 1 and value.startswith(quote) and value.endswith(quote):
            return value[1:-1].replace("\\" + quote, quote).replace(quote * 2, quote)
    return "" if value in ("|", ">", "|-", ">-", "null", "~") else value


def _outside_fences(text: str) -> Iterator[str]:
    fence = ""
    for line in lines(text):
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


def _first_heading(text: Iterator[str]) -> str:
    above = ""
    for line in text:
        if above.strip() and _underlines(line) and not _level(above):
            return _plain(above)
        if _level(line) == 1 and (found := _heading(line)):
            return _plain(found)
        above = line
    return ""


def _level(line: str) -> int:
    """1 to 6 for a heading with marks before it, else 0."""
    bare = line.lstrip(" ")
    rest = bare.lstrip("#")
    level = len(bare) - len(rest)
    return level if len(line) - len(bare) <= 3 and 1 <= level <= 6 and rest[:1] in ("", " ", "\t") else 0


def _heading(line: str) -> str:
    """A heading's words, without the marks around them."""
    words = line[:LINE_MAX].lstrip(" ").lstrip("#").strip(" \t")
    bare = words.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else words


def _underlines(line: str) -> bool:
    """Whether the line makes a heading of the one above it."""
    bare = line.lstrip(" ")
    return bare.startswith("=") and len(line) - len(bare) <= 3 and not bare.rstrip(" \t").strip("=")


def _plain(text: str) -> str:
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text[:LINE_MAX])).strip()


def _title(text: str) -> str:
    return " ".join(text.split())[:TITLE_MAX]


def _strip(line: str, *, inside: bool) -> tuple[str, bool]:
    """The line without what stands in comments, and whether one is open at its end."""
    kept: list[str] = []
    at = 0
    while at < len(line):
        end = line.find("-->" if inside else "<!--", at)
        if not inside:
            kept.append(line[at:] if end < 0 else line[at:end])
        if end < 0:
            break
        at = end + (3 if inside else 4)
        inside = not inside
    return "".join(kept), inside
