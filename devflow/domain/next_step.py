"""`next_step`: what a run does next, decided from its rows alone (ARCHITECTURE, One path).

The only rule book of the loop. It is pure; `agent.loop.advance` calls it inside the transaction that claims the step.
"""

from __future__ import annotations

from devflow.domain.conversation import Message, MessageState, Role
from devflow.domain.messages import N_
from devflow.domain.run import (
    MAX_STEPS,
    OPEN_STATES,
    SETTLED,
    AskApproval,
    CallModel,
    CallState,
    ExecuteTools,
    Finish,
    Problem,
    Run,
    RunState,
    Step,
    ToolCall,
    Transcript,
)

MAX_IDENTICAL_CALLS = 3
"""So many calls in a row with the same tool and the same arguments end the run (spec 03, rule 5)."""

LIMITS = frozenset({"step_limit", "repeated_calls"})
"""Codes of the problems that end a run which could go on: Continue lets it."""


def next_step(transcript: Transcript) -> Step:
    """The next step of the run whose newest message is the transcript's last.

    A missing decision is pending, never yes; no model call happens until every call is settled, and what needs no
    approval runs before the run pauses (spec 03, rule 1). Rows that only a crash leaves behind (a call `executing`, a
    message `streaming`) end the run as interrupted: nothing is repeated by itself.
    """
    run = transcript.run
    if run.state not in OPEN_STATES:
        return Finish(run.state, run.problem)
    last = transcript.messages[-1]
    if last.role is Role.USER:
        return _call_model(transcript)
    match last.state:
        case MessageState.STREAMING:
            return Finish(RunState.INTERRUPTED)
        case MessageState.PARTIAL:
            return _call_model(transcript) if run.recovered_seq > last.seq else Finish(RunState.INTERRUPTED)
        case MessageState.COMPLETE:
            return _after_answer(transcript, transcript.calls.get(last.id, ()))


def _after_answer(transcript: Transcript, calls: tuple[ToolCall, ...]) -> Step:
    if not calls:
        return Finish(RunState.COMPLETED)
    if any(call.state is CallState.EXECUTING for call in calls):
        return Finish(RunState.INTERRUPTED)
    if approved := tuple(call.id for call in calls if call.state is CallState.APPROVED):
        return ExecuteTools(approved)
    if waiting := tuple(call.id for call in calls if call.state not in SETTLED):
        return AskApproval(waiting)
    return _call_model(transcript)


def _call_model(transcript: Transcript) -> Step:
    if transcript.run.steps >= MAX_STEPS:
        return Finish(RunState.FAILED, step_limit())
    if _repeats_itself(transcript):
        return Finish(RunState.FAILED, repeated_calls())
    return CallModel()


def step_limit() -> Problem:
    return Problem(
        "step_limit",
        N_("The run stopped after {limit} steps without an answer."),
        N_("Continue lets it go on; a narrower question often needs fewer steps."),
        {"limit": MAX_STEPS},
    )


def repeated_calls() -> Problem:
    return Problem(
        "repeated_calls",
        N_("The run stopped: the model asked for the same tool call {count} times in a row."),
        N_("Continue lets it go on; saying what you expect often helps more."),
        {"count": MAX_IDENTICAL_CALLS},
    )


def _repeats_itself(transcript: Transcript) -> bool:
    """Whether the newest calls since the last recovery are one and the same, `MAX_IDENTICAL_CALLS` times."""
    newest: list[str] = []
    for message in reversed(transcript.messages):
        if not _counts(message, transcript.run):
            break
        newest += [call.arguments_hash for call in reversed(transcript.calls.get(message.id, ()))]
        if len(newest) >= MAX_IDENTICAL_CALLS:
            break
    return len(newest) >= MAX_IDENTICAL_CALLS and len(set(newest[:MAX_IDENTICAL_CALLS])) == 1


def _counts(message: Message, run: Run) -> bool:
    return message.role is Role.ASSISTANT and message.run_id == run.id and message.seq > run.recovered_seq
