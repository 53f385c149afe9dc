"""`list_dir`: what stands in a folder of the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools.confined import DirItem
from devflow.tools.file_tool import FileTool
from devflow.tools.paths import Parts, visible
from devflow.tools.policy import Effect
from devflow.tools.refusal import ToolRefused
from devflow.tools.tool import ToolContext, ToolOutcome

ITEMS_MAX = 500


class ListDir(FileTool):
    risk = Risk.READS
    default = Effect.ALLOW
    spec = ToolSpec(
        "list_dir",
        "List the files and folders in a folder of the project. Folders end with a slash.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Folder relative to the project folder.", "default": "."},
                "depth": {
                    "type": "integer",
                    "description": "How many levels down to list.",
                    "minimum": 1,
                    "maximum": 5,
                    "default": 1,
                },
            },
            "additionalProperties": False,
        },
    )

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        lines = await asyncio.to_thread(self._lines, arguments["path"], arguments["depth"])
        return ToolOutcome("\n".join(lines) if lines else "(the folder is empty)")

    def _lines(self, path: str, depth: int) -> list[str]:
        lines: list[str] = []
        left_out = self._walk(self._workspace.parts(path), depth, "", lines)
        if left_out:
            lines.append(f"[{ITEMS_MAX} items are listed, more were left out; list a folder below this one]")
        return lines

    def _walk(self, parts: Parts, depth: int, prefix: str, lines: list[str]) -> bool:
        """Append the folder's lines; returns whether some had no room."""
        for item in self._workspace.scan(parts):
            if len(lines) >= ITEMS_MAX:
                return True
            lines.append(prefix + _line(item))
            if item.kind == "folder" and depth > 1 and not item.protected:
                try:
                    if self._walk((*parts, item.name), depth - 1, f"{prefix}{visible(item.name)}/", lines):
                        return True
                except ToolRefused as refusal:
                    lines.append(f"{prefix}{visible(item.name)}/ [{refusal}]")
        return False


def _line(item: DirItem) -> str:
    name = visible(item.name)
    if item.protected:
        return f"{name}{'/' if item.kind == 'folder' else ''} [protected]"
    match item.kind:
        case "folder":
            return f"{name}/"
        case "file":
            return f"{name} ({item.size:,} bytes)"
        case kind:
            return f"{name} [{kind}, not followed]"
