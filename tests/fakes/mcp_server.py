"""A small real MCP server, made with the SDK: `python mcp_server.py` over its streams, `--http PORT` behind an address.

`sdk_server()` is the same one for a test's own process.
"""

import base64
import json
import os
import subprocess
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def sdk_server() -> MCPServer:
    server = MCPServer("small", version="1.0")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool()
    def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": a + b}

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ToolError("the flux is not capacitated")

    @server.tool(structured_output=False)
    def picture() -> list[Any]:
        """A picture, and what it shows."""
        return ["one pixel", Image(data=PIXEL, format="png")]

    @server.tool()
    def environment() -> dict[str, str]:
        """What the server sees of the environment."""
        return dict(os.environ)

    @server.tool()
    async def learn(newcomer: str, ctx: Context) -> str:
        """Offer one more tool from now on."""
        server.add_tool(lambda: f"I am {newcomer}", name=newcomer, description="Learnt meanwhile.")
        await ctx.request_context.session.send_tool_list_changed()
        await ctx.notify_tools_changed()
        return f"{newcomer} is here"

    return server


def without_handshake() -> None:
    """The same server, but only for clients of the newest protocol: `initialize` is no method it knows."""
    inner = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE)
    assert inner.stdin is not None
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "initialize":
            error = {"code": -32601, "message": "no such method"}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        else:
            inner.stdin.write(line)
            inner.stdin.flush()
    inner.stdin.close()
    inner.wait()


if __name__ == "__main__":
    if "--modern" in sys.argv:
        without_handshake()
    elif "--http" in sys.argv:
        port = int(sys.argv[sys.argv.index("--http") + 1])
        sdk_server().run("streamable-http", port=port)
    else:
        sdk_server().run()
