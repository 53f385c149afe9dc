"""A run keeps the skill that it is carried out with, and a waiting message the one that it was written for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("skill", sa.JSON(), nullable=True))
    op.add_column("conversations", sa.Column("queued_skill", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("conversations", "queued_skill")
    op.drop_column("runs", "skill")
