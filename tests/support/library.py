"""A library on a real file, without any window, and the few acts that many tests begin with."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.app.paths import AppPaths, app_paths
from devflow.domain.events import Changes, Event, Hub
from devflow.domain.knowledge import Entry, Status, TimelineEvent, draft
from devflow.knowledge.projects import Projects
from devflow.knowledge.samples import Samples
from devflow.knowledge.service import Actor, Knowledge
from devflow.knowledge.settings import Settings
from devflow.store.database import Database
from devflow.store.migrate import open_database

USER = Actor.user()
AI = Actor.ai()


@dataclass(frozen=True)
class Library:
    paths: AppPaths
    hub: Hub
    db: Database
    settings: Settings
    knowledge: Knowledge
    projects: Projects
    samples: Samples
    published: list[Changes]
    """Every change the hub has told of."""

    async def add(self, title: str = "Take the lock first", status: Status = Status.CANDIDATE, **fields: Any) -> Entry:
        """An entry by hand in that status, by the acts that lead there."""
        values = {"kind": "pitfall", "title": title, "content": f"{title}, and say why.", **fields}
        entry = (await self.knowledge.knowledge_create(draft(**values), actor=USER)).entries[0]
        match status:
            case Status.CANDIDATE:
                pass
            case Status.PENDING_REVIEW:
                await self.knowledge.knowledge_update_status(entry.id, "pending_review", actor=USER)
            case Status.PUBLISHED:
                await self.knowledge.knowledge_approve(entry.id, actor=USER)
            case Status.ARCHIVED:
                await self.knowledge.knowledge_archive(entry.id, actor=USER)
        return await self.knowledge.knowledge_get(entry.id)

    async def events(self, id: str) -> list[TimelineEvent]:
        """An entry's timeline, oldest first."""
        return list(reversed(await self.knowledge.knowledge_timeline(id)))


@contextlib.asynccontextmanager
async def open_library(home: Path, *, agent_child: bool = False) -> AsyncIterator[Library]:
    paths, hub = app_paths(home), Hub()
    told: list[Changes] = []

    def hear(event: Event) -> None:
        if isinstance(event, Changes):
            told.append(event)

    hub.subscribe(hear)
    db = open_database(paths, hub)
    settings = Settings(db)
    try:
        yield Library(
            paths=paths,
            hub=hub,
            db=db,
            settings=settings,
            knowledge=Knowledge(db, settings, agent_child=agent_child),
            projects=Projects(db),
            samples=Samples(db, paths.resources, agent_child=agent_child),
            published=told,
        )
    finally:
        settings.close()
        db.close()
