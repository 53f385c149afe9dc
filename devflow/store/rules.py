"""Rows that break the entry's rules, for the doctor. Only a hand in the file, or a spoilt disk, makes one (spec 01)."""

from __future__ import annotations

from sqlalchemy import text

from devflow.domain.knowledge import CONTENT_MAX, TITLE_MAX
from devflow.store.database import Session

SHOWN = 5

_BROKEN = text("""
    SELECT id FROM entries WHERE
        typeof(title) <> 'text' OR typeof(content) <> 'text'
        OR trim(title) = '' OR trim(content) = ''
        OR length(title) > :title OR length(content) > :content
        OR instr(title, char(10)) OR instr(title, char(0)) OR instr(content, char(0))
        OR NOT json_valid(tags) OR (evidence IS NOT NULL AND NOT json_valid(evidence))
        OR CASE WHEN json_valid(tags) THEN json_type(tags) <> 'array' ELSE 1 END
        OR typeof(reuse_count) <> 'integer' OR typeof(version) <> 'integer'
        OR typeof(confidence) NOT IN ('real', 'integer')
        OR datetime(created_at) IS NULL OR datetime(updated_at) IS NULL
    ORDER BY id LIMIT :shown
""")


def broken_entries(session: Session) -> tuple[str, ...]:
    """Ids of the first few entries that no act of the program could have made so."""
    found = session.execute(_BROKEN, {"title": TITLE_MAX, "content": CONTENT_MAX, "shown": SHOWN})
    return tuple(found.scalars())
