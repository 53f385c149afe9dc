"""How many tokens a request and its parts are likely to be (spec 03, Context window), before calibration."""

from __future__ import annotations

import json
from collections.abc import Sequence

from devflow.domain.request import AssistantTurn, ChatMessage, ModelRequest, ToolResult, ToolSpec, UserText, WireCall
from devflow.domain.tokens import estimate_tokens

MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beside its text (role, separators), roughly; a call or its answer costs twice that."""


def estimated(request: ModelRequest) -> int:
    """The whole request, before any calibration."""
    return (
        tokens_of_system(request.system)
        + tokens_of_tools(request.tools)
        + sum(tokens_of(message) for message in request.messages)
    )


def tokens_of(message: ChatMessage) -> int:
    """What a message is likely to cost; thinking counts where it may be sent again, that is with calls."""
    match message:
        case UserText(text):
            return estimate_tokens(text) + MESSAGE_OVERHEAD
        case ToolResult(_, _, text):
            return estimate_tokens(text) + 2 * MESSAGE_OVERHEAD
        case AssistantTurn(text, calls):
            asked = sum(tokens_of_call(call) for call in calls)
            thought = estimate_tokens(message.reasoning) if calls else 0
            return estimate_tokens(text) + asked + thought + MESSAGE_OVERHEAD


def tokens_of_call(call: WireCall) -> int:
    return estimate_tokens(call.tool) + estimate_tokens(call.arguments) + 2 * MESSAGE_OVERHEAD


def tokens_of_system(system: str) -> int:
    return estimate_tokens(system) + MESSAGE_OVERHEAD if system else 0


def tokens_of_tools(tools: Sequence[ToolSpec]) -> int:
    return sum(
        estimate_tokens(f"{tool.name}\n{tool.description}\n{json.dumps(dict(tool.parameters), ensure_ascii=False)}")
        + 2 * MESSAGE_OVERHEAD
        for tool in tools
    )
