"""Going through a large library to the end, for a search that met its cap on work, a little at a time.

Each reading is short, so that whatever else is asked meanwhile is answered at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devflow.retrieval.query import parse
from devflow.store import search_lookup
from devflow.store.database import Database
from devflow.store.entry_lists import Filters
from devflow.store.search_lookup import Scope

READ_AT_ONCE = 200
"""Texts of one reading: some ten milliseconds."""


async def all_containing(db: Database, query: str, filters: Filters) -> tuple[str, ...]:
    """The ids of every entry that contains the whole query, in the contract's order: the LIKE tier without a cap."""
    needle, scope = parse(query).needle, Scope.of(filters)
    candidates = await db.read(lambda session: search_lookup.may_contain(session, needle, scope))
    unsure = [id for id, in_title in candidates if not in_title]
    there: set[str] = set()
    for some in _parts(unsure, READ_AT_ONCE):
        there |= await db.read(lambda session, some=some: search_lookup.with_content(session, needle, some))  # type: ignore[misc]
    return tuple(id for id, in_title in candidates if in_title or id in there)


def _parts(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
