"""A human's word on a waiting tool call: allow, deny with a reason, or change its arguments first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devflow.agent.engine import Engine
from devflow.domain.conversation import Conversation
from devflow.domain.run import CallState, Run, RunState, ToolCall, arguments_hash
from devflow.store import conversations, runs
from devflow.store.database import Session, Unit
from devflow.tools.policy import add_rule, rule_for
from devflow.tools.registry import parse_arguments

Scope = Literal["once", "conversation", "always"]
"""How far a yes reaches: this call, the same one in this conversation, or the same one in this workspace."""


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is what the model is told of a denial, in the user's words. `arguments`: edited ones, as JSON text."""

    allow: bool
    reason: str = ""
    arguments: str | None = None
    scope: Scope = "once"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`decided`: this decision counted. `changed`: the call's row did (edited arguments are shown again first)."""

    run: Run
    call: ToolCall
    decided: bool
    changed: bool


async def decide(engine: Engine, call_id: str, decision: Decision) -> Outcome:
    """Record the decision, if the call still waits for one; of two clicks the first counts.

    Edited arguments are checked again and shown again with a new preview: they run only once they were allowed as shown
    (spec 03, rule 2). Raises the tool's refusal where they cannot work.
    """
    call = await engine.db.read(lambda session: runs.call(session, call_id))
    if decision.allow and decision.arguments is not None and decision.arguments != call.arguments:
        return await _show_edited(engine, call, decision.arguments)
    outcome = await engine.db.write(lambda unit: _record(unit, engine, call_id, decision))
    if outcome.decided and decision.allow and decision.scope != "once":
        await _keep_rule(engine, call, decision.scope)
    return outcome


async def _keep_rule(engine: Engine, call: ToolCall, scope: Scope) -> None:
    """Remember the yes for exactly this tool and target, in this workspace (spec 03, rule 4)."""
    conversation, only = await engine.db.read(lambda session: _scene(session, call))
    context = await engine.tool_context(conversation.id, conversation.project)
    tool = engine.tools(context, only)[call.tool]
    subject = tool.subject(parse_arguments(tool, call.arguments))
    workspace = conversation.project.path if conversation.project else ""
    within = conversation.id if scope == "conversation" else None
    await add_rule(engine.settings, rule_for(subject, workspace, conversation_id=within))


async def _show_edited(engine: Engine, call: ToolCall, arguments: str) -> Outcome:
    conversation, only = await engine.db.read(lambda session: _scene(session, call))
    context = await engine.tool_context(conversation.id, conversation.project)
    tool = engine.tools(context, only)[call.tool]
    parsed = parse_arguments(tool, arguments)
    tool.needs_approval(parsed, context)  # raises for what is denied outright
    preview = await tool.preview(parsed, context)

    def work(unit: Unit) -> Outcome:
        changed = runs.compare_and_set_call(
            unit,
            call.id,
            CallState.AWAITING,
            CallState.AWAITING,
            arguments=arguments,
            arguments_hash=arguments_hash(call.tool, arguments),
            preview=dict(preview) if preview is not None else None,
            edited=True,
            error="",
        )
        now = runs.call(unit.session, call.id)
        return Outcome(runs.get(unit.session, call.run_id), now, decided=False, changed=changed)

    return await engine.db.write(work)


def _scene(session: Session, call: ToolCall) -> tuple[Conversation, tuple[str, ...] | None]:
    run = runs.get(session, call.run_id)
    return conversations.get(session, run.conversation_id), runs.tools_of(session, run.id)


def _record(unit: Unit, engine: Engine, call_id: str, decision: Decision) -> Outcome:
    """The run becomes ours with the decision, so that no recovery elsewhere takes it for abandoned."""
    call = runs.call(unit.session, call_id)
    run = runs.get(unit.session, call.run_id)
    if call.state is not CallState.AWAITING:
        return Outcome(run, call, decided=False, changed=False)
    state = CallState.APPROVED if decision.allow else CallState.DENIED
    runs.compare_and_set_call(
        unit,
        call_id,
        CallState.AWAITING,
        state,
        decided_by="user",
        decided_seq=conversations.next_seq(unit, run.conversation_id),
        reason=decision.reason.strip(),
        error="",
    )
    if run.state is RunState.AWAITING_APPROVAL and not engine.lock.is_alive(run.owner):
        run = runs.set_state(unit, run.id, run.state, owner=engine.lock.id)
    return Outcome(run, runs.call(unit.session, call_id), decided=True, changed=True)
