"""Tables of the batch digest."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from devflow.domain.digest import BatchState, FileState
from devflow.store.schema_base import Base, Id, one_of


class DigestBatchRow(Base):
    """Files that were chosen at once. `owner` is the process that carries it out, as for runs."""

    __tablename__ = "digest_batches"
    __table_args__ = (
        one_of("state", BatchState),
        CheckConstraint("concurrency IN (1, 3, 5)", name="concurrency"),
        Index(None, "kb_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    kb_id: Mapped[str] = mapped_column(Id, ForeignKey("knowledge_bases.id", ondelete="CASCADE"))
    state: Mapped[str]
    owner: Mapped[str | None]
    concurrency: Mapped[int]
    force: Mapped[bool]
    provider_id: Mapped[str]
    model: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class DigestFileRow(Base):
    """One file of a batch; `page` is written down before the page itself is."""

    __tablename__ = "digest_files"
    __table_args__ = (one_of("state", FileState), UniqueConstraint("batch_id", "position"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    batch_id: Mapped[str] = mapped_column(Id, ForeignKey("digest_batches.id", ondelete="CASCADE"))
    position: Mapped[int]
    path: Mapped[str] = mapped_column(Text)
    state: Mapped[str]
    sha256: Mapped[str] = mapped_column(default="")
    page: Mapped[str] = mapped_column(Text, default="")
    title: Mapped[str] = mapped_column(Text, default="")
    trouble: Mapped[dict[str, Any] | None]
    attempts: Mapped[int] = mapped_column(default=0)
    read_percent: Mapped[int] = mapped_column(default=0)
    input_tokens: Mapped[int] = mapped_column(default=0)
    output_tokens: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[datetime]
