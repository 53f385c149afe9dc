"""What commands are given, and by whom: a text from an option, a file or standard input; a project; a provider."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from devflow.cli.parser import Parser, WrongUsage
from devflow.cli.streams import read_stdin, within
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.knowledge import CONTENT_MAX
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.domain.provider import ProviderConfig
    from devflow.knowledge.acts import Actor
    from devflow.knowledge.projects import Projects
    from devflow.models.registry import Models

READ_MAX = 4 * CONTENT_MAX + 3
"""Bytes of a text that may fit: UTF-8 has at most four for a character, and a mark at the beginning."""


def add_content(parser: Parser) -> None:
    """`--content C | --file F | -`."""
    parser.add_argument("--content", metavar="C", help="the text (Markdown)")
    parser.add_argument("--file", metavar="F", type=Path, help="a file that holds the text")
    parser.add_argument("stdin", nargs="?", choices=["-"], metavar="-", help="the text comes from standard input")


def content(args: Namespace) -> str | None:
    """The text as it was given, byte for byte; None if none was. Raises WrongUsage for more than one."""
    given = [args.content is not None, args.file is not None, args.stdin is not None]
    if sum(given) > 1:
        raise WrongUsage(N_("The text was given twice."), N_("Use one of --content, --file and -."))
    if args.file is not None:
        return _decoded(_read(args.file), str(args.file))
    if args.stdin is not None:
        return _decoded(read_stdin(READ_MAX, "content"), "-")
    given_text: str | None = args.content
    return given_text


async def project_id(projects: Projects, given: str) -> str:
    """A project by its folder (made if there is none yet), else by its name or id."""
    from devflow.knowledge.projects import is_folder  # not at the top: `--help` and completion need no database

    if is_folder(given):
        return (await projects.ensure(given)).id
    known = await projects.list()
    found = [project for project in known if given in (project.id, project.name)]
    if len(found) == 1:
        return found[0].id
    if found:
        raise InvalidInput(
            "project",
            N_("There are {count} projects with the name {name}."),
            N_("Name its folder instead."),
            count=len(found),
            name=given,
        )
    raise InvalidInput(
        "project", N_("There is no project {name}."), N_("Name a folder; it becomes a project."), name=given
    )


async def provider(models: Models, given: str) -> ProviderConfig:
    """A provider by its id or name."""
    known = await models.list()
    found = [config for config in known if given in (config.id, config.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Refused(N_("Several providers have the name {provider}."), N_("Use the id."), provider=given)
    names = ", ".join(config.name for config in known) or "–"
    raise Refused(N_("There is no provider {provider}."), N_("Providers: {names}."), provider=given, names=names)


def actor() -> Actor:
    """The human at the terminal; under the agent's marker it is the agent."""
    from devflow.app.core import is_agent_child
    from devflow.knowledge.acts import Actor

    return Actor.ai() if is_agent_child() else Actor.user()


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as text:
            return within(text.read(READ_MAX + 1), READ_MAX, "content")
    except OSError as error:
        raise InvalidInput(
            "file",
            N_("The file {path} cannot be read: {reason}."),
            N_("Check its name and its permissions."),
            path=file,
            reason=error.strerror or error,
        ) from error


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "content",
            N_("The text in {name} is not UTF-8 (byte {position})."),
            N_("Save it as UTF-8."),
            name=name,
            position=error.start,
        ) from error
