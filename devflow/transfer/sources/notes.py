"""Notes: a folder of Markdown, an Obsidian vault, the notes of basic-memory. One candidate a note.

basic-memory's format: https://docs.basicmemory.com/concepts/knowledge-format (observations `- [category] text #tag`,
relations `- kind [[note]]`). Obsidian's: https://help.obsidian.md (properties, `[[links]]`, `#tags`, `![[embeds]]`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from devflow.domain.knowledge import CONTENT_MAX, Kind
from devflow.domain.text.folding import fold
from devflow.transfer import front_matter
from devflow.transfer.files import SourceFile
from devflow.transfer.pieces import Format, Piece, key_of
from devflow.transfer.sources.drafts import CONFIDENCE, made, tags_in, without_wikilinks
from devflow.transfer.sources.sections import first_heading, sections

_OBSERVATION = re.compile(r"^[-*] \[(?![ xX/>-]\])[^\[\]\n]{1,40}\] \S", re.MULTILINE)


def read(text: str, file: SourceFile, place: str, *, vault: bool) -> tuple[Piece, ...]:
    """`place` names the file for good. Nothing for an empty note; raises BadFile and BadFrontMatter.

    A note that is longer than an entry may be becomes one candidate a section.
    """
    parts = front_matter.read(text)
    fields = parts.fields
    heading, rest = first_heading(parts.body)
    title = front_matter.text_of(fields, "title") or heading or file.stem
    body = rest if heading and fold(heading) == fold(title) else parts.body
    if not body.strip():
        return ()
    format = _format(fields, parts.body, vault=vault)
    tags = (*front_matter.texts_of(fields, "tags", "tag", "keywords"), *_inline_tags(format, body))
    content = body if format is Format.MARKDOWN and "[[" not in body else without_wikilinks(body)
    kind, confidence = _kind(fields), _confidence(fields)
    project = front_matter.text_of(fields, "project")

    def piece(key: str, line: int, title: str, content: str) -> Piece:
        draft = made(format, title=title, content=content, line=line, kind=kind, tags=tags, confidence=confidence)
        return Piece(key, format, file.name, line, draft, project)

    if len(content.strip()) <= CONTENT_MAX:
        return (piece(key_of(format, place), 1, title, content),)
    return tuple(
        piece(
            key_of(format, place, section.title, str(at)),
            parts.body_line + section.line - 1,
            f"{title}: {section.title}" if section.title else title,
            section.text,
        )
        for at, section in enumerate(sections(content))
    )


def _format(fields: Mapping[str, Any], body: str, *, vault: bool) -> Format:
    if "permalink" in fields or (_OBSERVATION.search(body) and not vault):
        return Format.BASIC_MEMORY
    return Format.OBSIDIAN if vault else Format.MARKDOWN


def _inline_tags(format: Format, body: str) -> tuple[str, ...]:
    """In plain Markdown `#12` and `#define` are no tags."""
    return tags_in(body) if format is not Format.MARKDOWN else ()


def _kind(fields: Mapping[str, Any]) -> str | None:
    said = front_matter.text_of(fields, "kind", "type").replace("-", "_").lower()
    return said if said in tuple(Kind) else None


def _confidence(fields: Mapping[str, Any]) -> float:
    said = fields.get("confidence")
    try:
        number = float(said) if isinstance(said, str | int | float) else CONFIDENCE
    except ValueError:
        return CONFIDENCE
    return number if 0.0 <= number <= 1.0 else CONFIDENCE
