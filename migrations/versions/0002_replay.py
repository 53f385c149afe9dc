"""Messages keep what their model wants back verbatim: signed thinking, opaque to everybody else."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("replay", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("messages", "replay")
