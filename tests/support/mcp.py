"""MCP servers of the tests, as drafts for the settings, and what tests ask about their processes."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from devflow.tools.mcp_config import McpDraft, Stdio

FAKES = Path(__file__).parents[1] / "fakes"


def odd(*how: str, name: str = "odd", **fields: Any) -> McpDraft:
    """The quick one without the SDK (`tests/fakes/mcp_odd_server.py`)."""
    return McpDraft(name, Stdio(sys.executable, (str(FAKES / "mcp_odd_server.py"), *how)), **fields)


def small(*how: str, name: str = "small", **fields: Any) -> McpDraft:
    """The real one made with the SDK (`tests/fakes/mcp_server.py`)."""
    return McpDraft(name, Stdio(sys.executable, (str(FAKES / "mcp_server.py"), *how)), **fields)


def lives(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z"
    if Path("/proc/self").exists():
        return False
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


async def until(condition: Callable[[], object], *, within: float = 10.0) -> None:
    """Return as soon as it holds; AssertionError when it does not within that many seconds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    while not condition():
        assert loop.time() < end, f"this did not come true within {within} s"
        await asyncio.sleep(0.005)
