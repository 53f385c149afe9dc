"""What to paste into other tools, so that they start DevFlow's MCP server (spec 06: `--print-config`)."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devflow.domain.rights import DEFAULT, Right


@dataclass(frozen=True, slots=True)
class McpClient:
    """A tool that speaks MCP. `file` is where it keeps its servers.

    `adding` begins a command that adds one; `between` stands there between a server's program and its arguments.
    """

    id: str
    name: str
    file: str
    adding: tuple[str, ...] = ()
    between: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """`text` goes into `file`; `command`, where the tool has one, does the same."""

    file: str
    text: str
    command: str = ""


SERVER = "devflow"

CLIENTS: Mapping[str, McpClient] = {
    client.id: client
    for client in (
        McpClient("claude-code", "Claude Code", ".mcp.json", ("claude", "mcp", "add", "--scope", "user", SERVER, "--")),
        McpClient("codex", "Codex", "~/.codex/config.toml", ("codex", "mcp", "add", SERVER, "--")),
        McpClient("cursor", "Cursor", "~/.cursor/mcp.json"),
        McpClient(
            "gemini",
            "Gemini CLI",
            "~/.gemini/settings.json",
            ("gemini", "mcp", "add", "--scope", "user", SERVER),
            ("--",),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Invitation:
    """What other tools must be told to start this very DevFlow.

    `program` are the words that start it; `home` is its data directory, None for the one it finds by itself.
    """

    program: tuple[str, ...]
    home: str | None = None

    def configuration(self, client: str, right: Right = DEFAULT, *, name: str | None = None) -> ClientConfig:
        """What to paste into one of `CLIENTS`.

        The server is told the client's name (`name`, else the client's id), so that what it proposed stays its own
        whatever it calls itself tomorrow.
        """
        of = CLIENTS[client]
        words = [*self.program, "mcp", "--client", name or of.id]
        words += [] if right is DEFAULT else ["--allow", right.value]
        words += [] if self.home is None else ["--home", self.home]
        text = _toml(words) if of.file.endswith(".toml") else _json(words)
        command = [*of.adding, words[0], *of.between, *words[1:]] if of.adding else []
        return ClientConfig(of.file, text, _line(command))


def own_command() -> tuple[str, ...]:
    """The words that start this very DevFlow from anywhere."""
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    script = Path(sys.executable).with_name("devflow.exe" if sys.platform == "win32" else "devflow")
    return (str(script),) if script.is_file() else (sys.executable, "-m", "devflow")


def _json(words: Sequence[str]) -> str:
    command, args = _values(words)
    return "\n".join(
        (
            "{",
            '  "mcpServers": {',
            f'    "{SERVER}": {{',
            f'      "command": {command},',
            f'      "args": {args}',
            "    }",
            "  }",
            "}",
        )
    )


def _toml(words: Sequence[str]) -> str:
    """JSON's strings and lists of them are TOML's too."""
    command, args = _values(words)
    return f"[mcp_servers.{SERVER}]\ncommand = {command}\nargs = {args}"


def _values(words: Sequence[str]) -> tuple[str, str]:
    return json.dumps(words[0], ensure_ascii=False), json.dumps(list(words[1:]), ensure_ascii=False)


def _line(words: Sequence[str]) -> str:
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
