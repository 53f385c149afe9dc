"""A real library in a real file, filled by the store's own writes, for tests of the search."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.domain.ids import new_id
from devflow.domain.knowledge import Entry, EntryDraft, Kind, Status, draft
from devflow.retrieval.entries import relevant_entries, search_entries
from devflow.retrieval.hits import SearchResult
from devflow.store import entries
from devflow.store.database import Database, Unit
from devflow.store.entry_lists import Filters
from devflow.store.migrate import open_database
from devflow.store.timeline import Act


class SearchLibrary:
    """`add` publishes unless told otherwise; `find` gives the titles a search shows."""

    def __init__(self, home: Path) -> None:
        self.database: Database = open_database(app_paths(home), Hub())

    def add(
        self,
        title: str,
        content: str = "…",
        *,
        tags: Iterable[str] = (),
        status: Status = Status.PUBLISHED,
        kind: Kind = Kind.PITFALL,
        reuse: int = 0,
        project_id: str | None = None,
    ) -> Entry:
        made = draft(kind=kind, title=title, content=content, tags=tags, project_id=project_id)
        return self.database.run_write(lambda unit: _insert(unit, made, status, reuse))

    def entry(self, id: str) -> Entry:
        return self.database.run_read(lambda session: entries.get(session, id))

    def search(self, query: str, filters: Filters | None = None, *, limit: int = 50, **more: int) -> SearchResult:
        return self.database.run_read(lambda session: search_entries(session, query, filters, limit=limit, **more))

    def find(self, query: str, filters: Filters | None = None, *, limit: int = 50) -> list[str]:
        return [hit.entry.title for hit in self.search(query, filters, limit=limit)]

    def inject(self, message: str, project_id: str | None = None) -> list[str]:
        found = self.database.run_read(lambda session: relevant_entries(session, message, project_id=project_id))
        return [hit.entry.title for hit in found]

    def close(self) -> None:
        self.database.close()


def _insert(unit: Unit, made: EntryDraft, status: Status, reuse: int) -> Entry:
    act = Act("user", new_id())
    entry = entries.insert(unit, made, act)
    for step in _steps(status):
        entry = entries.compare_and_set_status(unit, entry.id, entry.status, step, act)
    for _ in range(reuse):
        entries.bump_reuse(unit, entry.id, actor="user", operation=act.operation)
    return entry


def _steps(status: Status) -> tuple[Status, ...]:
    match status:
        case Status.CANDIDATE:
            return ()
        case Status.PENDING_REVIEW | Status.ARCHIVED:
            return (status,)
        case Status.PUBLISHED:
            return (Status.PENDING_REVIEW, Status.PUBLISHED)
