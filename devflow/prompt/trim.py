"""Making a request fit the model's window: the oldest turns go first; the last user message never does."""

from __future__ import annotations

from dataclasses import replace

from devflow.domain.request import AssistantTurn, ChatMessage, ToolResult, UserText
from devflow.domain.tokens import estimate_tokens

MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beside its text (role, separators), roughly."""


def trim(messages: tuple[ChatMessage, ...], room: int, left_out: str) -> tuple[tuple[ChatMessage, ...], int]:
    """The messages that fit into `room` tokens, and how many were left out.

    Whole turns are dropped, oldest first, each with its tool calls and their answers. If the last turn alone is too
    long, its tool outputs are replaced by `left_out`, oldest first, all but the newest answer's.
    """
    turns = _turns(messages)
    total = sum(tokens_of(message) for message in messages)
    dropped = 0
    while total > room and len(turns) > 1:
        gone = turns.pop(0)
        dropped += len(gone)
        total -= sum(tokens_of(message) for message in gone)
    kept = [message for turn in turns for message in turn]
    newest = max((i for i, message in enumerate(kept) if isinstance(message, AssistantTurn)), default=0)
    for i, message in enumerate(kept):
        if total <= room:
            break
        if isinstance(message, ToolResult) and i < newest and len(message.text) > len(left_out):
            shorter = replace(message, text=left_out)
            total += tokens_of(shorter) - tokens_of(message)
            kept[i] = shorter
            dropped += 1
    return tuple(kept), dropped


def tokens_of(message: ChatMessage) -> int:
    match message:
        case UserText(text) | ToolResult(_, _, text):
            return estimate_tokens(text) + MESSAGE_OVERHEAD
        case AssistantTurn(text, calls):
            asked = sum(estimate_tokens(call.tool) + estimate_tokens(call.arguments) for call in calls)
            return estimate_tokens(text) + asked + MESSAGE_OVERHEAD


def _turns(messages: tuple[ChatMessage, ...]) -> list[list[ChatMessage]]:
    """Each user text with everything up to the next one."""
    turns: list[list[ChatMessage]] = []
    for message in messages:
        if isinstance(message, UserText) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns
