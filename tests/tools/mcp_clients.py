"""`python -m tests.tools.mcp_clients`: real programs at `devflow mcp`, by what `--print-config` prints; their output.

npm installs the MCP Inspector, Claude Code, Gemini CLI and Codex into a temporary folder, which is their home too. It
needs npm and a registry, which is why no test does this. Nobody signs in: what is asked is whether they connect.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from devflow.tools.mcp_clients import own_command

PACKAGES = ("@modelcontextprotocol/inspector", "@anthropic-ai/claude-code", "@google/gemini-cli", "@openai/codex")
DEVFLOW = own_command()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _walk(Path(folder))


def _walk(scratch: Path) -> None:
    project, home = scratch / "project", scratch / "devflow"
    for made in (project, scratch / ".gemini", scratch / ".codex", scratch / ".claude"):
        made.mkdir()
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES], cwd=scratch, check=True)
    _inspect(scratch, home)
    _printed(home, "claude-code", project / ".mcp.json")
    # What a person answers when Claude Code asks whether the servers of a project's file may be started.
    (scratch / ".claude" / "settings.json").write_text('{"enableAllProjectMcpServers": true}', encoding="utf-8")
    _shown(scratch, project, "claude", "mcp", "list")
    _printed(home, "gemini", scratch / ".gemini" / "settings.json")
    _shown(scratch, project, "gemini", "mcp", "list")
    _printed(home, "codex", scratch / ".codex" / "config.toml")
    _shown(scratch, project, "codex", "mcp", "list")


def _inspect(scratch: Path, home: Path) -> None:
    server = [*DEVFLOW, "--home", str(home), "mcp"]
    inspector = ["mcp-inspector", "--cli", *server, "--method"]
    tools = json.loads(_run(scratch, scratch, *inspector, "tools/list").stdout)["tools"]
    print(f"Inspector: {len(tools)} tools: {', '.join(tool['name'] for tool in tools)}")
    values = ("kind=pitfall", "title=Take the lock first", "content=Use BEGIN IMMEDIATE.")
    call = [*inspector, "tools/call", "--tool-name"]
    arguments = [word for value in values for word in ("--tool-arg", value)]
    made = json.loads(_run(scratch, scratch, *call, "knowledge_create", *arguments).stdout)["structuredContent"]
    print(f"Inspector: knowledge_create: {made['status']}, {made['source_ref']}: {made['note']}")
    publish = ("--tool-arg", f"id={made['id']}", "--tool-arg", "status=published")
    refused = json.loads(_run(scratch, scratch, *call, "knowledge_update_status", *publish).stdout)
    print(
        f"Inspector: knowledge_update_status published: isError {refused['isError']}: {refused['content'][0]['text']}"
    )


def _printed(home: Path, client: str, file: Path) -> None:
    command = [*DEVFLOW, "--home", str(home), "mcp", "--print-config", client]
    file.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)


def _shown(scratch: Path, folder: Path, *words: str) -> None:
    version = _run(scratch, folder, words[0], "--version").stdout.split("\n")[0]
    print(f"\n$ {' '.join(words)}    # {version}")
    done = _run(scratch, folder, *words)
    shown = (done.stdout.strip() or done.stderr).replace(str(scratch), "~").replace(DEVFLOW[0], "devflow")
    print("\n".join(line.rstrip() for line in shown.splitlines() if line.strip()))


def _run(scratch: Path, folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOME": str(scratch), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    command = [str(scratch / "node_modules" / ".bin" / program), *words]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=180)
    if done.returncode:
        sys.exit(f"{program} failed: {done.stderr or done.stdout}")
    return done


if __name__ == "__main__":
    main()
