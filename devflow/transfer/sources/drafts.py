"""From a source's words to a draft within the rules of an entry; what a rule forbids is said with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from devflow.domain.errors import InvalidInput
from devflow.domain.knowledge import CONTENT_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX, EntryDraft, draft
from devflow.domain.messages import N_
from devflow.domain.text import graphemes
from devflow.extraction.candidate import guess_kind, title_of
from devflow.transfer.pieces import BadFile, Format

CONFIDENCE = 0.5
"""Of what says nothing about how sure it is; the same as of what a program proposes."""

_CODE = re.compile(r"(^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)|`[^`\n]+`)", re.S | re.M)
_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_TAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w/-]*|\d+[^\W\d][\w/-]*)")
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif|pdf|mp[34]|wav|m4a|ogg|flac|webm|mov|mkv|zip|canvas|base)$", re.IGNORECASE
)


def made(
    format: Format,
    *,
    title: str,
    content: str,
    line: int,
    kind: str | None = None,
    tags: Iterable[str] = (),
    confidence: float = CONFIDENCE,
) -> EntryDraft:
    """Raises BadFile. A title is made where there is none, and cut where it is too long; tags that do not fit go."""
    text = content.strip("\n").rstrip()
    name = " ".join(title.split()) or title_of(text)
    if len(text) > CONTENT_MAX:
        raise BadFile(
            N_("“{title}” has {length} characters; at most {limit} fit"),
            N_("Split it."),
            line=line,
            title=name[:80],
            length=f"{len(text):,}",
            limit=f"{CONTENT_MAX:,}",
        )
    try:
        return draft(
            kind=kind or guess_kind(f"{name}\n{text}"),
            title=graphemes.cut(name, TITLE_MAX) if len(name) > TITLE_MAX else name,
            content=text,
            tags=_fitting(tags),
            confidence=confidence,
            source_ref=f"import:{format}",
        )
    except InvalidInput as error:
        raise BadFile(error.message, error.hint, line=line, **error.params) from error


def _fitting(tags: Iterable[str]) -> list[str]:
    kept = {tag.strip().lstrip("#").casefold(): tag.strip().lstrip("#") for tag in reversed(list(tags))}
    return [tag for tag in reversed(kept.values()) if 0 < len(tag) <= TAG_MAX][:TAGS_MAX]


def without_wikilinks(text: str) -> str:
    """`[[note|words]]` as its words, attachments gone; code stays as it is."""
    return _outside_code(text, lambda prose: _LINK.sub(_words, prose))


def tags_in(text: str) -> tuple[str, ...]:
    """`#tag` and `#tag/below`, outside code; a heading is none."""
    found: list[str] = []

    def collect(prose: str) -> str:
        found.extend(tag.rstrip("/-") for tag in _TAG.findall(prose))
        return prose

    _outside_code(text, collect)
    return tuple(dict.fromkeys(found))


def _words(link: re.Match[str]) -> str:
    embedded, target, alias = link[1], link[2].strip(), (link[3] or "").strip()
    note, _, heading = target.partition("#")
    if embedded and _ATTACHMENT.search(note):
        return ""
    if alias and not embedded:
        return alias
    name = note.rpartition("/")[2].removesuffix(".md")
    below = heading.replace("#", " › ").lstrip("^")
    return " › ".join(filter(None, (name, below)))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        parts += (change(text[at : code.start()]), code[0])
        at = code.end()
    return "".join((*parts, change(text[at:])))
