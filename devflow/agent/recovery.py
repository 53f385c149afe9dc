"""At start-up: runs whose process is gone (spec 03, Runs and approvals).

What was executing is interrupted and never repeated, what was streaming is kept as far as it got, and a run that waits
for approval shows its card again. Nothing goes on by itself: the user continues with one click.
"""

from __future__ import annotations

from dataclasses import replace

from devflow.agent.engine import Engine
from devflow.agent.mending import mend
from devflow.domain.next_step import next_step
from devflow.domain.run import AskApproval, Finish, Run, RunState
from devflow.store import runs
from devflow.store.database import Unit


async def recover(engine: Engine) -> tuple[Run, ...]:
    """Mend every open run that no living process owns; the runs that changed, as they are now."""
    engine.lock.clean()
    mended = await engine.db.write(lambda unit: _recover_all(unit, engine))
    for run in mended:
        engine.run_changed(run)
    return mended


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
