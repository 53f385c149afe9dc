"""`devflow mcp-servers …`: the MCP servers whose tools the assistant may be given."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts, Parser
from devflow.domain.errors import Refused
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.tools.mcp_config import McpServer
    from devflow.tools.mcp_import import Found


def add(parser: Parser) -> None:
    acts = Acts(parser)
    acts.add("list", _list, "The servers that are set up.")
    importing = acts.add("import", _import, "Take over the servers of Claude Desktop's, Cursor's or VS Code's file.")
    importing.add_argument("file", metavar="FILE", type=Path, help='JSON with "mcpServers" or "servers"')
    importing.add_argument("--only", metavar="NAME", action="append", help="just this server; may be repeated")
    importing.add_argument("--replace", action="store_true", help="replace servers of the same name")
    importing.add_argument("--dry-run", action="store_true", help="say what would be added, and add nothing")
    for name, run, about in (
        ("test", _test, "Start it, and say which tools it offers."),
        ("remove", _remove, "Remove it, with the values kept for it."),
    ):
        acts.add(name, run, about).add_argument("server", metavar="NAME", help="its name or its id")


async def _list(core: Core, args: Namespace, output: Output) -> int:
    servers = await core.mcp.servers.list()
    if output.json:
        output.value([_shown(server) for server in servers])
        return 0
    for server in servers:
        off = "" if server.enabled else output.t("(off)")
        output.line(f"{one_line(server.name)}  {one_line(server.line)}  {off}".rstrip())
    if not servers:
        output.note(output.t("No MCP server is set up."))
    return 0


async def _import(core: Core, args: Namespace, output: Output) -> int:
    from devflow.tools import mcp_import

    known = await core.mcp.servers.list()
    found = mcp_import.preview(mcp_import.read_file(args.file), known).servers
    wanted = [one for one in found if args.only is None or one.name in args.only]
    if args.only is not None and (missing := [name for name in args.only if name not in {one.name for one in found}]):
        raise Refused(
            N_("The file has no server {name}."),
            N_("It has: {known}."),
            name=missing[0],
            known=", ".join(one.name for one in found),
        )
    chosen = [one for one in wanted if one.draft is not None and not one.same]
    for one in wanted:
        _say(one, output)
    additions = mcp_import.additions(chosen, known, replacing=args.replace)
    added = () if args.dry_run else await core.mcp.servers.take(additions)
    if output.json:
        output.value([_shown(server) for server in added])
    else:
        for server in added:
            output.line(f"{one_line(server.name)}  {one_line(server.line)}")
    return 0 if chosen or not wanted else 1


async def _test(core: Core, args: Namespace, output: Output) -> int:
    server = await _named(core, args.server)
    state = await core.mcp.test(server)
    if output.json:
        problem = output.described(state.problem) if state.problem is not None else None
        output.value({**_shown(server), "phase": state.phase.value, "tools": list(state.tools), "problem": problem})
    elif state.problem is None:
        for tool in state.tools:
            output.line(one_line(tool))
    if state.problem is not None and not output.json:
        raise state.problem
    return 0 if state.problem is None else 1


async def _remove(core: Core, args: Namespace, output: Output) -> int:
    server = await _named(core, args.server)
    await core.mcp.servers.remove(server.id)
    if output.json:
        output.value(_shown(server))
    else:
        output.line(one_line(server.name))
    return 0


async def _named(core: Core, name: str) -> McpServer:
    servers = await core.mcp.servers.list()
    found = [each for each in servers if each.id == name or each.name.casefold() == name.casefold()]
    if not found:
        raise Refused(
            N_("There is no MCP server {name}."),
            N_("`devflow mcp-servers list` shows those there are."),
            name=name,
        )
    return found[0]


def _say(found: Found, output: Output) -> None:
    """On standard error: what to know about a server of the file."""
    if found.problem is not None:
        output.note(f"{one_line(found.name)}: {found.problem.render(output.t)} {found.problem.render_hint(output.t)}")
    for note in found.notes:
        output.note(f"{one_line(found.name)}: {output.t(note.message, **note.params)}")
    if found.same:
        already = output.t("This very server is set up already.")
        output.note(f"{one_line(found.name)}: {already}")


def _shown(server: McpServer) -> dict[str, Any]:
    return {"id": server.id, "name": server.name, "line": server.line, "enabled": server.enabled}
