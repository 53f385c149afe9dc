"""From what the model asked for to rows: which calls can run at all, and which of them a human must approve first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from devflow.domain.errors import UserFacing
from devflow.domain.request import CallChunk
from devflow.domain.run import CallState, Risk
from devflow.store.runs import NewCall
from devflow.tools.approval import approval_for, with_approval
from devflow.tools.policy import Effect
from devflow.tools.registry import parse_arguments
from devflow.tools.tool import Tool, ToolContext

CALLS_MAX = 64
"""So many calls of one message are run; the model is told of the others."""


async def prepare_calls(
    asked: Sequence[CallChunk], tools: Mapping[str, Tool], context: ToolContext, *, unattended: bool
) -> tuple[NewCall, ...]:
    """A row for each call, in order. One that cannot work is a row too: failed, with a sentence for the model.

    `unattended`: nobody can be asked, and the tools offered are those that the user named for this run: that is their
    approval, without a diff to hold it against.
    """
    taken = [await _prepare(call, tools, context, unattended=unattended) for call in asked[:CALLS_MAX]]
    left = [_failed(call, Risk.READS, f"Only {CALLS_MAX} calls at once are run.") for call in asked[CALLS_MAX:]]
    return (*taken, *left)


async def _prepare(call: CallChunk, tools: Mapping[str, Tool], context: ToolContext, *, unattended: bool) -> NewCall:
    tool = tools.get(call.tool)
    if tool is None:
        known = ", ".join(tools) or "none"
        return _failed(call, Risk.READS, f"There is no tool named {call.tool!r} here. Tools: {known}.")
    try:
        arguments = parse_arguments(tool, call.arguments)
        subject = tool.subject(arguments)
        said = context.judge(subject, tool.default)
        if said.effect is Effect.ALLOW or unattended:
            return NewCall(call.wire_id, call.tool, call.arguments, CallState.APPROVED, tool.risk)
        preview = await tool.preview(arguments, context)
    except UserFacing as refusal:
        return _failed(call, tool.risk, str(refusal))
    shown = with_approval(preview, approval_for(subject, said, context.workspace, untrusted=context.read_untrusted))
    return NewCall(call.wire_id, call.tool, call.arguments, CallState.AWAITING, tool.risk, shown)


def _failed(call: CallChunk, risk: Risk, sentence: str) -> NewCall:
    return NewCall(call.wire_id, call.tool, call.arguments, CallState.FAILED, risk, error=sentence)
