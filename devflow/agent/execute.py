"""Running approved calls at most once (spec 03, rules 2 and 3).

A call is claimed `executing` and committed before its effect, and its result is stored after. Killed in between, it is
interrupted, never repeated, and the model is told that its effect is unverified.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from devflow.agent.engine import Engine
from devflow.domain.conversation import Conversation
from devflow.domain.errors import UserFacing
from devflow.domain.run import CallState, Run, RunState, ToolCall, arguments_hash
from devflow.store import conversations, runs
from devflow.store.database import Session, Unit
from devflow.tools.approval import approval_for, approval_of, carrying, with_approval, without_approval
from devflow.tools.policy import Effect, Verdict
from devflow.tools.registry import parse_arguments
from devflow.tools.tool import Tool, ToolContext, ToolOutcome, ToolStopped, Voided

log = logging.getLogger(__name__)


async def execute(engine: Engine, run_id: str, call_ids: Sequence[str]) -> None:
    """Run these calls, one after the other. Each that somebody else has claimed or settled meanwhile is passed over."""
    run, conversation, only, names = await engine.db.read(lambda session: _scene(session, run_id, call_ids))
    for call_id, name in zip(call_ids, names, strict=True):
        context = await engine.tool_context(
            conversation.id, conversation.project, kb_id=conversation.kb_id, only=(name,)
        )
        await _execute_one(engine, run, call_id, context, only)


def _scene(
    session: Session, run_id: str, call_ids: Sequence[str]
) -> tuple[Run, Conversation, tuple[str, ...] | None, list[str]]:
    run = runs.get(session, run_id)
    names = [runs.call(session, call_id).tool for call_id in call_ids]
    return run, conversations.get(session, run.conversation_id), runs.tools_of(session, run_id), names


async def _execute_one(
    engine: Engine, run: Run, call_id: str, context: ToolContext, only: tuple[str, ...] | None
) -> None:
    call = await engine.db.write(lambda unit: _claim(unit, engine, run.id, call_id))
    if call is None:
        return
    engine.calls_changed(run, call.message_id)
    started = time.monotonic()
    shown = replace(context, progress=partial(engine.call_output, run, call_id))
    try:
        outcome = await _run_tool(engine, call, shown, only)
    except ToolStopped as stopped:  # it is over, and what became of it is known
        await engine.db.write(partial(_store_stopped, call=call, stopped=stopped, took=_ms_since(started)))
        raise
    took = _ms_since(started)
    if isinstance(outcome, Voided) and only is not None:  # a run for which nobody is there to look at a card
        outcome = ToolOutcome("", f"{outcome.why} Nobody can be asked here, so nothing was done.")
    await engine.db.write(lambda unit: _store(unit, call, outcome, took))
    engine.calls_changed(run, call.message_id)


def _ms_since(instant: float) -> int:
    return int((time.monotonic() - instant) * 1000)


def _claim(unit: Unit, engine: Engine, run_id: str, call_id: str) -> ToolCall | None:
    """The one that moves the call from approved to executing runs it; what runs is what was approved (the hash)."""
    run = runs.get(unit.session, run_id)
    if run.state is not RunState.EXECUTING or run.owner != engine.lock.id:
        return None
    call = runs.call(unit.session, call_id)
    if arguments_hash(call.tool, call.arguments) != call.arguments_hash:
        raise RuntimeError(f"the arguments of call {call_id} are not those that were approved")
    won = runs.compare_and_set_call(unit, call_id, CallState.APPROVED, CallState.EXECUTING, started_at=unit.at)
    return call if won else None


async def _run_tool(
    engine: Engine, call: ToolCall, context: ToolContext, only: tuple[str, ...] | None
) -> ToolOutcome | Voided:
    tool = engine.tools(context, only).get(call.tool)
    if tool is None:
        return ToolOutcome("", f"The tool {call.tool!r} is not available any more.")
    try:
        arguments = parse_arguments(tool, call.arguments)
        subject = tool.subject(arguments)
        said = context.judge(subject, tool.default)  # raises for what has been denied since
        if said.effect is Effect.ASK and call.decided_by is None and only is None:
            return await _ask_after_all(tool, arguments, context, said)
        outcome = await tool.run(arguments, context, without_approval(call.preview))
    except UserFacing as refusal:
        return ToolOutcome("", str(refusal))
    except Exception as error:
        log.exception("the tool %s failed", call.tool)
        return ToolOutcome("", f"The tool failed unexpectedly ({type(error).__name__}).")
    if isinstance(outcome, Voided) and (former := approval_of(call.preview)).patterns:
        now = approval_for(subject, said, context.workspace, untrusted=former.untrusted)
        return replace(outcome, preview=with_approval(outcome.preview, replace(former, patterns=now.patterns)))
    return outcome


async def _ask_after_all(tool: Tool, arguments: Mapping[str, Any], context: ToolContext, said: Verdict) -> Voided:
    """The rule that let the call pass was revoked before it ran, as over a restart: nobody has said yes to it."""
    because = replace(said, because=said.because or "revoked")
    approval = approval_for(tool.subject(arguments), because, context.workspace, untrusted=context.read_untrusted)
    return Voided(with_approval(await tool.preview(arguments, context), approval), "")


def _store_stopped(unit: Unit, call: ToolCall, stopped: ToolStopped, took: int) -> None:
    """The run was stopped while the tool ran: unlike an interrupted call, this one's end was seen."""
    state = CallState.DONE if stopped.over else CallState.CANCELLED
    runs.compare_and_set_call(
        unit, call.id, CallState.EXECUTING, state, result=stopped.outcome.text, error="", duration_ms=took
    )


def _store(unit: Unit, call: ToolCall, outcome: ToolOutcome | Voided, took: int) -> None:
    match outcome:
        case ToolOutcome(text, error):
            state = CallState.FAILED if error else CallState.DONE
            runs.compare_and_set_call(
                unit, call.id, CallState.EXECUTING, state, result=text, error=error, duration_ms=took
            )
        case Voided(preview, why):
            runs.compare_and_set_call(
                unit,
                call.id,
                CallState.EXECUTING,
                CallState.AWAITING,
                preview=carrying(preview, call.preview),
                error=why,
                decided_by=None,
                decided_seq=None,
                reason="",
                started_at=None,
            )
        case _:
            assert_never(outcome)
