"""Runs whose process is gone, at start-up and while a window is open (spec 03, Runs and approvals).

What was executing is interrupted and never repeated, what was streaming is kept as far as it got, and a run that waits
for approval shows its card again. Nothing goes on by itself: the user continues with one click.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from devflow.agent.engine import Engine
from devflow.agent.mending import mend
from devflow.domain.errors import DatabaseProblem
from devflow.domain.next_step import next_step
from devflow.domain.run import AskApproval, Finish, Run, RunState
from devflow.store import runs
from devflow.store.database import Session, Unit

EVERY_S = 2.0
"""So long after another process was killed its run may still seem to go on here. A look costs one small read."""


async def recover(engine: Engine) -> tuple[Run, ...]:
    """Mend every open run that no living process owns; the runs that changed, as they are now."""
    engine.lock.clean()
    mended = await engine.db.write(lambda unit: _recover_all(unit, engine))
    for run in mended:
        engine.run_changed(run)
    return mended


async def keep_recovering(engine: Engine) -> None:
    """For as long as a window is open: a run of another process that was killed meanwhile goes on for nobody."""
    while True:
        await asyncio.sleep(EVERY_S)
        try:
            if await engine.db.read(lambda session: _abandoned(session, engine)):
                await recover(engine)
        except DatabaseProblem:
            continue  # whoever works meets it too, and says so; the next look may find the disk well again


def _abandoned(session: Session, engine: Engine) -> bool:
    return any(run.owner is not None and not engine.lock.is_alive(run.owner) for run in runs.all_open(session))


def _recover_all(unit: Unit, engine: Engine) -> tuple[Run, ...]:
    changed = []
    for run in runs.all_open(unit.session):
        if run.owner == engine.lock.id or engine.lock.is_alive(run.owner):
            continue
        mend(unit, run.id)
        state = _state_after(unit, run)
        if state is not run.state or run.owner is not None:
            changed.append(runs.set_state(unit, run.id, state, owner=None))
    return tuple(changed)


def _state_after(unit: Unit, run: Run) -> RunState:
    """Where the rows say the run stands, once they are mended."""
    transcript = runs.transcript(unit.session, run.id)
    match next_step(replace(transcript, run=replace(run, steps=0))):
        case AskApproval():
            return RunState.AWAITING_APPROVAL
        case Finish(RunState.COMPLETED):
            return RunState.COMPLETED
        case _:
            return RunState.INTERRUPTED
