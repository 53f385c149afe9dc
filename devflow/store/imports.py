"""What came in from elsewhere: which piece of a source became which entry, and conversations with their messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from devflow.domain.conversation import MessageState, Origin, Role
from devflow.domain.events import Aggregate
from devflow.domain.knowledge import EventKind
from devflow.store import tolerant
from devflow.store.database import Unit
from devflow.store.schema import ConversationRow, EntryEventRow, EntryRow, MessageRow

DETAIL = "import"
"""In the detail of a creation: `{key, hash}` of the piece that the entry was made from."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The entry that a piece became, and the hash of the piece's words as they were then."""

    entry_id: str
    hash: str


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    id: str
    role: Role
    content: str
    at: datetime
    model: str = ""


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """`id` is made from the source's own, so that the same conversation is recognised. Messages: its active path."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    messages: tuple[ImportedMessage, ...]


def origins(session: Session) -> Mapping[str, Piece]:
    """By key, what every imported piece became; of a piece that came in changed, the newest."""
    rows = session.execute(
        select(EntryEventRow.entry_id, EntryEventRow.detail)
        .join(EntryRow, EntryRow.id == EntryEventRow.entry_id)
        .where(EntryEventRow.event == EventKind.CREATED.value, EntryRow.source_ref.startswith("import:"))
        .order_by(EntryEventRow.id)
    )
    found: dict[str, Piece] = {}
    for entry_id, detail in rows:
        piece = tolerant.mapping(tolerant.mapping(detail).get(DETAIL))
        key, words = piece.get("key"), piece.get("hash")
        if isinstance(key, str) and isinstance(words, str):
            found[key] = Piece(entry_id, words)
    return found


def by_hash(session: Session, hashes: Collection[str]) -> Mapping[str, str]:
    """The oldest entry, in whatever status, that says exactly this after normalising (`entries.normal_hash`)."""
    found: dict[str, str] = {}
    wanted = list(hashes)
    for start in range(0, len(wanted), 400):
        rows = session.execute(
            select(EntryRow.normal_hash, EntryRow.id)
            .where(EntryRow.normal_hash.in_(wanted[start : start + 400]))
            .order_by(EntryRow.created_at, EntryRow.id)
        )
        for key, id in rows:
            found.setdefault(key, id)
    return found


def messages_here(session: Session, conversation_ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Of each of these conversations that is here, deleted ones too: the ids of its messages."""
    found: dict[str, set[str]] = {}
    for start in range(0, len(conversation_ids), 400):
        some = conversation_ids[start : start + 400]
        for id in session.scalars(select(ConversationRow.id).where(ConversationRow.id.in_(some))):
            found[id] = set()
        rows = session.execute(
            select(MessageRow.conversation_id, MessageRow.id).where(MessageRow.conversation_id.in_(some))
        )
        for conversation_id, id in rows:
            found.setdefault(conversation_id, set()).add(id)
    return {id: frozenset(messages) for id, messages in found.items()}


def take_conversation(unit: Unit, given: ImportedConversation) -> bool:
    """Take in a conversation, or what it has gained since it came in; whether anything was written.

    Its instants are the source's own, so that old conversations do not come before today's. One that was gone on with
    here keeps its end.
    """
    here = messages_here(unit.session, [given.id]).get(given.id)
    new = [message for message in given.messages if here is None or message.id not in here]
    if not new:
        return False
    if here is None:
        unit.session.add(_row(given))
        unit.session.flush()
    _add_messages(unit, given, {message.id for message in new}, seq=_seq(unit.session, given.id))
    unit.changed(Aggregate.CONVERSATION, given.id)
    return True


def put_away(unit: Unit, ids: Collection[str]) -> int:
    """Delete conversations as the window does: they can be brought back."""
    done = 0
    for id in ids:
        result = unit.session.execute(
            update(ConversationRow)
            .where(ConversationRow.id == id, ConversationRow.deleted_at.is_(None))
            .values(deleted_at=unit.at)
        )
        done += result.rowcount  # type: ignore[attr-defined]  # a CursorResult, as of every UPDATE
        unit.changed(Aggregate.CONVERSATION, id)
    return done


def _row(given: ImportedConversation) -> ConversationRow:
    return ConversationRow(
        id=given.id,
        title=given.title,
        title_by_user=True,
        origin=Origin.WINDOW.value,
        retrieval=True,
        draft={},
        queued="",
        created_at=given.created_at,
        updated_at=given.updated_at,
    )


def _seq(session: Session, id: str) -> int:
    return session.scalar(select(ConversationRow.seq).where(ConversationRow.id == id)) or 0


def _add_messages(unit: Unit, given: ImportedConversation, new: Collection[str], *, seq: int) -> None:
    parent: str | None = None
    grown_from: str | None = None
    for message in given.messages:
        if message.id in new:
            grown_from = parent if grown_from is None and parent not in new else grown_from
            seq += 1
            unit.session.add(
                MessageRow(
                    id=message.id,
                    conversation_id=given.id,
                    parent_id=parent,
                    role=message.role.value,
                    content=message.content,
                    reasoning="",
                    seq=seq,
                    state=MessageState.COMPLETE.value,
                    model=message.model or None,
                    created_at=message.at,
                )
            )
        parent = message.id
    unit.session.flush()
    row = unit.session.get_one(ConversationRow, given.id, populate_existing=True)
    row.seq = seq
    if row.leaf_id == grown_from:
        row.leaf_id = parent
        row.updated_at = max(row.updated_at, given.updated_at)
