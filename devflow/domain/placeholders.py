"""The variables of a prompt template: `{{name}}` in its text, to be filled in by whoever uses it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_

TELLING_CHARS = 12

_VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d]\w{0,63})[ \t]*\}\}")


def names(text: str) -> tuple[str, ...]:
    """The variables in order of appearance, each once."""
    return tuple(dict.fromkeys(match[1] for match in _VARIABLE.finditer(text)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with every variable replaced by its value; values are not looked into.

    Raises InvalidInput where one has no value, or a value no variable; the sentence names all of them.
    """
    wanted = names(text)
    lacking = [name for name in wanted if name not in values]
    unknown = [name for name in values if name not in wanted]
    if lacking or unknown:
        raise _refusal(lacking, unknown, wanted)
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def may_have_made(text: str, filled_in: str) -> bool:
    """Whether `filled_in` begins with what the template makes, whatever its values are.

    Of a template that says next to nothing by itself this cannot be told: False.
    """
    first, *others = _VARIABLE.split(text.strip())[::2]
    filled_in = filled_in.lstrip()
    if not filled_in.startswith(first) or sum(map(len, (first, *others))) < TELLING_CHARS:
        return False
    at = len(first)
    for piece in others:
        found = filled_in.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _refusal(lacking: list[str], unknown: list[str], wanted: tuple[str, ...]) -> InvalidInput:
    known = ", ".join(wanted) or "–"
    if not lacking:
        return InvalidInput(
            "var",
            N_("The template has no variable {unknown}."),
            N_("Its variables: {known}."),
            unknown=", ".join(unknown),
            known=known,
        )
    if not unknown:
        return InvalidInput(
            "var",
            N_("The template needs a value for {lacking}."),
            N_("Its variables: {known}."),
            lacking=", ".join(lacking),
            known=known,
        )
    return InvalidInput(
        "var",
        N_("The template needs a value for {lacking}, and has no variable {unknown}."),
        N_("Its variables: {known}."),
        lacking=", ".join(lacking),
        unknown=", ".join(unknown),
        known=known,
    )
