"""Another process's writes, told to this one (spec 08, Between processes)."""

from __future__ import annotations

import asyncio
import logging

from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Hub
from devflow.store.database import Database

log = logging.getLogger(__name__)


async def watch(database: Database, hub: Hub, every: float = 0.5) -> None:
    """Publish what other processes commit, looking each `every` seconds; runs until it is cancelled."""
    while True:
        try:
            changes = await database.foreign_changes()
        except DatabaseProblem as problem:  # it may pass; whoever reads or writes next says it to the user
            log.info("cannot look for foreign changes: %s", problem)
            changes = None
        if changes is not None:
            hub.publish(changes)
        await asyncio.sleep(every)
