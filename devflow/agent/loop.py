"""`advance`: the only loop. Sending, deciding, recovery, Retry and Continue all end here (ARCHITECTURE, One path).

It rereads the run's rows, asks `next_step`, commits what the step claims, does it, and repeats. The caller holds the
process's one lock of the run (`turns`); between processes the run's owner is the lock.
"""

from __future__ import annotations

from devflow.agent.engine import Engine
from devflow.agent.execute import execute
from devflow.agent.mending import mend
from devflow.agent.reply import reply
from devflow.domain.next_step import next_step
from devflow.domain.run import AskApproval, CallModel, ExecuteTools, Finish, Run, RunState, Step
from devflow.store import runs
from devflow.store.database import Unit


async def advance(engine: Engine, run_id: str) -> None:
    """Take the run as far as it goes without a human: to its end, to a pause, or to where another process has it."""
    while True:
        match await _claim(engine, run_id):
            case CallModel():
                await reply(engine, run_id)
            case ExecuteTools(call_ids):
                await execute(engine, run_id, call_ids)
            case Finish() | AskApproval() | None:
                return


async def _claim(engine: Engine, run_id: str) -> Step | None:
    """The next step, with state and owner committed for it; None where another living process owns the run."""
    before, after, step = await engine.db.write(lambda unit: _claim_in(unit, engine, run_id))
    if step is not None and after.state is not before.state:
        engine.run_changed(after)
    return step


def _claim_in(unit: Unit, engine: Engine, run_id: str) -> tuple[Run, Run, Step | None]:
    before = runs.get(unit.session, run_id)
    me = engine.lock.id
    if before.owner not in (None, me):
        if engine.lock.is_alive(before.owner):
            return before, before, None
        mend(unit, run_id)
    step = next_step(runs.transcript(unit.session, run_id))
    match step:
        case CallModel():
            after = runs.set_state(unit, run_id, RunState.CALLING_MODEL, owner=me, step=True)
        case ExecuteTools():
            after = runs.set_state(unit, run_id, RunState.EXECUTING, owner=me)
        case AskApproval():
            after = runs.set_state(unit, run_id, RunState.AWAITING_APPROVAL, owner=None)
        case Finish(state, problem):
            after = before
            if state is not before.state:
                after = runs.set_state(unit, run_id, state, owner=None, problem=problem)
    return before, after, step
