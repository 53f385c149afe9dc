"""Reading the files in which other programs keep their MCP servers: `{"mcpServers": {name: {…}}}` (Claude Desktop,
Claude Code, Cursor, Gemini CLI), `{"servers": {…}}` (VS Code), or the inner object alone.

Nothing is started and nothing is stored here: the outcome is a preview, for a human.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.domain.redaction import find_secrets
from devflow.tools.mcp_config import CALL_S, NAME_MAX, WAIT_MAX_S, Http, McpDraft, McpServer, Stdio, check_draft
from devflow.tools.mcp_servers import Addition, free_name

FILE_MAX = 1_000_000  # bytes
SERVERS_MAX = 100

_UNDERSTOOD = frozenset(
    "command args env cwd url serverUrl httpUrl headers http_headers type transport disabled enabled timeout "
    "name description".split()
)
_FILLED_BY_HAND = re.compile(r"\$\{(?:input:[^}]*|workspaceFolder[^}]*|workspaceRoot[^}]*)\}")


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader of the preview should know; a message id with its parameters."""

    message: str
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """One server of the file. `draft` is None where it cannot be taken; then `problem` says why.

    `same_name`: a server of that name is configured already. `same`: exactly this one is.
    """

    name: str
    draft: McpDraft | None
    notes: tuple[Note, ...] = ()
    problem: UserFacing | None = None
    same_name: str = ""
    same: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would add, in its order, and the fields beside the servers that mean nothing here."""

    servers: tuple[Found, ...]
    ignored: tuple[str, ...] = ()


class BadImport(UserFacing):
    """The file as a whole cannot be taken."""

    code = "bad_import"


def read_file(path: Path) -> bytes:
    """The file's bytes; raises `BadImport`. Blocks: not for the Qt thread."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_MAX + 1)
    except OSError as error:
        raise BadImport(
            N_("{path} cannot be read: {reason}."),
            N_("Choose another file."),
            path=path.name,
            reason=error.strerror or type(error).__name__,
        ) from None
    if len(data) > FILE_MAX:
        raise BadImport(
            N_("{path} is larger than a file of MCP servers can be."), N_("Choose another file."), path=path.name
        )
    return data


def preview(data: bytes, known: Sequence[McpServer]) -> Preview:
    """What the file holds, beside what is configured already; raises `BadImport` where it is no such file."""
    servers, ignored = _servers_of(_parsed(data))
    found = [_found(str(name), row, known) for name, row in servers.items()]
    return Preview(tuple(found), ignored)


def additions(chosen: Sequence[Found], known: Sequence[McpServer], *, replacing: bool) -> tuple[Addition, ...]:
    """What to store for the chosen ones. A name that is taken is replaced, or gets a number."""
    taken = {server.name.casefold() for server in known}
    made = []
    for found in chosen:
        if found.draft is None:
            continue
        if replacing and found.same_name:
            made.append(Addition(found.draft, replaces=found.same_name))
            continue
        name = free_name(found.draft.name, taken)
        taken.add(name.casefold())
        made.append(Addition(replace(found.draft, name=name)))
    return tuple(made)


