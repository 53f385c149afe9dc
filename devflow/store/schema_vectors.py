"""The vectors of entries, for search by meaning."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from devflow.store.schema_base import Base, Id


class EntryVectorRow(Base):
    """One part of an entry's text as a unit vector: `dimension` 16-bit floats, little-endian.

    `is_han`: there are Han characters in that part (a model's cosines mean something else there).
    `model` is provider and model; vectors of different models are never compared. `text_hash` is of the whole text that
    the parts were cut from. Ids grow and are never given again, so that a reader knows what is new.
    """

    __tablename__ = "entry_vectors"
    __table_args__ = (UniqueConstraint("entry_id", "part"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    entry_id: Mapped[str] = mapped_column(Id, ForeignKey("entries.id", ondelete="CASCADE"))
    part: Mapped[int]
    model: Mapped[str] = mapped_column(Text)
    dimension: Mapped[int]
    is_han: Mapped[bool]
    text_hash: Mapped[str] = mapped_column(Text)
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]
