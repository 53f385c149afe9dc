"""The first tables: the library, conversations and their runs, what was looked up, background work, settings.

Frozen: later changes to `devflow.store.schema` get migrations of their own. Names of keys and checks come from the
schema's naming convention. Instants are UTC without a zone; ids are UUID text.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from devflow.store import search_index

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Id = sa.String(36)
Instant = sa.DateTime()


def upgrade() -> None:
    _places()
    _library()
    _conversations()
    _receipts()
    _background()
    _settings()
    search_index.create(op.get_bind())


def downgrade() -> None:
    search_index.drop(op.get_bind())
    for table in TABLES:
        op.drop_table(table)


# In the order in which they can go: a table before those it refers to.
TABLES = (
    "changes",
    "app_settings",
    "providers",
    "extraction_jobs",
    "source_feedback",
    "citations",
    "entry_numbers",
    "receipts",
    "tool_calls",
    "runs",
    "messages",
    "conversations",
    "entry_links",
    "entry_events",
    "entries",
    "knowledge_bases",
    "projects",
)


def _places() -> None:
    op.create_table(
        "projects",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.UniqueConstraint("path"),
    )
    op.create_table(
        "knowledge_bases",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("opened_at", Instant),
        sa.UniqueConstraint("path"),
    )


def _library() -> None:
    op.create_table(
        "entries",
        sa.Column("id", Id, primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("reuse_count", sa.Integer(), nullable=False),
        sa.Column("project_id", Id, sa.ForeignKey("projects.id")),
        sa.Column("source_ref", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON()),
        sa.Column("normal_hash", sa.Text(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("published_at", Instant),
        sa.Column("archived_at", Instant),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("embedding_status", sa.Text(), nullable=False),
        sa.Column("embedding_model", sa.Text()),
        sa.Column("embedding_dimension", sa.Integer()),
        sa.Column("embedding_error", sa.Text()),
        sa.Column("embedding_attempts", sa.Integer(), nullable=False),
        _one_of(
            "kind",
            "pitfall",
            "review_rule",
            "prompt_template",
            "architecture_pattern",
            "diagnosis",
            "deployment_note",
            "workflow_optimization",
        ),
        _one_of("status", "candidate", "pending_review", "published", "archived"),
        _one_of("embedding_status", "none", "pending", "ready", "failed"),
        sa.CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence"),
        sa.CheckConstraint("reuse_count >= 0", name="reuse_count"),
    )
    op.create_index("ix_entries_normal_hash", "entries", ["normal_hash"])
    op.create_index("ix_entries_status_confidence", "entries", ["status", "confidence"])
    op.create_index(
        "ix_entries_status_kind_project_id_source_ref", "entries", ["status", "kind", "project_id", "source_ref"]
    )
    op.create_index("ix_entries_status_reuse_count", "entries", ["status", "reuse_count"])
    op.create_index("ix_entries_status_updated_at", "entries", ["status", "updated_at"])
    op.create_table(
        "entry_events",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("entry_id", Id, nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("operation", Id, nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
    )
    op.create_index("ix_entry_events_entry_id_id", "entry_events", ["entry_id", "id"])
    op.create_index("ix_entry_events_operation", "entry_events", ["operation"])
    op.create_table(
        "entry_links",
        sa.Column("entry_id", Id, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("other_id", Id, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("relation", sa.Text(), primary_key=True),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        _one_of("relation", "similar", "conflict", "merged"),
    )
    op.create_index("ix_entry_links_other_id", "entry_links", ["other_id"])


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", Id, primary_key=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_by_user", sa.Boolean(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("project_id", Id, sa.ForeignKey("projects.id")),
        sa.Column("kb_id", Id, sa.ForeignKey("knowledge_bases.id")),
        sa.Column("leaf_id", Id),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("retrieval", sa.Boolean(), nullable=False),
        sa.Column("provider_id", Id),
        sa.Column("model", sa.Text()),
        sa.Column("draft", sa.JSON(), nullable=False),
        sa.Column("queued", sa.Text(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("deleted_at", Instant),
        _one_of("origin", "window", "cli"),
    )
    op.create_index("ix_conversations_updated_at", "conversations", ["updated_at"])
    op.create_table(
        "messages",
        sa.Column("id", Id, primary_key=True),
        sa.Column("conversation_id", Id, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("parent_id", Id),
        sa.Column("run_id", Id),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("reasoning", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("provider_id", Id),
        sa.Column("model", sa.Text()),
        sa.Column("usage", sa.JSON()),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("extracted_at", Instant),
        _one_of("role", "user", "assistant"),
        _one_of("state", "complete", "streaming", "partial"),
    )
    op.create_index("ix_messages_conversation_id_seq", "messages", ["conversation_id", "seq"])
    op.create_index("ix_messages_parent_id", "messages", ["parent_id"])
    op.create_table(
        "runs",
        sa.Column("id", Id, primary_key=True),
        sa.Column("conversation_id", Id, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("user_message_id", Id, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("provider_id", Id, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("recovered_seq", sa.Integer(), nullable=False),
        sa.Column("problem", sa.JSON()),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("finished_at", Instant),
        _one_of(
            "state",
            "queued",
            "calling_model",
            "executing",
            "awaiting_approval",
            "completed",
            "failed",
            "cancelled",
            "interrupted",
        ),
    )
    op.create_index("ix_runs_conversation_id", "runs", ["conversation_id"])
    op.create_index("ix_runs_state", "runs", ["state"])
    op.create_table(
        "tool_calls",
        sa.Column("id", Id, primary_key=True),
        sa.Column("run_id", Id, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("message_id", Id, sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("wire_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("arguments_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("risk", sa.Text(), nullable=False),
        sa.Column("preview", sa.JSON()),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("decided_by", sa.Text()),
        sa.Column("decided_seq", sa.Integer()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("started_at", Instant),
        sa.Column("duration_ms", sa.Integer()),
        _one_of("state", "awaiting", "approved", "denied", "executing", "done", "failed", "cancelled", "interrupted"),
        _one_of("risk", "reads", "writes", "runs", "reaches_out"),
        sa.UniqueConstraint("message_id", "position"),
    )
    op.create_index("ix_tool_calls_run_id", "tool_calls", ["run_id"])
    op.create_index("ix_tool_calls_state", "tool_calls", ["state"])


def _receipts() -> None:
    op.create_table(
        "receipts",
        sa.Column("id", Id, primary_key=True),
        sa.Column("conversation_id", Id, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("run_id", Id, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("library", sa.JSON(), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.UniqueConstraint("conversation_id", "seq"),
    )
    op.create_index("ix_receipts_run_id", "receipts", ["run_id"])
    op.create_table(
        "entry_numbers",
        sa.Column("conversation_id", Id, sa.ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("entry_id", Id, primary_key=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.UniqueConstraint("conversation_id", "number"),
    )
    op.create_table(
        "citations",
        sa.Column("message_id", Id, sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("entry_id", Id, primary_key=True),
        sa.Column("created_at", Instant, nullable=False),
    )
    op.create_index("ix_citations_entry_id", "citations", ["entry_id"])
    op.create_table(
        "source_feedback",
        sa.Column("receipt_id", Id, sa.ForeignKey("receipts.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("ref", sa.Text(), primary_key=True),
        sa.Column("verdict", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        _one_of("verdict", -1, 1),
    )


def _background() -> None:
    op.create_table(
        "extraction_jobs",
        sa.Column("id", Id, primary_key=True),
        sa.Column("conversation_id", Id, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("last_message_id", Id, nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_entries", sa.Integer(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        _one_of("state", "waiting", "running", "done", "dropped", "failed", "cancelled"),
        sa.UniqueConstraint("conversation_id", "last_message_id"),
    )
    op.create_index("ix_extraction_jobs_state_due_at", "extraction_jobs", ["state", "due_at"])


def _settings() -> None:
    op.create_table(
        "providers",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("adapter", sa.Text(), nullable=False),
        sa.Column("preset", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("last_test", sa.JSON()),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
    )
    op.create_table(
        "app_settings",
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
    )
    op.create_table(
        "changes",
        sa.Column("seq", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("aggregate", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("at", Instant, nullable=False),
        sqlite_autoincrement=True,
    )


def _one_of(column: str, *values: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=column)
