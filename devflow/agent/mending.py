"""Rows that a stopped, closed or killed run leaves behind, put into states that are true."""

from __future__ import annotations

from devflow.domain.conversation import MessageState
from devflow.domain.run import OPEN_STATES, CallState, Problem, Run, RunState
from devflow.store import conversations, runs
from devflow.store.database import Unit


def mend(unit: Unit, run_id: str) -> None:
    """A call caught `executing` is interrupted and never run again; a message caught `streaming` is partial."""
    transcript = runs.transcript(unit.session, run_id)
    for calls in transcript.calls.values():
        for call in calls:
            if call.state is CallState.EXECUTING:
                runs.compare_and_set_call(unit, call.id, CallState.EXECUTING, CallState.INTERRUPTED)
    keep_partial(unit, run_id)


def keep_partial(unit: Unit, run_id: str) -> None:
    """The text of a streaming message so far is kept and marked."""
    last = runs.transcript(unit.session, run_id).messages[-1]
    if last.state is MessageState.STREAMING:
        conversations.write_message(
            unit, last.id, content=last.content, reasoning=last.reasoning, state=MessageState.PARTIAL
        )


def settle_cancelled(unit: Unit, run_id: str) -> Run | None:
    """The user stopped the run: every open call is settled, the text so far is kept. None if it was over already."""
    if runs.get(unit.session, run_id).state not in OPEN_STATES:
        return None
    keep_partial(unit, run_id)
    runs.settle_open_calls(unit, run_id)
    return runs.set_state(unit, run_id, RunState.CANCELLED, owner=None)


def settle_interrupted(unit: Unit, run_id: str, owner: str) -> Run | None:
    """The application closes over the run: it can be continued by one click. None if it is over or paused already."""
    run = runs.get(unit.session, run_id)
    if run.owner != owner or run.state not in OPEN_STATES:
        return None
    mend(unit, run_id)
    return runs.set_state(unit, run_id, RunState.INTERRUPTED, owner=None)


def settle_failed(unit: Unit, run_id: str, problem: Problem) -> Run | None:
    """The run failed: what was said is kept, what ran is unverified. None if it was over already."""
    if runs.get(unit.session, run_id).state not in OPEN_STATES:
        return None
    mend(unit, run_id)
    return runs.set_state(unit, run_id, RunState.FAILED, owner=None, problem=problem)
