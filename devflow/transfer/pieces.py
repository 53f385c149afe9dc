"""What a source gives: pieces that may become candidates, conversations, and what was refused, by name and line."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from enum import StrEnum

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import EntryDraft
from devflow.domain.text.folding import duplicate_key
from devflow.store.imports import ImportedConversation
from devflow.store.library_copy import LibraryCopy

NAMESPACE = uuid.UUID("0b0d7a5e-52a8-4c0c-8d8e-6c1f4d1f8f34")
"""Ids of imported conversations are made from the source's own."""


class Format(StrEnum):
    """What a source is; the word stands in `source_ref`."""

    DEVFLOW = "devflow"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    BASIC_MEMORY = "basic-memory"
    RULES = "rules"
    MCP_MEMORY = "mcp-memory"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"


@dataclass(frozen=True, slots=True)
class Piece:
    """One possible candidate. `key` names its place in the source, the same at the next import; `line` from 1."""

    key: str
    format: Format
    file: str
    line: int
    draft: EntryDraft
    project: str = ""
    """The name of the project that it holds for, as the source has it."""
    folder: str = ""
    """Of a rule: the folder that its file stands in; it holds for the project there, if that is known."""
    entry_id: str = ""
    """Of an entry of a library: its id there."""

    @property
    def hash(self) -> str:
        """Of its words, without secrets: whoever reads the hash must not be able to guess one."""
        return duplicate_key(self.draft.title, self.draft.content)


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation of another program."""

    format: Format
    file: str
    conversation: ImportedConversation


@dataclass(frozen=True, slots=True)
class Bad:
    """What was refused: of a file, nothing is imported. `line` is 0 where the whole file is meant."""

    file: str
    line: int
    problem: UserFacing


@dataclass(frozen=True, slots=True)
class Read:
    """All that was read. `library`: an export of ours, besides the pieces that are its entries as candidates."""

    pieces: tuple[Piece, ...] = ()
    chats: tuple[Chat, ...] = ()
    bad: tuple[Bad, ...] = ()
    library: LibraryCopy | None = None
    ignored: int = 0
    """Files that are none of the formats: pictures and other attachments, mostly."""


class BadFile(UserFacing):
    """A file that cannot be imported; `line` counts from 1, 0 where the whole file is meant."""

    code = "bad_file"

    def __init__(self, message: str, hint: str = "", *, line: int = 0, **params: object) -> None:
        super().__init__(message, hint, **params)
        self.line = line


def key_of(format: Format, *places: str) -> str:
    """Short, and telling nothing of the machine that it came from."""
    return f"{format.value}:{hashlib.sha256(chr(0).join(places).encode()).hexdigest()[:32]}"


def conversation_id(format: Format, own: str) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{format.value}/{own}"))
