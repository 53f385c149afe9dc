"""Which answers cited which entries; the key makes an entry's reuse count once per (message, entry)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from devflow.store.database import Unit
from devflow.store.schema import CitationRow, ConversationRow, MessageRow


@dataclass(frozen=True, slots=True)
class Use:
    """A conversation in which an answer cited the entry."""

    conversation_id: str
    title: str
    message_id: str
    at: datetime


def record(unit: Unit, message_id: str, entry_id: str) -> bool:
    """Note that the message cites the entry; False if that is known already."""
    if unit.session.get(CitationRow, (message_id, entry_id)) is not None:
        return False
    unit.session.add(CitationRow(message_id=message_id, entry_id=entry_id, created_at=unit.at))
    unit.session.flush()
    return True


def uses_of(session: Session, entry_id: str) -> tuple[Use, ...]:
    """Where the entry was cited, newest first; deleted conversations are left out."""
    rows = session.execute(
        select(ConversationRow.id, ConversationRow.title, CitationRow.message_id, CitationRow.created_at)
        .join(MessageRow, MessageRow.id == CitationRow.message_id)
        .join(ConversationRow, ConversationRow.id == MessageRow.conversation_id)
        .where(CitationRow.entry_id == entry_id, ConversationRow.deleted_at.is_(None))
        .order_by(CitationRow.created_at.desc())
    )
    return tuple(Use(*row) for row in rows)
