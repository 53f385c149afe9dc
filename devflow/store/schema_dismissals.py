"""What a human said does not contradict."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from devflow.store.schema_base import Base, Id


class EntryDismissalRow(Base):
    """Two entries do not contradict each other, as long as both say what they said then (their `normal_hash`)."""

    __tablename__ = "entry_dismissals"
    __table_args__ = (CheckConstraint("one_id < other_id", name="order"), Index(None, "other_id"))

    one_id: Mapped[str] = mapped_column(Id, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True)
    other_id: Mapped[str] = mapped_column(Id, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True)
    one_hash: Mapped[str]
    other_hash: Mapped[str]
    created_at: Mapped[datetime]
