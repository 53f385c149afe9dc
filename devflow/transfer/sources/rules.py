"""Rules that other assistants are given: `CLAUDE.md`, `AGENTS.md`, `.cursor/rules/*.mdc`, `.windsurfrules`, the like.

A rule of Cursor is a file of its own, with `description`, `globs` and `alwaysApply` between dashes
(https://docs.cursor.com/context/rules); the others are Markdown, and each section of theirs is a rule.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from devflow.domain.knowledge import Kind
from devflow.transfer import front_matter
from devflow.transfer.files import SourceFile
from devflow.transfer.pieces import Format, Piece, key_of
from devflow.transfer.sources.drafts import made
from devflow.transfer.sources.sections import Section, first_heading, plain, points, sections

NAMES = frozenset(
    {
        "claude.md",
        "claude.local.md",
        "agents.md",
        "agents.override.md",
        "gemini.md",
        ".cursorrules",
        ".windsurfrules",
        ".clinerules",
    }
)
FOLDERS = (".cursor/rules", ".windsurf/rules", ".claude/rules")
RULE_SUFFIXES = (".mdc", ".md")


def is_rule_file(name: str) -> bool:
    path = PurePosixPath(name)
    if path.name.lower() in NAMES or path.suffix.lower() == ".mdc":
        return True
    folder = f"/{path.parent.as_posix()}/"
    return path.suffix.lower() in RULE_SUFFIXES and any(f"/{rules}/" in folder for rules in FOLDERS)


def read(text: str, file: SourceFile, place: str) -> tuple[Piece, ...]:
    """Raises BadFile and BadFrontMatter; nothing for an empty file."""
    if file.base.lower() in NAMES:
        return _sections(text, file, place)
    return _one(text, file, place)


def _one(text: str, file: SourceFile, place: str) -> tuple[Piece, ...]:
    parts = front_matter.read(text)
    heading, rest = first_heading(parts.body)
    if not (rest if heading else parts.body).strip():
        return ()
    description = front_matter.text_of(parts.fields, "description")
    title = description if 0 < len(description) <= 120 else heading or file.stem.replace("-", " ").replace("_", " ")
    globs = front_matter.texts_of(parts.fields, "globs", "glob", "paths")
    about = [description] if description and description != title else []
    where = ["Files: " + ", ".join(f"`{glob}`" for glob in globs)] if globs else []
    content = "\n\n".join([*about, *where, (rest if heading == title else parts.body).strip("\n")])
    draft = made(Format.RULES, title=title, content=content, line=1, kind=Kind.REVIEW_RULE)
    return (Piece(key_of(Format.RULES, place), Format.RULES, file.name, 1, draft),)


def _sections(text: str, file: SourceFile, place: str) -> tuple[Piece, ...]:
    parts = front_matter.read(text)
    found = sections(parts.body)
    whole = found[0].title if found else ""
    if len(found) == 1:
        found = points(found[0].text) or found
    pieces: list[Piece] = []
    seen: dict[str, int] = {}
    for section in found:
        title = _title(section, whole, file)
        seen[title] = seen.get(title, 0) + 1
        line = parts.body_line + section.line - 1
        draft = made(Format.RULES, title=title, content=section.text, line=line, kind=Kind.REVIEW_RULE)
        key = key_of(Format.RULES, place, draft.title, str(seen[title]))
        pieces.append(Piece(key, Format.RULES, file.name, line, draft))
    return tuple(pieces)


def _title(section: Section, whole: str, file: SourceFile) -> str:
    """A section's heading; of a point its own words; of what stands before all headings the file's name."""
    if section.title:
        return section.title
    if section.text.lstrip()[:1] in "-*+0123456789":
        return ""
    return plain(whole) or file.base
