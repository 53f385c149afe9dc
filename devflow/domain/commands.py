"""What a message is that starts with `/`: a command of the window, or just a message (spec 02, Trigger).

`/pdf` is one even where nobody knows it; `/usr/x is a path` is not. This is the only reader of that rule: the composer,
the trigger of retrieval and the log of lookups all ask here.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_COMMAND = re.compile(r"\s*/([\w-]+)(?:\s+|\Z)")
_LETTER = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """`name` as it was typed, without the slash; `rest` is what follows it, padding taken off."""

    name: str
    rest: str = ""


def command_of(message: str, known: Collection[str] = ()) -> SlashCommand | None:
    """The command that the message is; None for an ordinary message.

    A name begins with a Latin letter, or is one of those that are `known` (a skill may be called `/写作`).
    """
    found = _COMMAND.match(message)
    if found is None or not (_LETTER.match(found[1]) or found[1] in known):
        return None
    return SlashCommand(found[1], message[found.end() :].strip())
