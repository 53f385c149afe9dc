"""Tags inside an entry's row, as only SQLite asks about them (PostgreSQL has other functions for JSON lists)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Text, case, column, exists, func, literal, select, table, true, type_coerce
from sqlalchemy.orm import Session

from devflow.store.schema import EntryRow
from devflow.store.search_index import folded_tag

_DOCS = table("search_docs", column("entry_id"), column("folded_tags"))


def has_tag(tag: str) -> ColumnElement[bool]:
    """Whether the entry has the tag, folded on both sides as the search does it."""
    found = func.instr(_DOCS.c.folded_tags, folded_tag(tag)) > 0
    return exists(select(literal(1)).where(_DOCS.c.entry_id == EntryRow.id, found))


def counts(session: Session, where: Sequence[ColumnElement[bool]]) -> Sequence[tuple[str, int]]:
    """(tag as spelled, number of entries) over the entries that `where` selects."""
    readable = case((func.json_valid(EntryRow.tags) == 1, EntryRow.tags), else_="[]")
    items = func.json_each(type_coerce(readable, Text)).table_valued("value", "type")
    query = select(items.c.value, func.count()).select_from(EntryRow).join(items, onclause=true())
    query = query.where(*where, items.c.type == "text").group_by(items.c.value)
    return session.execute(query).all()
