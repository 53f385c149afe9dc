"""The commands and their options. Global options are accepted before and after the command; `--` ends options."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from devflow import __version__
from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_

COMMANDS = {
    "ask": "ask one question and print the answer",
    "knowledge": "the library: list, search, add, review",
    "kb": "knowledge bases: folders of Markdown pages",
    "skills": "skills: folders of instructions that a message can be sent with",
    "samples": "the sample library and the sample wiki, both about DevFlow: load them, remove them",
    "conversation": "the conversations: list them, export one",
    "config": "read and change the settings",
    "provider": "the model servers: list, add, test, remove",
    "mcp": "the library for other tools, over the Model Context Protocol",
    "mcp-servers": "MCP servers, whose tools the assistant may use: list, import, test, remove",
    "extract": "distil a conversation into candidates now",
    "export": "write the library as Markdown or JSON, with its timeline",
    "import": "take in a library, notes, rules, memories or chats, as candidates",
    "backup": "copy the database, also while it is in use",
    "restore": "put a backup in the database's place",
    "doctor": "check the database, the index, keys and servers",
    "completion": "what makes a shell complete these commands",
}
"""Each is a module here (`-` is `_` there) with `add(parser)`, which adds its arguments and sets `run`, a coroutine
function of (core, args, output) that returns the exit code, or `run_alone`, a function of (paths, args, output) for
what must work without a database. With `leaves_nothing` there is no log either: no folder is made."""
MODULES = {"import": "importing", "export": "exporting"}
"""Where a command's name can be no module's."""


class WrongUsage(UserFacing):
    """The command line cannot be understood; exit code 2."""

    code = "usage"


class Parser(argparse.ArgumentParser):
    """Says what is wrong by an exception, so that it is one line, or JSON, like every other error."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(N_("{problem}."), N_("See `{command} --help`."), problem=message, command=self.prog)


def build(words: Sequence[str]) -> Parser:
    """The parser for these words; only the modules of the commands among them are imported, for the sake of speed."""
    parser = Parser(
        prog="devflow",
        description="DevFlow: reviewed knowledge for people who build software with AI. Without a command: the window.",
    )
    parser.add_argument("--version", action="version", version=f"devflow {__version__}")
    _add_options(parser, home=None, json=False, verbose=0)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for name, about in COMMANDS.items():
        if name in words:
            sentence = f"{about[0].upper()}{about[1:]}."
            import_module(f"devflow.cli.{MODULES.get(name, name.replace('-', '_'))}").add(
                commands.add_parser(name, help=about, description=sentence, parents=[_later_options()])
            )
        else:
            commands.add_parser(name, help=about)
    return parser


class Acts:
    """The acts of a command that has several, as in `devflow knowledge list`."""

    def __init__(self, command: Parser) -> None:
        self._acts = command.add_subparsers(title="acts", metavar="ACT", required=True, parser_class=Parser)

    def add(self, name: str, run: Callable[..., Awaitable[int]], about: str) -> Parser:
        made = self._acts.add_parser(name, help=about, description=about, parents=[_later_options()])
        made.set_defaults(run=run)
        return made


def _later_options() -> Parser:
    """The global options once more, for behind the command; where they are not given, those before it count."""
    options = Parser(add_help=False)
    _add_options(options, home=argparse.SUPPRESS, json=argparse.SUPPRESS, verbose=argparse.SUPPRESS)
    return options


def _add_options(parser: Parser, *, home: Any, json: Any, verbose: Any) -> None:
    group = parser.add_argument_group("global options")
    group.add_argument("--home", metavar="DIR", type=Path, default=home, help="the data directory (also DEVFLOW_HOME)")
    group.add_argument("--json", action="store_true", default=json, help="one JSON value on standard output")
    group.add_argument("-v", "--verbose", action="count", default=verbose, help="log to standard error; twice: more")
