"""A tool of a configured MCP server, with the same approval as every other tool.

A server is somebody else's program: what it says of itself (`readOnlyHint`, its descriptions, its answers) is shown and
never trusted. Each of its tools asks, unless the user has made a rule for exactly this tool of exactly this server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

from devflow.domain.foreign_json import loads
from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools import mcp_offered
from devflow.tools.mcp_config import McpServer
from devflow.tools.mcp_offered import Offered
from devflow.tools.mcp_results import outcome_of
from devflow.tools.policy import Effect, Subject
from devflow.tools.refusal import ToolRefused
from devflow.tools.tool import ToolContext, ToolOutcome, Voided

ARGUMENTS_MAX = 1_000_000  # characters of JSON
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_DECIDED_ON = ("mcp_server", "mcp_tool", "mcp_line", "definition")
"""Of what a card shows: who would do it, and what it says that it does. Hints are no more than that."""


class Caller(Protocol):
    """What a tool needs of its running server (`mcp_source.McpSource`)."""

    async def call(self, server: McpServer, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer as plain JSON; raises `UserFacing` with a sentence for the model."""
        ...


class McpTool:
    risk = Risk.REACHES_OUT
    default = Effect.ASK

    def __init__(self, name: str, server: McpServer, offered: Offered, caller: Caller) -> None:
        self.spec = ToolSpec(
            name, mcp_offered.description(server.name, offered), mcp_offered.parameters(offered.schema)
        )
        self._server = server
        self._offered = offered
        self._caller = caller

    def parse(self, text: str) -> dict[str, Any]:
        """The arguments as the model sent them: the server knows its schema better than we do, and says what is wrong.

        Raises `ToolRefused` for what no server could take.
        """
        name = self.spec.name
        if len(text) > ARGUMENTS_MAX:
            raise ToolRefused(f"The arguments of {name} have {len(text):,} characters; at most {ARGUMENTS_MAX:,} fit.")
        try:
            value = loads(text)
        except ValueError as error:
            raise ToolRefused(f"The arguments of {name} are not valid JSON: {error}. Send one JSON object.") from None
        if not isinstance(value, dict):
            raise ToolRefused(f"The arguments of {name} are not a JSON object. Send one JSON object.")
        if _HALF_PAIR.search(json.dumps(value, ensure_ascii=False)):  # it has no bytes: the connection would break
            raise ToolRefused(f"The arguments of {name} hold half of a surrogate pair, which is no character.")
        required = self._offered.schema.get("required")
        names = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
        missing = [name for name in names if name not in value]
        if missing:
            raise ToolRefused(f"The arguments of {name} do not fit: {', '.join(map(repr, missing))} missing.")
        return value

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        """The tool and what runs it, in full, whatever its arguments: a rule ends when the command line changes."""
        return Subject(self.spec.name, self.risk, f"{self._offered.name} · {self._server.line}")

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        return {
            "mcp_server": self._server.name,
            "mcp_tool": self._offered.name,
            "mcp_line": self._server.line,
            "read_only_hint": self._offered.read_only,
            "destructive_hint": self._offered.destructive,
            "definition": self._offered.definition,
        }

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome | Voided:
        """Call it; `Voided` where something else than what was shown would run, or says that it does something else."""
        now = await self.preview(arguments, ctx)
        if preview is not None and any(preview.get(name) != now[name] for name in _DECIDED_ON):
            return Voided(now, "The server changed the tool after it was shown.")
        answer = await self._caller.call(self._server, self._offered.name, arguments)
        return outcome_of(answer, self._server.name)
