"""`devflow mcp`: DevFlow's library for other tools, over the Model Context Protocol on standard input and output."""

from __future__ import annotations

import logging
from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output
from devflow.cli.parser import Parser
from devflow.domain.rights import DEFAULT, Right
from devflow.tools.mcp_clients import CLIENTS

if TYPE_CHECKING:
    from devflow.app.paths import AppPaths


def add(parser: Parser) -> None:
    parser.add_argument("--client", metavar="NAME", help="the client's name in timelines, instead of its own")
    parser.add_argument(
        "--allow",
        choices=[*Right],
        metavar="RIGHT",
        default=None,
        help="read; propose: candidates too (the default); manage: archive any, configure, extract. None publishes.",
    )
    parser.add_argument(
        "--print-config", choices=[*CLIENTS], metavar="TOOL", help=f"print what to paste: {', '.join(CLIENTS)}"
    )
    parser.set_defaults(run_alone=_run)


def _run(paths: AppPaths, args: Namespace, output: Output) -> int:
    right = DEFAULT if args.allow is None else Right(args.allow)
    if args.print_config is not None:
        return _print(paths, args, right, output)
    from devflow.mcp_server import stdio

    streams = stdio.claim()
    from devflow.mcp_server.serve import serve

    logging.getLogger("mcp").setLevel(max(logging.getLogger().level, logging.WARNING))
    serve(paths, *streams, client=args.client, right=right)
    return 0


def _print(paths: AppPaths, args: Namespace, right: Right, output: Output) -> int:
    from devflow.app.core import invitation

    made = invitation(paths).configuration(args.print_config, right, name=args.client)
    if output.json:
        command = made.command or None
        output.value({"client": args.print_config, "file": made.file, "text": made.text, "command": command})
        return 0
    output.line(made.text)
    output.note(output.t("Paste it into {file}.", file=made.file))
    if made.command:
        output.note(output.t("Or run: {command}", command=made.command))
    return 0
