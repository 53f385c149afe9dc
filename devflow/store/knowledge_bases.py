"""The knowledge bases that were ever opened; a folder that is gone is not forgotten."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.store.database import Unit
from devflow.store.schema import ConversationRow, DigestBatchRow, KnowledgeBaseRow

WHAT = N_("knowledge base")


def ensure(unit: Unit, folder: Path) -> KnowledgeBase:
    """The knowledge base of that folder, registered if it is not. `folder` is absolute; its name becomes the base's."""
    path = str(folder)
    row = unit.session.scalar(select(KnowledgeBaseRow).where(KnowledgeBaseRow.path == path))
    if row is None:
        row = KnowledgeBaseRow(id=new_id(), name=folder.name or path, path=path, created_at=unit.at, opened_at=None)
        unit.session.add(row)
        unit.session.flush()
        unit.changed(Aggregate.KNOWLEDGE_BASE, row.id)
    return _to_base(row)


def opened(unit: Unit, id: str) -> KnowledgeBase:
    """Note that it was made the current one now."""
    row = _row(unit.session, id)
    row.opened_at = unit.at
    unit.session.flush()
    unit.changed(Aggregate.KNOWLEDGE_BASE, id)
    return _to_base(row)


def forget(unit: Unit, id: str) -> bool:
    """Take it out of the list; one that a conversation or a digest belongs to stays known. False: it stays.

    A conversation that has no message yet belongs to none from then on.
    """
    row = _row(unit.session, id)
    begun = select(ConversationRow).where(ConversationRow.kb_id == id, ConversationRow.leaf_id.is_(None))
    for conversation in unit.session.scalars(begun):
        conversation.kb_id = None
        unit.changed(Aggregate.CONVERSATION, conversation.id)
    unit.session.flush()
    for belonging in (ConversationRow.kb_id, DigestBatchRow.kb_id):
        if unit.session.scalar(select(belonging).where(belonging == id).limit(1)) is not None:
            return False
    unit.session.delete(row)
    unit.session.flush()
    unit.changed(Aggregate.KNOWLEDGE_BASE, id)
    return True


def get(session: Session, id: str) -> KnowledgeBase:
    return _to_base(_row(session, id))


def all_bases(session: Session) -> tuple[KnowledgeBase, ...]:
    """Every knowledge base, by name."""
    rows = session.scalars(select(KnowledgeBaseRow).order_by(KnowledgeBaseRow.name, KnowledgeBaseRow.path))
    return tuple(map(_to_base, rows))


def _row(session: Session, id: str) -> KnowledgeBaseRow:
    row = session.get(KnowledgeBaseRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    return row


def _to_base(row: KnowledgeBaseRow) -> KnowledgeBase:
    return KnowledgeBase(row.id, row.name, row.path, row.created_at, row.opened_at)
