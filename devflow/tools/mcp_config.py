"""MCP servers as the user set them up: what is stored of each, and what can be none.

A row holds only names of environment variables and headers. Their values are kept where keys of model servers are
(`mcp_servers`), all of them: nobody has to guess which of them is a secret.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, assert_never
from urllib.parse import urlsplit

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable

NAME_MAX = 40  # characters: the names of its tools begin with it, and have room for 64
ARGUMENTS_MAX = 64
TEXT_MAX = 4_000  # characters of one argument, value or address
VALUES_MAX = 64
START_S, CALL_S = 60.0, 120.0  # at its first start npx downloads the server
"""How long a server may take to be ready, and to answer one call, unless the user says otherwise; in seconds."""
WAIT_MAX_S = 3_600.0

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.()-]*\Z")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_OWN_HEADERS = frozenset({"accept", "content-type", "content-length", "host", "transfer-encoding", "connection"})


@dataclass(frozen=True, slots=True)
class Stdio:
    """A program of this machine that talks over its standard streams. `env` names variables of its own."""

    command: str
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Http:
    """A server behind an address (streamable HTTP). `headers` names those sent with every request."""

    url: str
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class McpServer:
    """`revision` grows with every change, so that a running server is started anew. `unknown` fields came from an
    imported file; they are kept and mean nothing here. Times are in seconds."""

    id: str
    name: str
    transport: Stdio | Http
    enabled: bool = True
    start_timeout: float = START_S
    call_timeout: float = CALL_S
    revision: int = 1
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value_names(self) -> tuple[str, ...]:
        match self.transport:
            case Stdio():
                return self.transport.env
            case Http():
                return self.transport.headers
            case _:
                assert_never(self.transport)

    @property
    def line(self) -> str:
        """What is started or asked, in full: the command line, or the address."""
        match self.transport:
            case Stdio(command, args):
                return shlex.join([command, *args])
            case Http(url):
                return url
            case _:
                assert_never(self.transport)


@dataclass(frozen=True, slots=True)
class McpDraft:
    """A server before it is stored. `values` are those of its environment variables, or of its headers."""

    name: str
    transport: Stdio | Http
    values: Mapping[str, str] = field(default_factory=dict)
    enabled: bool = True
    start_timeout: float = START_S
    call_timeout: float = CALL_S
    unknown: Mapping[str, Any] = field(default_factory=dict)


def check_draft(draft: McpDraft) -> McpDraft:
    """The draft, tidied, its transport naming every value; raises `InvalidInput` naming the field."""
    name = " ".join(draft.name.split())
    if not name:
        raise InvalidInput("name", N_("The server has no name."), N_("Give it a short one; its tools carry it."))
    if len(name) > NAME_MAX or not is_storable(name) or not name.isprintable():
        raise InvalidInput(
            "name", N_("A server's name is one line of at most {limit} characters."), N_("Shorten it."), limit=NAME_MAX
        )
    for field_name, seconds in (("start_timeout", draft.start_timeout), ("call_timeout", draft.call_timeout)):
        if not (math.isfinite(seconds) and 1 <= seconds <= WAIT_MAX_S):
            raise InvalidInput(
                field_name,
                N_("A server may take between {low} and {high} seconds."),
                N_("Choose a number between them."),
                low=1,
                high=int(WAIT_MAX_S),
            )
    match draft.transport:
        case Stdio():
            transport: Stdio | Http = _checked_stdio(draft.transport, draft.values)
        case Http():
            transport = _checked_http(draft.transport, draft.values)
        case _:
            assert_never(draft.transport)
    return McpDraft(
        name, transport, dict(draft.values), draft.enabled, draft.start_timeout, draft.call_timeout, draft.unknown
    )


def to_json(server: McpServer) -> dict[str, Any]:
    match server.transport:
        case Stdio(command, args, cwd, env):
            how: dict[str, Any] = {"command": command, "args": list(args), "cwd": cwd, "env": list(env)}
        case Http(url, headers):
            how = {"url": url, "headers": list(headers)}
        case _:
            assert_never(server.transport)
    return {
        "id": server.id,
        "name": server.name,
        **how,
        "enabled": server.enabled,
        "start_timeout": server.start_timeout,
        "call_timeout": server.call_timeout,
        "revision": server.revision,
        "unknown": dict(server.unknown),
    }


def from_json(row: object) -> McpServer | None:
    """A stored row; None for one that cannot be read (it is kept, and offers nothing)."""
    if not isinstance(row, Mapping):
        return None
    id, name = row.get("id"), row.get("name")
    if not (isinstance(id, str) and id and isinstance(name, str)):
        return None
    if isinstance(row.get("url"), str):
        transport: Stdio | Http = Http(row["url"], _texts(row.get("headers")))
    elif isinstance(row.get("command"), str):
        cwd = row.get("cwd")
        transport = Stdio(
            row["command"], _texts(row.get("args")), cwd if isinstance(cwd, str) else "", _texts(row.get("env"))
        )
    else:
        return None
    revision, unknown = row.get("revision"), row.get("unknown")
    draft = McpDraft(
        name,
        transport,
        dict.fromkeys(transport.env if isinstance(transport, Stdio) else transport.headers, ""),
        row.get("enabled") is True,
        _seconds(row.get("start_timeout"), START_S),
        _seconds(row.get("call_timeout"), CALL_S),
        unknown if isinstance(unknown, Mapping) else {},
    )
    try:
        good = check_draft(draft)
    except InvalidInput:
        return None
    return as_server(good, id, revision if isinstance(revision, int) else 1)


def as_server(draft: McpDraft, id: str, revision: int) -> McpServer:
    """A checked draft under an id."""
    return McpServer(
        id,
        draft.name,
        draft.transport,
        draft.enabled,
        draft.start_timeout,
        draft.call_timeout,
        revision,
        dict(draft.unknown),
    )


def split_line(line: str) -> Stdio:
    """A command line as typed; raises `InvalidInput` for quotes that do not close. No shell is involved."""
    try:
        words = shlex.split(line, posix=os.name != "nt")
    except ValueError:
        raise InvalidInput(
            "command", N_("A quotation mark in the command line is not closed."), N_("Close it, or leave it out.")
        ) from None
    if os.name == "nt":
        words = [word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word for word in words]
    return Stdio(words[0] if words else "", tuple(words[1:]))


def _checked_stdio(how: Stdio, values: Mapping[str, str]) -> Stdio:
    command = how.command.strip()
    if not command:
        raise InvalidInput("command", N_("The server has no command."), N_("For example: npx -y some-mcp-server"))
    if len(how.args) > ARGUMENTS_MAX:
        raise InvalidInput(
            "command", N_("A command has at most {limit} arguments."), N_("Leave some out."), limit=ARGUMENTS_MAX
        )
    for text in (command, *how.args, how.cwd):
        _check_text("command", text)
    if how.cwd and not PurePath(os.path.expanduser(how.cwd)).is_absolute() and not how.cwd.startswith("${"):  # noqa: PTH111 - a text, not a path yet
        raise InvalidInput(
            "cwd", N_("The server's folder {path} is not a whole path."), N_("Begin it at the root."), path=how.cwd
        )
    _check_values("env", values)
    for name in values:
        if not _VARIABLE.match(name):
            raise InvalidInput(
                "env",
                N_("{name} cannot be the name of an environment variable."),
                N_("Names have letters, digits and _."),
                name=name[:80],
            )
    return Stdio(command, tuple(how.args), how.cwd.strip(), tuple(values))


def _checked_http(how: Http, values: Mapping[str, str]) -> Http:
    url = how.url.strip()
    _check_text("url", url)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme.lower() not in ("http", "https") or not host or any(char.isspace() for char in url):
        raise InvalidInput(
            "url",
            N_("{value} is not an address of an MCP server."),
            N_("It looks like https://example.com/mcp."),
            value=url[:200] or "–",
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "url",
            N_("The address holds a user name or a password."),
            N_("Put it into a header, for example Authorization."),
        )
    _check_values("headers", values)
    for name, value in values.items():
        if not _HEADER.match(name) or name.lower() in _OWN_HEADERS or name.lower().startswith("mcp-"):
            raise InvalidInput(
                "headers",
                N_("{name} cannot be a header of your own."),
                N_("A usual one is Authorization."),
                name=name[:80],
            )
        if not value.isascii() or any(ord(char) < 32 for char in value):
            raise InvalidInput(
                "headers",
                N_("The value of {name} holds a character that no header has."),
                N_("Copy it again, without the text around it."),
                name=name,
            )
    return Http(url, tuple(values))


def _check_values(field_name: str, values: Mapping[str, str]) -> None:
    if len(values) > VALUES_MAX:
        raise InvalidInput(
            field_name, N_("A server has at most {limit} of them."), N_("Leave some out."), limit=VALUES_MAX
        )
    for value in values.values():
        _check_text(field_name, value)


def _check_text(field_name: str, text: str) -> None:
    if len(text) > TEXT_MAX or "\x00" in text or not is_storable(text):
        raise InvalidInput(
            field_name,
            N_("A text here is longer than {limit} characters, or holds a NUL."),
            N_("Shorten it."),
            limit=TEXT_MAX,
        )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _seconds(value: object, default: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if good else default  # type: ignore[arg-type]
