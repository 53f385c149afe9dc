"""`python -m tests.tools.mcp_reference`: the reference filesystem server from npm, through DevFlow, with real output.

npm installs it into a temporary folder, its entry is imported as Claude Desktop writes it, a scripted model calls its
tools over approvals, it is killed in between, and its and our own CPU time is measured while nobody uses it. It needs
npm and a registry, which is why no test does this.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from devflow.agent.turns import Decision
from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState, ToolCall
from devflow.tools import mcp_import
from devflow.tools.mcp_config import McpServer
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.support.mcp import until

PACKAGE = "@modelcontextprotocol/server-filesystem"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mcp_reference", description=__doc__)
    parser.add_argument("--idle", type=float, default=5.0, metavar="SECONDS", help="how long to measure CPU at rest")
    seconds = parser.parse_args().idle
    os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    with tempfile.TemporaryDirectory() as scratch, OpenAIServer() as model:
        asyncio.run(_walk(Path(scratch), model, seconds))


async def _walk(scratch: Path, model: OpenAIServer, seconds: float) -> None:
    file, notes = await asyncio.to_thread(_install, scratch)
    async with opened(app_paths(scratch / "home"), background=True) as core:
        print(f"before any server: DevFlow uses {await _used(os.getpid(), seconds):.0f} ms of CPU in {seconds:g} s")
        await core.models.add(ProviderDraft("Scripted", model.base_url, models=("scripted",)))
        found = mcp_import.preview(file.read_bytes(), ()).servers
        (server,) = await core.mcp.servers.take(mcp_import.additions(found, (), replacing=False))
        began = time.monotonic()
        state = await core.mcp.test(server)
        print(f"started in {time.monotonic() - began:.1f} s: {state.server}, protocol {state.version}, pid {state.pid}")
        print(f"{len(state.tools)} tools: {', '.join(state.tools)}")
        conversation = await core.conversations.create()
        model.script(
            Turn(calls=[Call("mcp__filesystem__read_text_file", {"path": str(notes / "a.txt")})]),
            Turn(calls=[Call("mcp__filesystem__write_file", {"path": str(notes / "b.txt"), "content": "written"})]),
            Turn(calls=[Call("mcp__filesystem__read_text_file", {"path": "/etc/passwd"})]),
            "That was all.",
        )
        run = await core.turns.send(conversation.id, "Read a.txt and write b.txt.")
        run = await core.turns.wait(run.id)
        while run.state is RunState.AWAITING_APPROVAL:
            call = (await _calls(core, conversation.id))[-1]
            print(f"asks: {call.tool} {call.arguments.replace(str(notes), 'NOTES')}")
            await core.turns.decide(call.id, Decision(True))
            run = await core.turns.wait(run.id)
            call = (await _calls(core, conversation.id))[-1 if run.state is RunState.COMPLETED else -2]
            print(f"  {call.state.value}: {(call.error or call.result).replace(str(notes), 'NOTES')[:160]}")
        print(f"run {run.state.value}; b.txt holds {(notes / 'b.txt').read_text(encoding='utf-8')!r}")
        await _crash(core, server)
        await _rest(core, server, seconds)
        pid = core.mcp.state(server).pid
        began = time.monotonic()
    print(f"closed in {time.monotonic() - began:.2f} s; process {pid} is {'there' if _is_there(pid) else 'gone'}")


def _install(scratch: Path) -> tuple[Path, Path]:
    folder, notes = scratch / "npm", scratch / "notes"
    folder.mkdir()
    notes.mkdir()
    (notes / "a.txt").write_text("the text of a\n", encoding="utf-8")
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", PACKAGE], cwd=folder, check=True)
    program = folder / "node_modules" / ".bin" / "mcp-server-filesystem"
    manifest = folder / "node_modules" / PACKAGE / "package.json"
    print(f"{PACKAGE} {json.loads(manifest.read_text(encoding='utf-8'))['version']} installed with npm")
    file = scratch / "claude_desktop_config.json"
    rows = {"filesystem": {"command": str(program), "args": [str(notes)]}}
    file.write_text(json.dumps({"mcpServers": rows}), encoding="utf-8")
    return file, notes


async def _crash(core: Core, server: McpServer) -> None:
    """Kill it as nobody should, then use it again."""
    pid = core.mcp.state(server).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await until(lambda: core.mcp.state(server).pid != pid)
    print(f"killed: {core.mcp.state(server).problem}")
    tools = await core.mcp.tools(None)
    print(f"next use: {len(tools)} tools again, pid {core.mcp.state(server).pid}")


async def _rest(core: Core, server: McpServer, seconds: float) -> None:
    pid = core.mcp.state(server).pid
    assert pid is not None
    its, ours = await asyncio.gather(_used(pid, seconds), _used(os.getpid(), seconds))
    print(f"at rest for {seconds:g} s: the server used {its:.0f} ms of CPU, DevFlow {ours:.0f} ms")


async def _used(pid: int, seconds: float) -> float:
    """Milliseconds of CPU that a process uses in the time to come."""
    await asyncio.sleep(3)  # what a start still does
    before = _ticks(pid)
    await asyncio.sleep(seconds)
    return (_ticks(pid) - before) * 1000 / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    """User and system time of the process so far, in clock ticks (/proc/PID/stat, fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


def _is_there(pid: int | None) -> bool:
    return pid is not None and Path(f"/proc/{pid}").exists()


async def _calls(core: Core, conversation_id: str) -> list[ToolCall]:
    messages = (await core.conversations.path(conversation_id)).messages
    found = await core.conversations.calls([message.id for message in messages])
    return [call for message in messages for call in found.get(message.id, ())]


if __name__ == "__main__":
    sys.exit(main())
