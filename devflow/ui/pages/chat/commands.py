"""The commands behind `/`: what each does, which fit what was typed, and which one was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from devflow.domain.messages import Translator

Argument = Literal["", "text", "model", "base", "format"]
"""What may stand behind the name. `text`: any words."""

FORMATS = ("markdown", "html", "pdf")
_MEANT = {
    "pdf": "export pdf",
    "html": "export html",
    "md": "export markdown",
    "markdown": "export markdown",
    "save": "export",
    "clear": "new",
    "reset": "new",
    "knowledge": "kb",
    "wiki": "kb",
    "commands": "help",
    "import": "digest",
    "summarize": "sediment",
    "summary": "sediment",
}
"""What people type elsewhere."""
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Command:
    """`does` is one line for the reader. `waits`: it cannot run while the conversation is being answered.

    `skill`: the command sends what follows it with that skill's instructions.
    """

    name: str
    does: str
    icon: str
    argument: Argument = ""
    waits: bool = False
    skill: bool = False

    @property
    def typed(self) -> str:
        return f"/{self.name}"


def built_in(t: Translator) -> tuple[Command, ...]:
    """The application's own, in the order in which they are offered."""
    return (
        Command("sediment", t("Write what this conversation settled as a page"), "pin", waits=True),
        Command("digest", t("Turn files into pages of the knowledge base"), "inbox"),
        Command("new", t("Start a new conversation"), "plus", "text"),
        Command("export", t("Save this conversation as Markdown, HTML or PDF"), "download", "format"),
        Command("model", t("Choose the model that answers"), "cpu", "model"),
        Command("kb", t("Choose the knowledge base"), "book", "base"),
        Command("help", t("Show the commands and keys"), "info"),
    )


def find(commands: Iterable[Command], name: str) -> Command | None:
    """The command of exactly that name, in capitals or not."""
    return next((each for each in commands if each.name.casefold() == name.casefold()), None)


def fitting(commands: Sequence[Command], typed: str) -> tuple[Command, ...]:
    """Those whose name begins with what was typed, then those that hold it elsewhere."""
    wanted = typed.casefold()
    begins = [each for each in commands if each.name.casefold().startswith(wanted)]
    begins.sort(key=lambda each: len(each.name) != len(wanted))  # the whole name first, the others as they are
    return (*begins, *(each for each in commands if wanted in each.name.casefold() and each not in begins))


def nearest(commands: Sequence[Command], name: str) -> tuple[str, ...]:
    """What may have been meant by a name that nobody knows, without the slash, best first."""
    plain = name.casefold()
    meant = [_MEANT[plain]] if plain in _MEANT else []
    names = [each.name for each in commands]
    close = difflib.get_close_matches(plain, names, n=_NEAREST, cutoff=0.55)
    begun = [each.name for each in fitting(commands, plain) if each.name.casefold().startswith(plain)]
    known = [each for each in meant if each.partition(" ")[0] in names]
    return tuple(dict.fromkeys((*known, *begun, *close)))[:_NEAREST]


def format_of(argument: str) -> str | None:
    """The export's format that was named; None where there is none of that name."""
    plain = argument.casefold().removeprefix(".")
    return {"md": "markdown", "htm": "html"}.get(plain, plain if plain in FORMATS else None)
