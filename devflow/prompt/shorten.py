"""Texts and arguments made shorter where the window has no room for them: head and end stay, the middle is marked."""

from __future__ import annotations

import json
import re
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.tokens import ASCII_PER_TOKEN, MARGIN, estimate_tokens

ARGUMENT_CHARS = 200
"""A text inside the arguments of a call that is longer than this is cut to it."""
ARGUMENTS_CHARS = 1_000
"""Arguments that are longer even so lose their lists and objects, and then everything."""
NAME_CHARS = 64
"""No tool has a longer name."""

_FENCED = re.compile(r"\n<<<end ([^\n]+)>>>\Z")


def shortened(text: str, tokens: int, mark: str, *, head: float = 0.67) -> str:
    """`text` with its middle replaced by `mark`, at most `tokens` (estimated) long; `head` is the beginning's share.

    What stands between fences is cut inside them, so that both fences stay. Where not even fences and mark fit, they
    are all that is left: the caller looks again.
    """
    if estimate_tokens(text) <= tokens:
        return text
    before, body, after = _parts(text)
    before = _short_head(before, tokens // 3, mark)
    low, high = 0, min(len(body), int(tokens * ASCII_PER_TOKEN / MARGIN) + 1)
    while low < high:  # the most characters that still fit
        middle = (low + high + 1) // 2
        if estimate_tokens(_joined(before, body, after, middle, mark, head)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return _joined(before, body, after, low, mark, head)


def short_arguments(arguments: str, mark: str) -> str:
    """JSON arguments whose long texts are cut: which file was written stays to be seen, its whole content does not."""
    if len(arguments) <= ARGUMENT_CHARS:
        return arguments
    try:
        value = loads(arguments)
    except ValueError:
        return "{}"
    if not isinstance(value, dict):
        return "{}"
    plain = {name: inner for name, inner in value.items() if not isinstance(inner, list | dict)}
    texts = (json.dumps(_short(each, mark), ensure_ascii=False) for each in (value, plain))
    return next((text for text in texts if len(text) <= ARGUMENTS_CHARS), "{}")


def _parts(text: str) -> tuple[str, str, str]:
    closing = _FENCED.search(text)
    if closing is not None:
        opening = f"<<<{closing[1]}>>>\n"
        at = text.find(opening)
        if at >= 0:
            start = at + len(opening)
            return text[:start], text[start : closing.start()], text[closing.start() :]
    return "", text, ""


def _short_head(before: str, tokens: int, mark: str) -> str:
    """What stands before the opening fence may be long too: the arguments that the user changed."""
    lines = before.splitlines(keepends=True)
    head, opening = "".join(lines[:-2]), "".join(lines[-2:])
    return shortened(head, tokens, mark) + opening


def _joined(before: str, body: str, after: str, characters: int, mark: str, head: float) -> str:
    first = round(characters * head)
    last = characters - first
    return f"{before}{body[:first]}\n{mark}\n{body[len(body) - last :]}{after}"


def _short(value: Any, mark: str) -> Any:
    match value:
        case str():
            return value if len(value) <= ARGUMENT_CHARS else f"{value[:ARGUMENT_CHARS]}… {mark}"
        case list():
            return [_short(item, mark) for item in value]
        case dict():
            return {name: _short(item, mark) for name, item in value.items()}
        case _:
            return value
