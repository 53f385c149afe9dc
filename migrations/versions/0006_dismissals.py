"""What a human said does not contradict."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "entry_dismissals",
        sa.Column("one_id", sa.String(36), nullable=False),
        sa.Column("other_id", sa.String(36), nullable=False),
        sa.Column("one_hash", sa.Text(), nullable=False),
        sa.Column("other_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.CheckConstraint("one_id < other_id", name="order"),
        sa.ForeignKeyConstraint(["one_id"], ["entries.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["other_id"], ["entries.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("one_id", "other_id"),
    )
    op.create_index("ix_entry_dismissals_other_id", "entry_dismissals", ["other_id"])


def downgrade() -> None:
    op.drop_table("entry_dismissals")
