"""Other tools, as the SDK's own client over a real `devflow mcp` process, or over the same handlers in this process."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation, TextContent

from devflow.domain.rights import Right
from devflow.mcp_server.room import Opening
from devflow.mcp_server.serve import make_server
from tests.support.commands import ROOT, environment


class Tool:
    """Another tool, connected."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A call that goes well: what it gives."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, text_of(result)
        given = result.structured_content
        assert json.loads(text_of(result)) == given
        assert isinstance(given, dict)
        return given

    async def refused(self, name: str, **arguments: Any) -> tuple[str, str]:
        """A call that does not: its code and what the model reads."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error, text_of(result)
        assert result.structured_content is None, "clients hold it against the output schema"
        assert result.meta is not None
        return result.meta["devflow/error"]["code"], text_of(result)

    async def proposes(self, title: str = "Take the lock first", **fields: Any) -> dict[str, Any]:
        values = {"kind": "pitfall", "title": title, "content": f"{title}, and say why.", **fields}
        return await self("knowledge_create", **values)


@contextlib.asynccontextmanager
async def connected(
    home: Path,
    *words: str,
    name: str = "tester",
    mode: str = "legacy",
    errors: Path | None = None,
    hears: Callable[[Any], Awaitable[None]] | None = None,
) -> AsyncIterator[Tool]:
    """The SDK's client over a process of its own: `devflow mcp WORDS`. `hears`: what the server says unasked."""
    command = [sys.executable, "-m", "devflow", "--home", str(home), "mcp", *words]
    server = StdioServerParameters(command=command[0], args=command[1:], env=environment(), cwd=ROOT)
    with open(errors or "/dev/null", "w", encoding="utf-8") as said:  # noqa: ASYNC230, PTH123
        async with Client(
            stdio_client(server, said),
            mode=mode,
            client_info=Implementation(name=name, version="1"),
            message_handler=hears,
        ) as client:
            yield Tool(client)


@contextlib.asynccontextmanager
async def inside(opening: Opening, right: Right, name: str = "tester") -> AsyncIterator[Tool]:
    """The SDK's client over the very handlers of `devflow mcp`, without a process between."""
    info = Implementation(name=name, version="1")
    async with Client(make_server(opening, None, right), mode="legacy", client_info=info) as client:
        yield Tool(client)


class Wire:
    """A `devflow mcp` process and its bare lines, for what no decent client sends."""

    def __init__(self, command: Sequence[str], **env: str) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # a pipe that nobody reads would hold the server up
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment(env), stdin=pipe, stdout=pipe, stderr=self._said
        )

    def greets(self, name: str = "wire") -> dict[str, Any]:
        info = {"name": name, "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        self.sends({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        answer = self.reads()
        self.sends({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def calls(self, id: int, name: str, **arguments: Any) -> None:
        params = {"name": name, "arguments": arguments}
        self.sends({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    def sends(self, message: dict[str, Any]) -> None:
        self.writes(json.dumps(message).encode() + b"\n")

    def writes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def reads(self) -> dict[str, Any]:
        """The next line, which is a message and nothing else."""
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message  # type: ignore[no-any-return]

    def ends(self, within: float = 30) -> tuple[int, list[dict[str, Any]], str]:
        """Close its input and wait: exit code, the messages that still came, standard error."""
        out, _ = self.process.communicate(timeout=within)
        self._said.seek(0)
        said = self._said.read().decode()
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], said

    def dies(self) -> None:
        """Whatever became of it, it is over."""
        self.process.kill()
        self.process.communicate()
        self._said.close()


@contextlib.contextmanager
def wired(home: Path, words: Sequence[str] = ("mcp",)) -> Iterator[Wire]:
    wire = Wire([sys.executable, "-m", "devflow", "--home", str(home), *words])
    try:
        yield wire
    finally:
        wire.dies()


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text
