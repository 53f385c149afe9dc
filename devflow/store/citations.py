"""Which answers cited which entries; the key makes an entry's reuse count once per (message, entry)."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from devflow.store.database import Unit
from devflow.store.schema import CitationRow, ConversationRow, MessageRow


def record(unit: Unit, message_id: str, entry_id: str) -> bool:
    """Note that the message cites the entry; False if that is known already."""
    if unit.session.get(CitationRow, (message_id, entry_id)) is not None:
        return False
    unit.session.add(CitationRow(message_id=message_id, entry_id=entry_id, created_at=unit.at))
    unit.session.flush()
    return True


def conversations_citing(session: Session, *entry_ids: str) -> tuple[tuple[str, str], ...]:
    """(id, title) of each conversation whose answers cited one of the entries, the latest use first; deleted ones left
    out."""
    rows = session.execute(
        select(ConversationRow.id, ConversationRow.title)
        .join(MessageRow, MessageRow.conversation_id == ConversationRow.id)
        .join(CitationRow, CitationRow.message_id == MessageRow.id)
        .where(CitationRow.entry_id.in_(entry_ids), ConversationRow.deleted_at.is_(None))
        .group_by(ConversationRow.id)
        .order_by(func.max(CitationRow.created_at).desc())
    )
    return tuple((id, title) for id, title in rows)
