"""What `devflow ask` asks: a message, a prompt template of the library with its variables filled in, or both."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devflow.cli.parser import Parser, WrongUsage
from devflow.cli.streams import read_stdin
from devflow.domain.conversation import MESSAGE_MAX
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.domain.knowledge import Entry


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    template: Entry | None = None

    @property
    def template_json(self) -> dict[str, object] | None:
        """The template as `--json` names it."""
        used = self.template
        return None if used is None else {"id": used.id, "title": used.title, "version": used.version}


def add(parser: Parser) -> None:
    parser.add_argument(
        "message",
        metavar="MESSAGE",
        nargs="?",
        help="the question; - reads it from standard input; with --template it follows the template's text",
    )
    parser.add_argument("--template", metavar="ENTRY_ID", help="a published prompt template to ask with")
    parser.add_argument(
        "--var",
        metavar="K=V",
        action="append",
        default=[],
        help="the value of the template's variable {{K}}; may be repeated",
    )


async def asked(core: Core, args: Namespace) -> Asked:
    """Raises WrongUsage where nothing is asked, and InvalidInput or Refused for a template that cannot be used."""
    values = _values(args.var)
    if args.template is None:
        if values:
            raise WrongUsage(N_("--var is for a template."), N_("Name the template with --template ENTRY_ID."))
        return Asked(_message(args.message))
    template = await _template(core, args.template)
    text = _filled(template, values)
    if args.message is not None:
        text = f"{text.rstrip()}\n\n{_message(args.message)}"
    return Asked(text, template)


def _message(given: str | None) -> str:
    if given is None:
        raise WrongUsage(
            N_("There is no question."), N_("Give it as MESSAGE, as - on standard input, or with --template.")
        )
    if given != "-":
        return given
    try:
        return read_stdin(4 * MESSAGE_MAX + 3, "message").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("message", N_("Standard input is not UTF-8 text."), N_("Convert it first.")) from None


def _values(given: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for one in given:
        name, sign, value = one.partition("=")
        name = name.strip()
        if not sign or not name:
            raise WrongUsage(N_("--var {given} names no value."), N_("Write it as NAME=VALUE."), given=repr(one))
        if name in values:
            raise WrongUsage(N_("--var gives {name} twice."), N_("Give each variable once."), name=name)
        values[name] = value
    return values


async def _template(core: Core, id: str) -> Entry:
    """Published ones only: a script must not ask with words nobody approved, that a tool may still edit."""
    from devflow.domain.knowledge import Kind, Status

    entry = await core.knowledge.knowledge_get(id)
    if entry.kind is not Kind.PROMPT_TEMPLATE:
        raise InvalidInput(
            "template",
            N_("The entry {id} is no prompt template, but of the kind {kind}."),
            N_("`devflow knowledge list --kind prompt_template` shows those there are."),
            id=id,
            kind=entry.kind.value,
        )
    if entry.status is not Status.PUBLISHED:
        raise Refused(
            N_("The prompt template {id} is not published: {status}."),
            N_("Publish it in the inbox, or with `devflow knowledge approve`."),
            id=id,
            status=entry.status.value,
        )
    return entry


def _filled(template: Entry, values: dict[str, str]) -> str:
    from devflow.domain import placeholders

    return placeholders.filled(template.content, values)
