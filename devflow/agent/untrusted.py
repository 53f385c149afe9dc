"""Whether a conversation has read text from outside, told from its rows alone (spec 03, Tools: untrusted text)."""

from __future__ import annotations

from collections.abc import Sequence

from devflow.domain.conversation import Message
from devflow.domain.request import Injected
from devflow.domain.run import CallState, ToolCall
from devflow.store import conversations, receipts, runs
from devflow.store.database import Session

OWN_WORDS = frozenset({"knowledge_search", "propose_knowledge", "write_file", "edit_file", "current_knowledge_base"})
"""Tools that tell the model nothing but what the user has reviewed, or what it said itself. Every other one, of this
version or of an MCP server, may bring words of somebody else."""


def has_read_untrusted(session: Session, conversation_id: str, message_id: str, run_id: str) -> bool:
    """Whether the path down to that message, from the conversation's beginning, or the run that is at it, has brought
    text from outside: a call's output, a failure's words included, pages that were put before the model, or a skill
    that lies with a project or a knowledge base: the user has called it, but somebody else may have written it.
    """
    path = conversations.path_to(session, message_id)
    calls = runs.calls_of(session, [message.id for message in path])
    if any(_has_read(call) for each in calls.values() for call in each):
        return True
    ran = _runs_of(path, run_id)
    if any(not skill.is_own for skill in runs.skills_of(session, ran)):
        return True
    given = receipts.of_conversation(session, conversation_id, ran)
    return any(isinstance(receipt.pages, Injected) for receipt in given)


def _runs_of(path: Sequence[Message], run_id: str) -> set[str]:
    return {run_id, *(message.run_id for message in path if message.run_id is not None)}


def _has_read(call: ToolCall) -> bool:
    failed = call.state is CallState.FAILED and call.duration_ms is not None
    told = call.state is CallState.DONE or failed or bool(call.result)  # one that was stopped may have said something
    return told and call.tool not in OWN_WORDS
