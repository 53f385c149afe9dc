"""Whether a conversation has read text from outside, told from its rows alone (spec 03, Tools: untrusted text)."""

from __future__ import annotations

from collections.abc import Mapping

from devflow.domain.run import CallState, ToolCall
from devflow.store import conversations, runs
from devflow.store.database import Session

OWN_WORDS = frozenset({"knowledge_search", "propose_knowledge", "write_file", "edit_file", "current_knowledge_base"})
"""Tools that tell the model nothing but what the user has reviewed, or what it said itself. Every other one, of this
version or of an MCP server, may bring words of somebody else."""


def has_read_untrusted(calls: Mapping[str, tuple[ToolCall, ...]]) -> bool:
    """Whether any of these calls has brought text from outside, a failure's words included."""
    return any(_has_read(call) for each in calls.values() for call in each)


def read_untrusted_above(session: Session, message_id: str) -> bool:
    """The same for the path down to that message, from the beginning of the conversation."""
    path = conversations.path_to(session, message_id)
    return has_read_untrusted(runs.calls_of(session, [message.id for message in path]))


def _has_read(call: ToolCall) -> bool:
    failed = call.state is CallState.FAILED and call.duration_ms is not None
    told = call.state is CallState.DONE or failed or bool(call.result)  # one that was stopped may have said something
    return told and call.tool not in OWN_WORDS
