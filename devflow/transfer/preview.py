"""What an import would do, seen before anything is written: what is new, what is here already, what resembles what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath

from devflow.domain.knowledge import Entry, EntryDraft, Kind, Project
from devflow.domain.redaction import redact_draft
from devflow.domain.text.folding import duplicate_key
from devflow.knowledge.similar import Likeness, likenesses
from devflow.store import entries, imports, library_copy, projects
from devflow.store.database import Session
from devflow.transfer.pieces import Bad, Chat, Piece, Read

SIMILAR_MAX = 400
"""So many new pieces are compared with the library before the human decides; each takes some milliseconds. Of the
others the inbox tells what they resemble."""
SHOWN = 3

Report = Callable[[int, int], None]


class News(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    """It came in before, and its source says something else now: a new candidate, beside the one of that time."""
    KNOWN = "known"
    """It came in before, or an entry says exactly this, whatever its status; it would add nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """A piece, with secrets taken out. `counterpart`: the entry that makes it known or changed, where there is one (a
    source may also repeat itself). `alike`: entries that say nearly the same; None: not looked for."""

    piece: Piece
    news: News
    counterpart: Entry | None = None
    alike: tuple[Likeness, ...] | None = None
    redacted: bool = False
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class ChatRow:
    """A conversation and how many of its messages would be added: all, some where it is here already, or none."""

    chat: Chat
    added: int
    is_here: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """`restored`: this is an export of ours and the library here is empty: it comes back as it was, so many entries."""

    read: Read
    rows: tuple[Row, ...]
    chats: tuple[ChatRow, ...]
    restored: int = 0
    erased: int = 0
    """Entries of an export that were erased here: they do not come back by a restore."""

    @property
    def bad(self) -> tuple[Bad, ...]:
        return self.read.bad

    @property
    def new(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.news is not News.KNOWN)

    @property
    def new_chats(self) -> tuple[ChatRow, ...]:
        return tuple(row for row in self.chats if row.added)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to import."""
        return not (self.restored or self.new or self.new_chats)


def redacted(pieces: Sequence[Piece], kind: str | None, report: Report) -> tuple[tuple[Piece, EntryDraft], ...]:
    """Each piece with the draft that would be stored. Blocks."""
    made: list[tuple[Piece, EntryDraft]] = []
    for done, piece in enumerate(pieces):
        if done % 50 == 0:
            report(done, len(pieces))
        given = piece.draft if kind is None else replace(piece.draft, kind=Kind(kind))
        made.append((piece, redact_draft(given)))
    return tuple(made)


def restoring(session: Session, read: Read) -> Preview | None:
    """The library that was read as it would come back; None where the one here is not empty."""
    if read.library is None or not library_copy.is_empty(session):
        return None
    gone = library_copy.present(session, [entry.id for entry in read.library.entries])
    return Preview(read, (), (), restored=len(read.library.entries) - len(gone), erased=len(gone))


def judge(session: Session, read: Read, made: Sequence[tuple[Piece, EntryDraft]]) -> Preview:
    """Compare with what is here; look-alikes are looked for afterwards (`alike`)."""
    return Preview(read, tuple(_rows(session, made)), tuple(_chats(session, read.chats)))


def alike(session: Session, row: Row) -> Row:
    draft = row.piece.draft
    return replace(row, alike=likenesses(session, f"{draft.title}\n{draft.content}", SHOWN))


def _rows(session: Session, made: Sequence[tuple[Piece, EntryDraft]]) -> Iterable[Row]:
    before = imports.origins(session)
    keys = [duplicate_key(draft.title, draft.content) for _, draft in made]
    same = imports.by_hash(session, keys)
    own = _by_own_id(session, made)
    found = {
        *(same.values()),
        *own.values(),
        *(before[piece.key].entry_id for piece, _ in made if piece.key in before),
    }
    here = _entries(session, sorted(found))
    folders = projects.with_folder(session)
    seen: set[str] = set()
    for (piece, draft), key in zip(made, keys, strict=True):
        former = before.get(piece.key)
        row = Row(
            replace(piece, draft=draft),
            News.NEW,
            redacted=draft != replace(piece.draft, kind=draft.kind),
            project_id=_project(piece, folders),
        )
        if former is not None and former.hash == key:
            row = replace(row, news=News.KNOWN, counterpart=here.get(former.entry_id))
        elif piece.key in own:
            row = replace(row, news=News.KNOWN, counterpart=here.get(own[piece.key]))
        elif key in same or key in seen:
            row = replace(row, news=News.KNOWN, counterpart=here.get(same.get(key, "")))
        elif former is not None:
            row = replace(row, news=News.CHANGED, counterpart=here.get(former.entry_id))
        seen.add(key)
        yield row


def _by_own_id(session: Session, made: Sequence[tuple[Piece, EntryDraft]]) -> Mapping[str, str]:
    """Of an export of ours: entries that are here themselves, or were and are erased."""
    ids = {piece.entry_id: piece.key for piece, _ in made if piece.entry_id}
    here = library_copy.present(session, list(ids))
    return {ids[id]: id for id in here}


def _entries(session: Session, ids: Sequence[str]) -> Mapping[str, Entry]:
    found: dict[str, Entry] = {}
    for start in range(0, len(ids), 400):
        found |= {entry.id: entry for entry in entries.get_many(session, ids[start : start + 400])}
    return found


def _chats(session: Session, given: Sequence[Chat]) -> Iterable[ChatRow]:
    here = imports.messages_here(session, [chat.conversation.id for chat in given])
    seen: set[str] = set()
    for chat in given:
        own = chat.conversation
        if own.id in seen:
            continue
        seen.add(own.id)
        known = here.get(own.id)
        added = sum(known is None or message.id not in known for message in own.messages)
        yield ChatRow(chat, added, known is not None)


def _project(piece: Piece, folders: Sequence[Project]) -> str | None:
    """The innermost known project whose folder a rule's file stands in."""
    if not piece.folder:
        return None
    inside = [each for each in folders if PurePath(piece.folder).is_relative_to(each.path)]
    return max(inside, key=lambda each: len(each.path)).id if inside else None
