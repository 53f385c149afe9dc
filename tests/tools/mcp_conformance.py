"""`python -m tests.tools.mcp_conformance`: the official conformance suite at DevFlow's MCP handlers, line by line.

The suite speaks HTTP, `devflow mcp` standard input and output: here the very handlers stand behind the SDK's HTTP
front, with a published entry and a published prompt template. npm installs the suite, and the Node.js that it needs,
into a temporary folder; that needs a registry, which is why no test does this. Most of its scenarios call tools,
resources and prompts that a server makes for the suite alone: `NOT_OURS` says which; the exit code is 1 if one of the
others fails.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import uvicorn

from devflow.app.paths import app_paths
from devflow.domain.rights import Right
from devflow.mcp_server.room import Opening
from devflow.mcp_server.serve import make_server
from tests.support.commands import devflow

PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "node@22")
FIXTURE = "asks for {} that a server makes for the suite"
NOT_OFFERED = "asks for {}, which DevFlow does not offer"

NOT_OURS = {
    "logging-set-level": NOT_OFFERED.format("log messages over the protocol"),
    "completion-complete": NOT_OFFERED.format("completion of arguments"),
    **{
        f"tools-call-{name}": FIXTURE.format("tools")
        for name in "simple-text image audio embedded-resource mixed-content with-logging error with-progress".split()
    },
    "tools-call-sampling": NOT_OFFERED.format("sampling"),
    "tools-call-elicitation": NOT_OFFERED.format("elicitation"),
    "json-schema-2020-12": FIXTURE.format("a tool"),
    "elicitation-sep1034-defaults": NOT_OFFERED.format("elicitation"),
    "elicitation-sep1330-enums": NOT_OFFERED.format("elicitation"),
    **{f"resources-{name}": FIXTURE.format("resources") for name in "read-text read-binary templates-read".split()},
    "resources-subscribe": FIXTURE.format("a resource"),
    "resources-unsubscribe": FIXTURE.format("a resource"),
    **{
        f"prompts-get-{name}": FIXTURE.format("prompts")
        for name in "simple with-args embedded-resource with-image".split()
    },
}


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        scratch, home = Path(folder), Path(folder) / "home"
        install = ["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES]
        await asyncio.to_thread(subprocess.run, install, cwd=scratch, check=True)
        _fill(home)
        opening = Opening(app_paths(home))
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            app = make_server(opening, None, Right.PROPOSE).streamable_http_app()
            front = uvicorn.Server(uvicorn.Config(app, log_level="error"))
            serving = asyncio.create_task(front.serve([listening]))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            try:
                return await asyncio.to_thread(_ask, scratch, url)
            finally:
                front.should_exit = True
                await serving
                await opening.close()


def _fill(home: Path) -> None:
    for kind, title in (("pitfall", "Take the lock first"), ("prompt_template", "Review {{file}}")):
        id = devflow(home, "knowledge", "add", "--kind", kind, "--title", title, "--content", title).out.strip()
        assert devflow(home, "knowledge", "approve", id).code == 0


def _ask(scratch: Path, url: str) -> int:
    suite = [
        str(scratch / "node_modules/.bin/node"),
        str(scratch / "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    ]
    listed = subprocess.run([*suite, "list"], cwd=scratch, capture_output=True, text=True, check=True).stdout
    servers = listed.partition("Client scenarios")[0]
    names = [line.split()[1] for line in servers.splitlines() if line.startswith("  - ")]
    wrong = False
    for name in names:
        command = [*suite, "server", "--url", url, "--scenario", name]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=120, check=False)
        passed = done.returncode == 0
        wrong = wrong or not (passed or name in NOT_OURS)
        why = "" if passed else f"  {NOT_OURS.get(name, done.stdout[-600:])}"
        print(
            f"{'passes' if passed else 'does not apply' if name in NOT_OURS else 'FAILS':<15} {name}{why}", flush=True
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
