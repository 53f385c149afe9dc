"""Which tools a small window has room for: without this rule their descriptions alone could fill it (decision 20)."""

from __future__ import annotations

from collections.abc import Sequence

from devflow.domain.request import ToolSpec
from devflow.prompt.estimate import tokens_of_tools

STEP_TOKENS = 300
"""Kept free for a call and the shortest form of its result: a tool whose result has no room is of no use."""


def offered(tools: Sequence[ToolSpec], room: int) -> tuple[ToolSpec, ...]:
    """Those that fit into `room` tokens and leave place for a step; the first ones first, which read."""
    left = room - STEP_TOKENS
    kept: list[ToolSpec] = []
    for tool in tools:
        size = tokens_of_tools((tool,))
        if size <= left:
            kept.append(tool)
            left -= size
    return tuple(kept)
