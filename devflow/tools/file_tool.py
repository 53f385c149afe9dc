"""What the tools on files share: their workspace, and a path in it, which rules and cards name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools.policy import Subject
from devflow.tools.tool import ToolContext
from devflow.tools.workspace import Workspace


class FileTool:
    """The beginning of a `Tool` whose arguments have a `path`."""

    spec: ToolSpec
    risk: Risk

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        return Subject(self.spec.name, self.risk, self._workspace.relative(arguments["path"]), is_path=True)

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        return {"path": self._workspace.relative(arguments["path"])}
