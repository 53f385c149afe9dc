"""The conversation as the provider gets it: clean texts, and an answer to every tool call before the next user text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, assert_never

from devflow.domain import fences
from devflow.domain.conversation import Message, MessageState, Role
from devflow.domain.request import AssistantTurn, ChatMessage, ToolResult, UserText, WireCall
from devflow.domain.run import CallState, ToolCall
from devflow.domain.text.hidden import with_hidden_shown
from devflow.prompt.templates import Language, Templates

Calls = Mapping[str, tuple[ToolCall, ...]]
"""Tool calls by the id of the message that asked for them."""

Replays = Mapping[str, Mapping[str, Any]]
"""What the model that is asked wants back verbatim, by the id of its message."""


_FOREIGN = "mcp__"
"""Tools of MCP servers: what they say of a failure is not our sentence, so it stands inside the fence."""


def history(
    messages: Sequence[Message],
    calls: Calls,
    *,
    templates: Templates,
    language: Language,
    replays: Replays = MappingProxyType({}),
) -> tuple[ChatMessage, ...]:
    """Messages of one path, oldest first, as chat messages; `folded` makes one of consecutive user texts.

    An answer and its continuation are one again, and a cut answer that never got a character is left out.
    """
    out: list[ChatMessage] = []
    for message in messages:
        if message.role is Role.USER:
            out.append(UserText(message.content))
            continue
        asked = calls.get(message.id, ())
        if not message.content and not asked:
            continue
        _add_answer(out, message, asked, replays.get(message.id))
        out += [ToolResult(call.wire_id, call.tool, result_text(call, templates, language)) for call in asked]
    return tuple(out)


def folded(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Consecutive user texts as one: after trimming, so that a question that never fitted is not part of the next."""
    out: list[ChatMessage] = []
    for message in messages:
        if isinstance(message, UserText) and out and isinstance(out[-1], UserText):
            out[-1] = UserText(f"{out[-1].text}\n\n{message.text}")
        else:
            out.append(message)
    return tuple(out)


def ends_cut(messages: Sequence[Message]) -> bool:
    """Whether the path ends in an answer that was cut, so that the model must be asked to go on.

    Attempts to go on that were cut in turn, before their first character, are left out of the history: the one before
    them counts.
    """
    said = (message for message in reversed(messages) if message.content or message.state is not MessageState.PARTIAL)
    last = next(said, None)
    return last is not None and last.state is MessageState.PARTIAL


def result_text(call: ToolCall, templates: Templates, language: Language) -> str:
    """What the model is told of a call, in whatever state it is. Output is fenced by a nonce of the call's own."""
    told = _told(call, templates, language)
    if not call.edited:
        return told
    ran = bool(call.result) or call.state in (CallState.DONE, CallState.FAILED, CallState.INTERRUPTED)
    edited = templates.fill(language, "edited" if ran else "edited_not_run", arguments=call.arguments)
    return f"{edited}\n\n{told}"


def _told(call: ToolCall, templates: Templates, language: Language) -> str:
    match call.state:
        case CallState.DONE:
            return _fenced(call, templates, language)
        case CallState.FAILED:
            if call.tool.startswith(_FOREIGN):
                said = replace(call, result=f"{call.error}\n\n{call.result}".strip())
                return f"{templates.get(language, 'failed_foreign')}\n\n{_fenced(said, templates, language)}"
            failed = templates.fill(language, "failed", error=with_hidden_shown(call.error))
            return f"{failed}\n\n{_fenced(call, templates, language)}" if call.result else failed
        case CallState.DENIED:
            if call.reason:
                return templates.fill(language, "denied_because", reason=call.reason)
            return templates.get(language, "denied")
        case CallState.CANCELLED if call.result:
            return f"{templates.get(language, 'stopped')}\n\n{_fenced(call, templates, language)}"
        case CallState.CANCELLED:
            return templates.get(language, "cancelled")
        case CallState.INTERRUPTED | CallState.EXECUTING:
            return templates.get(language, "interrupted")
        case CallState.AWAITING | CallState.APPROVED:
            return templates.get(language, "unanswered")
        case _:
            assert_never(call.state)


def _fenced(call: ToolCall, templates: Templates, language: Language) -> str:
    """The nonce is made from the call's random id: the output cannot have known it, and it is the same every time."""
    nonce = call.id.replace("-", "")[:12]
    output = fences.fenced(call.tool, nonce, with_hidden_shown(call.result))
    return f"{templates.fill(language, 'tool_output', nonce=nonce)}\n{output}"


def _add_answer(
    out: list[ChatMessage], message: Message, asked: tuple[ToolCall, ...], verbatim: Mapping[str, Any] | None
) -> None:
    """What has to go back verbatim stays a turn of its own; its adapter puts it beside the one before."""
    wire = tuple(WireCall(call.wire_id, call.tool, call.arguments) for call in asked)
    before = out[-1] if out else None
    if isinstance(before, AssistantTurn) and not before.calls and before.replay is None and verbatim is None:
        out[-1] = replace(before, text=before.text + message.content, calls=wire)
    else:
        out.append(AssistantTurn(message.content, wire, message.reasoning, verbatim))
