"""Everything a model can do to a path with the file tools, as the agent does it, and what it would be told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from devflow.domain.errors import UserFacing
from devflow.tools.edit_file import EditFile
from devflow.tools.list_dir import ListDir
from devflow.tools.read_file import ReadFile
from devflow.tools.registry import parse_arguments
from devflow.tools.search_files import SearchFiles
from devflow.tools.tool import Tool, ToolOutcome, Voided
from devflow.tools.workspace import Workspace
from devflow.tools.write_file import WriteFile

SECRET = "nobody may read or change this"
REFUSED = "refused: "
VOIDED = "asked again: "

Act = Callable[[Workspace, str], Awaitable[str]]


async def read(workspace: Workspace, path: str) -> str:
    return await told(ReadFile(workspace), {"path": path})


async def write(workspace: Workspace, path: str) -> str:
    return await told(WriteFile(workspace), {"path": path, "content": "pwned\n"})


async def edit(workspace: Workspace, path: str) -> str:
    return await told(EditFile(workspace), {"path": path, "old_text": "o", "new_text": "0", "replace_all": True})


async def list_(workspace: Workspace, path: str) -> str:
    return await told(ListDir(workspace), {"path": path, "depth": 5})


async def search(workspace: Workspace, path: str) -> str:
    return await told(SearchFiles(workspace), {"pattern": "o", "path": path})


ACTS: Mapping[str, Act] = {"read": read, "write": write, "edit": edit, "list": list_, "search": search}


async def told(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Preview, then run with it, as after an approval, and once without one, as by a rule; all that was said."""
    said = []
    preview: Mapping[str, Any] | None = None
    try:
        checked = parse_arguments(tool, json.dumps(arguments))
        tool.subject(checked)
        if tool.spec.name in ("write_file", "edit_file"):
            preview = await asyncio.wait_for(tool.preview(checked, NO_CONTEXT), 10)
            said.append(json.dumps(preview))
    except UserFacing as refusal:
        said.append(f"{REFUSED}{refusal}")
    for approved in (preview, None):
        try:
            checked = parse_arguments(tool, json.dumps(arguments))
            outcome = await asyncio.wait_for(tool.run(checked, NO_CONTEXT, approved), 30)
        except UserFacing as refusal:
            said.append(f"{REFUSED}{refusal}")
            continue
        match outcome:
            case ToolOutcome(text, error):
                said.append(f"{text}{error}")
            case Voided(shown, why):
                said.append(f"{VOIDED}{json.dumps(dict(shown))} {why}")
    return "\n".join(said)


NO_CONTEXT: Any = None
"""The file tools use none."""


def was_refused(said: str) -> bool:
    """Each attempt was, and nothing but refusals was said."""
    return all(line.startswith(REFUSED) for line in said.split("\n"))


def inside(root: Path) -> dict[str, bytes]:
    """Every regular file of the project with its content."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
