"""A run that another process has stopped or taken over: whoever works on it here must hear of it, and soon."""

from __future__ import annotations

import asyncio

from devflow.agent.engine import Engine
from devflow.domain.errors import DatabaseProblem
from devflow.domain.run import OPEN_STATES
from devflow.store import runs

EVERY_S = 0.5
"""So long after another process's stop a stream or a tool may still go on here. A look costs one read by key."""


async def ended_elsewhere(engine: Engine, run_id: str) -> None:
    """Return when the run, which this process works on, is over or another process's."""
    while True:
        await asyncio.sleep(EVERY_S)
        try:
            run = await engine.db.read(lambda session: runs.get(session, run_id))
        except DatabaseProblem:
            continue  # the work itself meets it too, and says so
        if run.state not in OPEN_STATES or run.owner not in (None, engine.lock.id):
            return