def usual_files(home: Path, environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> list[Path]:
    """The files that other programs use on this machine, those that are there. Blocks."""
    match platform:
        case "win32":
            roaming = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
        case "darwin":
            roaming = home / "Library" / "Application Support"
        case _:
            roaming = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    candidates = (
        roaming / "Claude" / "claude_desktop_config.json",
        home / ".cursor" / "mcp.json",
        home / ".claude.json",
        roaming / "Code" / "User" / "mcp.json",
        home / ".gemini" / "settings.json",
        home / ".codeium" / "windsurf" / "mcp_config.json",
    )
    return [path for path in candidates if path.is_file()]


def _parsed(data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadImport(N_("The file is not UTF-8 text."), N_("Choose a JSON file.")) from None
    if not text.strip():
        raise BadImport(N_("The file is empty."), N_("Choose a JSON file."))
    try:
        return loads(text)
    except ValueError as error:
        first = error
    try:  # VS Code and Cursor write comments and trailing commas into their files
        return loads(_plain_json(text))
    except ValueError:
        raise BadImport(
            N_("The file is not JSON: {reason}."), N_("Mend it, or choose another file."), reason=str(first)
        ) from None


def _plain_json(text: str) -> str:
    """Without comments and trailing commas; strings stay as they are."""
    token = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    without = token.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    comma = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')
    return comma.sub(lambda match: match[0] if match[0].startswith('"') else "", without)


def _servers_of(value: Any) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    if not isinstance(value, dict):
        raise BadImport(
            N_("The file holds no object of MCP servers."),
            N_("It holds mcpServers, by name, each with a command or a url."),
        )
    within = value.get("mcp") if isinstance(value.get("mcp"), dict) else value  # VS Code's settings.json
    assert isinstance(within, dict)
    for key in ("mcpServers", "servers", "mcp_servers"):
        if key in within:
            servers = within[key]
            if not isinstance(servers, dict):
                raise BadImport(
                    N_("{key} is not an object of servers by name."),
                    N_("It holds mcpServers, by name, each with a command or a url."),
                    key=key,
                )
            break
    else:
        if not value or not all(isinstance(row, dict) and _how(row) for row in value.values()):
            raise BadImport(
                N_("The file has neither mcpServers nor servers."),
                N_("It holds mcpServers, by name, each with a command or a url."),
            )
        key, servers = "", value
    if not servers:
        raise BadImport(N_("The file lists no MCP server."), N_("Choose another file."))
    if len(servers) > SERVERS_MAX:
        raise BadImport(
            N_("The file lists {count} servers; at most {limit} are taken."),
            N_("Choose another file."),
            count=len(servers),
            limit=SERVERS_MAX,
        )
    ignored = tuple(str(name) for name in within if name != key)[:10] if key else ()
    return servers, ignored


def _how(row: Mapping[str, Any]) -> str:
    """Which field says how the server is reached."""
    return next((name for name in ("command", "url", "serverUrl", "httpUrl") if row.get(name)), "")


def _found(name: str, row: Any, known: Sequence[McpServer]) -> Found:
    shown = " ".join(name.split())[:NAME_MAX] or "mcp"
    same_name = next((server.name for server in known if server.name.casefold() == shown.casefold()), "")
    try:
        draft, notes = _draft(shown, row)
        draft = check_draft(draft)
    except UserFacing as problem:
        return Found(shown, None, problem=problem, same_name=same_name)
    same = any(server.name == same_name and server.transport == draft.transport for server in known)
    return Found(shown, draft, tuple(notes), same_name=same_name, same=same)


def _draft(name: str, row: Any) -> tuple[McpDraft, list[Note]]:
    if not isinstance(row, dict):
        raise _bad(N_("{name} is not an object."), name)
    how = _how(row)
    if not how:
        raise _bad(N_("{name} has neither a command nor a url."), name)
    kind = str(row.get("type") or row.get("transport") or "").lower()
    if kind == "sse":
        raise _bad(N_("{name} uses the old SSE transport, which is not supported."), name)
    if kind in ("ws", "websocket"):
        raise _bad(N_("{name} uses WebSocket, which is not supported."), name)
    notes: list[Note] = []
    transport: Stdio | Http
    transport, values = _stdio(name, row) if how == "command" else _http(name, row, how)
    texts = [*values.values(), *(transport.args if isinstance(transport, Stdio) else (transport.url,))]
    enabled = row.get("disabled") is not True and row.get("enabled") is not False
    if by_hand := sorted({match for text in texts for match in _FILLED_BY_HAND.findall(text)}):
        enabled = False
        notes.append(Note(N_("Fill in {names} by hand; until then it is off."), {"names": ", ".join(by_hand)}))
    elif not enabled:
        notes.append(Note(N_("It is switched off in the file."), {}))
    if isinstance(transport, Stdio) and find_secrets(" ".join(transport.args)):
        notes.append(Note(N_("An argument looks like a key; move it to the environment, where it is kept safely."), {}))
    if isinstance(transport, Http) and find_secrets(transport.url):
        notes.append(Note(N_("The address looks as if a key were in it; a header keeps it safely."), {}))
    unknown = {str(field): value for field, value in row.items() if field not in _UNDERSTOOD}
    if unknown:
        notes.append(Note(N_("Fields that mean nothing here: {names}."), {"names": ", ".join(sorted(unknown)[:10])}))
    draft = McpDraft(name, transport, values, enabled, call_timeout=_timeout(row.get("timeout")), unknown=unknown)
    return draft, notes


def _stdio(name: str, row: Mapping[str, Any]) -> tuple[Stdio, dict[str, str]]:
    command, args = row["command"], row.get("args", [])
    if isinstance(command, list) and command:  # some write the whole line as a list
        command, args = command[0], [*command[1:], *(args if isinstance(args, list) else [])]
    if not isinstance(command, str):
        raise _bad(N_("The command of {name} is not a text."), name)
    if not isinstance(args, list) or not all(isinstance(each, str | int | float) for each in args):
        raise _bad(N_("The args of {name} are not a list of texts."), name)
    cwd = row.get("cwd") or ""
    if not isinstance(cwd, str):
        raise _bad(N_("The cwd of {name} is not a text."), name)
    return Stdio(command, tuple(str(each) for each in args), cwd), _values(name, row.get("env"), "env")


def _http(name: str, row: Mapping[str, Any], how: str) -> tuple[Http, dict[str, str]]:
    url = row[how]
    if not isinstance(url, str):
        raise _bad(N_("The url of {name} is not a text."), name)
    given = row.get("headers") if row.get("headers") is not None else row.get("http_headers")
    return Http(url), _values(name, given, "headers")


def _values(name: str, value: Any, field: str) -> dict[str, str]:
    if value is None:
        return {}
    plain = isinstance(value, dict) and all(isinstance(each, str | int | float | bool) for each in value.values())
    if not plain:
        raise _bad(N_("The {part} of {name} is not an object of texts."), name, part=field)
    return {str(key): str(each).lower() if isinstance(each, bool) else str(each) for key, each in value.items()}


def _timeout(value: Any) -> float:
    """Seconds; Cline and Gemini write milliseconds from about a thousand on."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        return CALL_S
    seconds = value / 1000 if value >= 1000 else value
    return float(min(max(seconds, 1), WAIT_MAX_S))


def _bad(message: str, name: str, **params: object) -> InvalidInput:
    return InvalidInput("server", message, "", name=name, **params)
