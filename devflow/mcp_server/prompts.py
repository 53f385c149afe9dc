"""Published prompt templates as MCP prompts; `{{name}}` in a template is an argument."""

from __future__ import annotations

import re
from collections.abc import Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from devflow.domain import placeholders
from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Entry, Kind
from devflow.mcp_server.calls import sentences
from devflow.mcp_server.room import Room

OFFERED_MAX = 500
NAME_MAX = 60


async def listed(room: Room) -> types.ListPromptsResult:
    named = await _templates(room)
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                title=entry.title,
                description=entry.title,
                arguments=[
                    types.PromptArgument(name=variable, required=True) for variable in placeholders.names(entry.content)
                ],
            )
            for name, entry in named.items()
        ]
    )


async def filled(room: Room, name: str, values: Mapping[str, str]) -> types.GetPromptResult:
    """Raises MCPError for an unknown prompt, and where the values are not those of its variables."""
    entry = (await _templates(room)).get(name)
    if entry is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:100]!r}.")
    try:
        text = placeholders.filled(entry.content, values)
    except UserFacing as problem:
        raise MCPError(types.INVALID_PARAMS, " ".join(sentences(problem))) from problem
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=entry.title, messages=[message])


async def _templates(room: Room) -> dict[str, Entry]:
    """By name; of several that would have the same, the oldest has it."""
    page = await room.library.list(room.visitor, kind=Kind.PROMPT_TEMPLATE, limit=OFFERED_MAX, sort="created")
    named: dict[str, Entry] = {}
    for entry in reversed(page.entries):
        name = _slug(entry.title)
        named[f"{name}-{entry.id[:8]}" if not name or name in named else name] = entry
    return named


def _slug(title: str) -> str:
    """A title as a word that can be typed: `Review a migration` → `review-a-migration`."""
    return "-".join(re.findall(r"\w+", title.casefold()))[:NAME_MAX].strip("-")
