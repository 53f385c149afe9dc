"""One call of a tool: arguments checked, carried out, and every failure a sentence that the model can act on."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from devflow.domain.errors import UserFacing
from devflow.domain.messages import english
from devflow.domain.rights import Visitor
from devflow.mcp_server.room import Room
from devflow.mcp_server.tools import BY_NAME, TOOLS, McpTool

log = logging.getLogger(__name__)

SAID_MAX = 2_000
"""Characters of a sentence of an error: what was sent may stand in it, and may be long."""

ERROR = "devflow/error"
"""The key of a failure's error object in the `_meta` of its result."""

OpenRoom = Callable[[Visitor], Awaitable[Room]]


def listed() -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])


async def call(open_room: OpenRoom, visitor: Visitor, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Raises MCPError for a tool that there is not; everything else is a result, with `is_error` where it failed."""
    tool = BY_NAME.get(name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no tool {name[:100]!r}.")
    try:
        visitor.require(tool.right)
        checked = _checked(tool, arguments)
        given = await tool.run(await open_room(visitor), checked)
    except UserFacing as problem:
        log.info("%s: %s refused: %s", visitor.client, name, problem.code)
        return _failed(problem.code, *sentences(problem))
    except Exception:
        log.exception("%s: %s failed", visitor.client, name)
        return _failed("internal", "This failed inside DevFlow.", "Its log has the details; the user can look there.")
    log.info("%s: %s", visitor.client, name)
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=given)


def sentences(problem: UserFacing) -> tuple[str, str]:
    """What happened and what to do, in English."""
    t = english()
    return problem.render(t)[:SAID_MAX], problem.render_hint(t)[:SAID_MAX]


def _checked(tool: McpTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    from devflow.tools.arguments import check_arguments

    return check_arguments(tool.takes, arguments, tool.name)


def _failed(code: str, message: str, hint: str) -> types.CallToolResult:
    """The sentences for the model, and the command line's error object, for programs, in the result's `_meta`.

    Not as structured content: clients of the TypeScript SDK hold that against the output schema in failures too.
    """
    text = " ".join(filter(None, (message, hint)))
    meta: Any = {ERROR: {"code": code, "message": message, "hint": hint}}
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True, _meta=meta)


def _described(tool: McpTool) -> types.Tool:
    changes = tool.run.__module__.endswith(".acts")
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.takes,
        output_schema=tool.gives,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not changes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeatable or not changes,
            open_world_hint=tool.reaches_out,
        ),
    )
