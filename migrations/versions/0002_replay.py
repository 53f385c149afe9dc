"""Messages keep what their model wants back verbatim: signed thinking, opaque to everybody else.

And an Ollama that was set up before is spoken to in its own protocol, which takes every form of its address.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("replay", sa.JSON(), nullable=True))
    _speak_to_ollama("openai_compat", "ollama")


def downgrade() -> None:
    _speak_to_ollama("ollama", "openai_compat")
    op.drop_column("messages", "replay")


def _speak_to_ollama(before: str, after: str) -> None:
    op.execute(
        sa.text("UPDATE providers SET adapter = :after WHERE preset = 'ollama' AND adapter = :before").bindparams(
            before=before, after=after
        )
    )
