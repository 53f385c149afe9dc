"""Vectors of entries, and the index that finds those still to be made."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "entry_vectors",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry_id", sa.String(36), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("is_han", sa.Boolean(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("entry_id", "part"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_entries_status_embedding_status_embedding_model",
        "entries",
        ["status", "embedding_status", "embedding_model"],
    )
    # Whoever goes down and up again has lost the vectors, and the entries must not say otherwise.
    op.execute(
        "UPDATE entries SET embedding_status = 'none', embedding_model = NULL, embedding_dimension = NULL, "
        "embedding_error = NULL, embedding_attempts = 0 WHERE embedding_status <> 'none'"
    )


def downgrade() -> None:
    op.drop_index("ix_entries_status_embedding_status_embedding_model", "entries")
    op.drop_table("entry_vectors")
