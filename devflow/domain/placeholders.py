"""The variables of a prompt template: `{{name}}` in its text, to be filled in by whoever uses it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d]\w{0,63})[ \t]*\}\}")


def names(text: str) -> tuple[str, ...]:
    """The variables in order of appearance, each once."""
    return tuple(dict.fromkeys(match[1] for match in _VARIABLE.finditer(text)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with every variable that has a value replaced by it; values are not looked into."""
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)
