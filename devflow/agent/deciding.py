"""A human's word on a waiting tool call: allow, deny with a reason, or change its arguments first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devflow.agent.engine import Engine
from devflow.agent.untrusted import has_read_untrusted
from devflow.domain.conversation import Conversation
from devflow.domain.errors import Refused
from devflow.domain.messages import N_
from devflow.domain.run import CallState, Run, RunState, ToolCall, arguments_hash
from devflow.store import conversations, runs, settings
from devflow.store.database import Session, Unit
from devflow.tools.approval import approval_for, approval_of, rule_for, with_approval
from devflow.tools.policy import Rule
from devflow.tools.registry import parse_arguments
from devflow.tools.rules import GROUP, with_rule
from devflow.tools.tool import Tool, ToolContext

Scope = Literal["once", "conversation", "always"]
"""How far a yes reaches: this call, the same one in this conversation, or in this workspace what `pattern` says."""


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is what the model is told of a denial, in the user's words. `arguments`: edited ones, as JSON text.

    `shown`: `ToolCall.shown_hash` of the call as its decider saw it; a yes to anything else is refused. None: whoever
    decides looks at no card that could be out of date. `pattern` is one of those the card offers (None: exactly this
    target); `after_untrusted` lets an "always" hold even after text from outside.
    """

    allow: bool
    reason: str = ""
    arguments: str | None = None
    scope: Scope = "once"
    shown: str | None = None
    pattern: str | None = None
    after_untrusted: bool = False


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
    (spec 03, rule 2). Raises the tool's refusal where they cannot work, and `Refused` for a yes to what has changed
    since it was shown; nothing is recorded then.
    """
    call = await engine.db.read(lambda session: runs.call(session, call_id))
    if decision.allow and decision.arguments is not None and decision.arguments != call.arguments:
        return await _show_edited(engine, call, decision.arguments, decision.shown)
    rule = await _rule(engine, call, decision) if decision.allow and decision.scope != "once" else None
    return await engine.db.write(lambda unit: _record(unit, engine, call_id, decision, rule))


async def _rule(engine: Engine, call: ToolCall, decision: Decision) -> Rule:
    """The yes for this tool and a pattern its card offered, in this workspace (spec 03, rule 4).

    In a conversation that had read text from outside, its card said so: a yes for the conversation holds nevertheless.
    """
    context, tool = await _context(engine, call)
    subject = tool.subject(parse_arguments(tool, call.arguments))
    shown = approval_of(call.preview)
    if shown.workspace != context.workspace:
        raise Refused(
            N_("The conversation has another project folder now; the rule that was shown names the former."),
            N_("Allow it once, or deny it."),
        )
    here = decision.scope == "conversation"
    chosen = None if here else decision.pattern
    rule = rule_for(
        subject,
        context.workspace,
        pattern=chosen if chosen is not None else next(iter(shown.patterns), ""),
        conversation_id=context.conversation_id if here else None,
        after_untrusted=shown.untrusted if here else decision.after_untrusted,
    )
    if rule is None or rule.pattern not in shown.patterns:
        raise Refused(
            N_("No rule may allow this call: what it would do cannot be told from its words."),
            N_("Allow it once, or deny it."),
        )
    return rule


async def _show_edited(engine: Engine, call: ToolCall, arguments: str, shown: str | None) -> Outcome:
    context, tool = await _context(engine, call)
    parsed = parse_arguments(tool, arguments)
    subject = tool.subject(parsed)
    said = context.judge(subject, tool.default)  # raises for what is denied outright
    approval = approval_for(subject, said, context.workspace, untrusted=context.read_untrusted)
    preview = with_approval(await tool.preview(parsed, context), approval)

    def work(unit: Unit) -> Outcome:
        _refuse_other_than_shown(runs.call(unit.session, call.id), shown)
        changed = runs.compare_and_set_call(
            unit,
            call.id,
            CallState.AWAITING,
            CallState.AWAITING,
            arguments=arguments,
            arguments_hash=arguments_hash(call.tool, arguments),
            preview=preview,
            edited=True,
            error="",
        )
        now = runs.call(unit.session, call.id)
        return Outcome(runs.get(unit.session, call.run_id), now, decided=False, changed=changed)

    return await engine.db.write(work)


async def _context(engine: Engine, call: ToolCall) -> tuple[ToolContext, Tool]:
    """Where the call would run, as things stand now, and its tool."""
    conversation, only, untrusted = await engine.db.read(lambda session: _scene(session, call))
    context = await engine.tool_context(
        conversation.id,
        conversation.project,
        kb_id=conversation.kb_id,
        read_untrusted=untrusted,
        only=(call.tool,),
    )
    return context, _tool(engine, context, only, call)


def _scene(session: Session, call: ToolCall) -> tuple[Conversation, tuple[str, ...] | None, bool]:
    run = runs.get(session, call.run_id)
    conversation = conversations.get(session, run.conversation_id)
    untrusted = has_read_untrusted(session, conversation.id, call.message_id, run.id)
    return conversation, runs.tools_of(session, run.id), untrusted


def _tool(engine: Engine, context: ToolContext, only: tuple[str, ...] | None, call: ToolCall) -> Tool:
    tool = engine.tools(context, only).get(call.tool)
    if tool is None:
        raise Refused(
            N_("The tool {tool} is not available any more."),
            N_("Deny the call, or give the conversation its project folder again."),
            tool=call.tool,
        )
    return tool


def _refuse_other_than_shown(call: ToolCall, shown: str | None) -> None:
    """A yes covers what was looked at, not what another window or the file's new content has made of it since."""
    if shown is not None and call.state is CallState.AWAITING and call.shown_hash != shown:
        raise Refused(
            N_("The call has changed since it was shown; nothing was decided."),
            N_("Look at it again, then decide."),
        )


def _record(unit: Unit, engine: Engine, call_id: str, decision: Decision, rule: Rule | None) -> Outcome:
    """The run becomes ours with the decision, so that no recovery elsewhere takes it for abandoned.

    The rule that a wider yes makes is kept in the same transaction: there is no decision without it, nor the reverse.
    """
    call = runs.call(unit.session, call_id)
    run = runs.get(unit.session, call.run_id)
    if call.state is not CallState.AWAITING:
        return Outcome(run, call, decided=False, changed=False)
    if decision.allow:
        _refuse_other_than_shown(call, decision.shown)
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
    if rule is not None:
        settings.put(unit, GROUP, with_rule(settings.get(unit.session, GROUP), rule))
    if run.state is RunState.AWAITING_APPROVAL and not engine.lock.is_alive(run.owner):
        run = runs.set_state(unit, run.id, run.state, owner=engine.lock.id)
    return Outcome(run, runs.call(unit.session, call_id), decided=True, changed=True)
