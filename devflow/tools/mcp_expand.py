"""`${env:NAME}` and its kin in a server's settings, and the environment that its program gets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_
from devflow.tools.command_environ import AGENT_CHILD, command_environ
from devflow.tools.mcp_config import Http, McpServer, Stdio

SECRET_MIN = 6  # characters; anything shorter is a switch or a number

_REFERENCE = re.compile(r"\$\{([A-Za-z_/][^{}$\s]*)\}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class NotExpanded(UserFacing):
    """A reference in a server's settings stands for nothing."""

    code = "mcp_reference"


@dataclass(frozen=True, slots=True)
class Launch:
    """A program with everything filled in. `env` is its whole environment; `secrets` never reach the log."""

    command: str
    args: tuple[str, ...]
    cwd: str | None
    env: Mapping[str, str]
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    headers: Mapping[str, str]


def filled_in(server: McpServer, values: Mapping[str, str], environ: Mapping[str, str]) -> Launch | Endpoint:
    """The server with its references replaced; raises `NotExpanded` naming one that stands for nothing."""

    def fill(text: str) -> str:
        return expand(text, environ)

    match server.transport:
        case Stdio(command, args, cwd):
            own = {name: fill(value) for name, value in values.items()}
            folder = os.path.expanduser(fill(cwd)) if cwd else None  # noqa: PTH111 - it stays a text
            program = os.path.expanduser(fill(command))  # noqa: PTH111
            secrets = tuple(value for value in own.values() if len(value) >= SECRET_MIN)
            words = tuple(os.path.expanduser(word) if word.startswith("~/") else word for word in map(fill, args))  # noqa: PTH111
            return Launch(program, words, folder, environment(own, environ), secrets)
        case Http(url):
            return Endpoint(fill(url), {name: fill(value) for name, value in values.items()})


def environment(own: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """A command's environment, and what the user gave this server. Keys of model servers that stand in DevFlow's own
    environment are not for it."""
    return {**command_environ(environ), **own, AGENT_CHILD: "1"}


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`${env:NAME}` and `${NAME}` (also `${NAME:-default}`), `${userHome}`, `${pathSeparator}` or `${/}`."""
    return _REFERENCE.sub(lambda match: _value(match[1], environ), text)


def _value(reference: str, environ: Mapping[str, str]) -> str:
    if reference in ("userHome", "HOME"):
        return str(Path.home())
    if reference in ("pathSeparator", "/"):
        return os.sep
    name, _, default = reference.removeprefix("env:").partition(":-")
    if not _PLAIN.match(name) or reference.startswith(("input:", "workspaceFolder", "workspaceRoot")):
        raise NotExpanded(
            N_("{reference} in its settings has no meaning here."),
            N_("Write the value itself there, in Settings, under Tools."),
            reference=f"${{{reference}}}",
        )
    value = environ.get(name, default)
    if not value and ":-" not in reference:
        raise NotExpanded(
            N_("The environment variable {name} is not set, and its settings ask for it."),
            N_("Set it before DevFlow starts, or write the value itself in Settings, under Tools."),
            name=name,
        )
    return value
