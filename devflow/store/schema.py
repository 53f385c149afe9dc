"""Tables. Only what PostgreSQL also speaks stands here; what only SQLite has has modules of its own.

Instants are stored as naive UTC and read as aware UTC. Ids are UUID text. Closed sets are text with a CHECK.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from devflow.domain.conversation import MessageState, Origin, Role
from devflow.domain.knowledge import EmbeddingStatus, Kind, Status
from devflow.domain.run import CallState, Risk, RunState
from devflow.store.schema_base import Base as Base
from devflow.store.schema_base import Id, one_of
from devflow.store.schema_base import Instant as Instant
from devflow.store.schema_digests import DigestBatchRow as DigestBatchRow
from devflow.store.schema_digests import DigestFileRow as DigestFileRow
from devflow.store.schema_dismissals import EntryDismissalRow as EntryDismissalRow
from devflow.store.schema_vectors import EntryVectorRow as EntryVectorRow


class ProjectRow(Base):
    __tablename__ = "projects"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str]
    path: Mapped[str] = mapped_column(Text, unique=True)
    created_at: Mapped[datetime]


class KnowledgeBaseRow(Base):
    __tablename__ = "knowledge_bases"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str]
    path: Mapped[str] = mapped_column(Text, unique=True)
    created_at: Mapped[datetime]
    opened_at: Mapped[datetime | None]


class EntryRow(Base):
    __tablename__ = "entries"
    __table_args__ = (
        one_of("kind", Kind),
        one_of("status", Status),
        one_of("embedding_status", EmbeddingStatus),
        CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence"),
        CheckConstraint("reuse_count >= 0", name="reuse_count"),
        Index(None, "status", "updated_at"),
        Index(None, "status", "confidence"),
        Index(None, "status", "reuse_count"),
        Index(None, "status", "kind", "project_id", "source_ref"),  # facets are counted without reading the texts
        Index(None, "normal_hash"),
        Index(None, "status", "embedding_status", "embedding_model"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    kind: Mapped[str]
    title: Mapped[str]
    content: Mapped[str]
    tags: Mapped[list[Any]]
    status: Mapped[str]
    confidence: Mapped[float]
    reuse_count: Mapped[int] = mapped_column(default=0)
    project_id: Mapped[str | None] = mapped_column(Id, ForeignKey("projects.id"))
    source_ref: Mapped[str]
    evidence: Mapped[dict[str, Any] | None]
    normal_hash: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    published_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(default=1)
    embedding_status: Mapped[str] = mapped_column(Text, default=EmbeddingStatus.NONE.value)
    embedding_model: Mapped[str | None]
    embedding_dimension: Mapped[int | None]
    embedding_error: Mapped[str | None]
    embedding_attempts: Mapped[int] = mapped_column(default=0)


class EntryEventRow(Base):
    """The timeline; entries are not referenced by key so that a tombstone survives an erase."""

    __tablename__ = "entry_events"
    __table_args__ = (Index(None, "entry_id", "id"), Index(None, "operation"))

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    entry_id: Mapped[str] = mapped_column(Id)
    event: Mapped[str]
    actor: Mapped[str]
    at: Mapped[datetime]
    operation: Mapped[str] = mapped_column(Id)
    changes: Mapped[dict[str, Any]]
    detail: Mapped[dict[str, Any]]


class EntryLinkRow(Base):
    """`entry_id` resembles, contradicts, or was merged from `other_id`."""

    __tablename__ = "entry_links"
    __table_args__ = (one_of("relation", ("similar", "conflict", "merged")), Index(None, "other_id"))

    entry_id: Mapped[str] = mapped_column(Id, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True)
    other_id: Mapped[str] = mapped_column(Id, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True)
    relation: Mapped[str] = mapped_column(Text, primary_key=True)
    score: Mapped[float]
    created_at: Mapped[datetime]


class ConversationRow(Base):
    """`seq` is the conversation's own counter: messages, decisions, recoveries and receipts each take the next."""

    __tablename__ = "conversations"
    __table_args__ = (one_of("origin", Origin), Index(None, "updated_at"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    title: Mapped[str]
    title_by_user: Mapped[bool] = mapped_column(default=False)
    origin: Mapped[str]
    project_id: Mapped[str | None] = mapped_column(Id, ForeignKey("projects.id"))
    kb_id: Mapped[str | None] = mapped_column(Id, ForeignKey("knowledge_bases.id"))
    leaf_id: Mapped[str | None] = mapped_column(Id)
    seq: Mapped[int] = mapped_column(default=0)
    pinned: Mapped[bool] = mapped_column(default=False)
    retrieval: Mapped[bool] = mapped_column(default=True)
    provider_id: Mapped[str | None] = mapped_column(Id)
    model: Mapped[str | None]
    draft: Mapped[dict[str, Any]]
    queued: Mapped[str] = mapped_column(Text, default="")
    queued_skill: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class MessageRow(Base):
    __tablename__ = "messages"
    __table_args__ = (
        one_of("role", Role),
        one_of("state", MessageState),
        Index(None, "conversation_id", "seq"),
        Index(None, "parent_id"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    conversation_id: Mapped[str] = mapped_column(Id, ForeignKey("conversations.id", ondelete="CASCADE"))
    parent_id: Mapped[str | None] = mapped_column(Id)
    run_id: Mapped[str | None] = mapped_column(Id)
    role: Mapped[str]
    content: Mapped[str]
    reasoning: Mapped[str] = mapped_column(Text, default="")
    seq: Mapped[int]
    state: Mapped[str]
    provider_id: Mapped[str | None] = mapped_column(Id)
    model: Mapped[str | None]
    usage: Mapped[dict[str, Any] | None]
    replay: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    extracted_at: Mapped[datetime | None]


class RunRow(Base):
    __tablename__ = "runs"
    __table_args__ = (one_of("state", RunState), Index(None, "conversation_id"), Index(None, "state"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    conversation_id: Mapped[str] = mapped_column(Id, ForeignKey("conversations.id", ondelete="CASCADE"))
    user_message_id: Mapped[str] = mapped_column(Id)
    state: Mapped[str]
    steps: Mapped[int] = mapped_column(default=0)
    owner: Mapped[str | None]
    provider_id: Mapped[str] = mapped_column(Id)
    model: Mapped[str]
    options: Mapped[dict[str, Any]]
    skill: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    recovered_seq: Mapped[int] = mapped_column(default=0)
    problem: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class ToolCallRow(Base):
    __tablename__ = "tool_calls"
    __table_args__ = (
        one_of("state", CallState),
        one_of("risk", Risk),
        UniqueConstraint("message_id", "position"),
        Index(None, "run_id"),
        Index(None, "state"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    run_id: Mapped[str] = mapped_column(Id, ForeignKey("runs.id", ondelete="CASCADE"))
    message_id: Mapped[str] = mapped_column(Id, ForeignKey("messages.id", ondelete="CASCADE"))
    position: Mapped[int]
    wire_id: Mapped[str]
    tool: Mapped[str]
    arguments: Mapped[str]
    arguments_hash: Mapped[str]
    state: Mapped[str]
    risk: Mapped[str]
    preview: Mapped[dict[str, Any] | None]
    edited: Mapped[bool] = mapped_column(default=False)
    decided_by: Mapped[str | None]
    decided_seq: Mapped[int | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[str] = mapped_column(Text, default="")
    error: Mapped[str] = mapped_column(Text, default="")
    started_at: Mapped[datetime | None]
    duration_ms: Mapped[int | None]


class ReceiptRow(Base):
    """One lookup of a run: what was found, and the blocks as they were sent (tool steps resend those very bytes)."""

    __tablename__ = "receipts"
    __table_args__ = (UniqueConstraint("conversation_id", "seq"), Index(None, "run_id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    conversation_id: Mapped[str] = mapped_column(Id, ForeignKey("conversations.id", ondelete="CASCADE"))
    run_id: Mapped[str] = mapped_column(Id, ForeignKey("runs.id", ondelete="CASCADE"))
    seq: Mapped[int]
    phase: Mapped[str]
    nonce: Mapped[str]
    library: Mapped[dict[str, Any]]
    pages: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class EntryNumberRow(Base):
    """`[K<number>]` belongs to one entry for the whole conversation and is never given to another."""

    __tablename__ = "entry_numbers"
    __table_args__ = (UniqueConstraint("conversation_id", "number"),)

    conversation_id: Mapped[str] = mapped_column(
        Id, ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    entry_id: Mapped[str] = mapped_column(Id, primary_key=True)
    number: Mapped[int]


class CitationRow(Base):
    """An answer that cited an entry; the key makes its reuse count once per (message, entry)."""

    __tablename__ = "citations"
    __table_args__ = (Index(None, "entry_id"),)

    message_id: Mapped[str] = mapped_column(Id, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True)
    entry_id: Mapped[str] = mapped_column(Id, primary_key=True)
    created_at: Mapped[datetime]


class FeedbackRow(Base):
    """Helpful (+1) or not (-1), per source of a receipt."""

    __tablename__ = "source_feedback"
    __table_args__ = (CheckConstraint("verdict IN (-1, 1)", name="verdict"),)

    receipt_id: Mapped[str] = mapped_column(Id, ForeignKey("receipts.id", ondelete="CASCADE"), primary_key=True)
    ref: Mapped[str] = mapped_column(Text, primary_key=True)
    verdict: Mapped[int]
    created_at: Mapped[datetime]


class ExtractionJobRow(Base):
    """A persisted distillation, unique on (conversation, last message)."""

    __tablename__ = "extraction_jobs"
    __table_args__ = (
        one_of("state", ("waiting", "running", "done", "dropped", "failed", "cancelled")),
        UniqueConstraint("conversation_id", "last_message_id"),
        Index(None, "state", "due_at"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    conversation_id: Mapped[str] = mapped_column(Id, ForeignKey("conversations.id", ondelete="CASCADE"))
    last_message_id: Mapped[str] = mapped_column(Id)
    trigger: Mapped[str]
    state: Mapped[str]
    owner: Mapped[str | None]
    due_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    created_entries: Mapped[int] = mapped_column(default=0)
    detail: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class ProviderRow(Base):
    """A model server the user set up. The key is in the keychain, never here."""

    __tablename__ = "providers"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str]
    adapter: Mapped[str]
    preset: Mapped[str]
    base_url: Mapped[str]
    models: Mapped[list[Any]]
    settings: Mapped[dict[str, Any]]
    last_test: Mapped[dict[str, Any] | None]
    position: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class SettingRow(Base):
    """One JSON value per group; `knowledge_config` is one."""

    __tablename__ = "app_settings"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]


class ChangeRow(Base):
    """Every write's trace for other processes; `origin` is the writing process."""

    __tablename__ = "changes"
    __table_args__ = ({"sqlite_autoincrement": True},)

    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    aggregate: Mapped[str]
    id: Mapped[str]
    origin: Mapped[str]
    at: Mapped[datetime]
