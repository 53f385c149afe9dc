"""YAML front matter: written so that every reader takes it, read so that nothing in it can do harm.

What is written is JSON on each line, which is YAML too. What is read is others': texts, lists and mappings alone
(`BaseLoader`), no aliases (a few lines of them unfold to gigabytes), and neither long nor deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from devflow.domain.errors import UserFacing
from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_

FRONT_MAX = 100_000
"""Characters; an own entry's quoted evidence stands in it too."""
DEPTH_MAX = 50
ALIASES = "aliases are not read"
QUOTE = N_("Put texts with special characters between quotation marks.")

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_OWN_LINE = re.compile(r"([a-z_]+): (.+)")
_BRACKET = re.compile(r"[\[\]{}]")
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON leaves as it is, and YAML refuses or takes for the end of a line."""
_LOOSE_FIELD = re.compile(r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'|>\[{#].*)$", re.MULTILINE)
"""A plain value, which many a writer leaves unquoted although it begins with `*` or holds a colon."""


class BadFrontMatter(UserFacing):
    """It cannot be read. `line` counts from 1 within the file."""

    code = "bad_front_matter"

    def __init__(self, problem: str, line: int = 1, hint: str = "") -> None:
        super().__init__(N_("the lines between the dashes cannot be read as YAML: {problem}"), hint, problem=problem)
        self.line = line


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's front matter and what follows it, which begins on line `body_line`."""

    fields: Mapping[str, Any]
    body: str
    body_line: int
    has_front: bool


def write(fields: Iterable[tuple[str, Any]], body: str) -> str:
    """The fields between dashes, in their order, then an empty line, the body, and a line end of ours."""
    lines = "".join(f"{name}: {_one_line(value)}\n" for name, value in fields)
    return f"---\n{lines}---\n\n{body}\n"


def own_body(text: str) -> str:
    """The body as it was given to `write`, byte for byte."""
    found = _FRONT.match(text)
    rest = text[found.end() :] if found else text
    return rest.removeprefix("\n").removesuffix("\n")


def read(text: str) -> Parts:
    """Raises `BadFrontMatter`. Without front matter everything is the body."""
    found = _FRONT.match(text)
    if found is None:
        return Parts({}, text, 1, has_front=False)
    front = found[1]
    if len(front) > FRONT_MAX:
        raise BadFrontMatter(f"it is longer than {FRONT_MAX:,} characters")
    fields = _own(front)
    return Parts(
        fields if fields is not None else _foreign(front),
        text[found.end() :],
        text.count("\n", 0, found.end()) + 1,
        has_front=True,
    )


def text_of(fields: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a text, on one line; empty without one."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def texts_of(fields: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The texts of the first field there is: a list, or a text that separates them by commas."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, list):
            return tuple(part.strip() for part in value if isinstance(part, str) and part.strip())
    return ()


def _one_line(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, float) and "." not in written:
        written = written.replace("e", ".0e")  # 1e-05 is a number to JSON, and a text to YAML 1.1
    return _UNSAFE.sub(lambda char: f"\\u{ord(char[0]):04x}", written)


def _own(front: str) -> dict[str, Any] | None:
    """What `write` wrote, a hundred times faster than YAML; None where it looks otherwise."""
    fields: dict[str, Any] = {}
    for line in front.removesuffix("\n").split("\n"):
        found = _OWN_LINE.fullmatch(line)
        if found is None:
            return None
        try:
            fields[found[1]] = loads(found[2])
        except ValueError:
            return None
    return fields


def _foreign(front: str) -> Mapping[str, Any]:
    import yaml

    class Plain(yaml.BaseLoader):
        """Every value a text, a list or a mapping."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.composer.ComposerError(None, None, ALIASES, self.peek_event().start_mark)  # type: ignore[no-untyped-call]
            return super().compose_node(parent, index)

    if _is_deep(front):
        raise BadFrontMatter("it is nested too deeply", 2)
    first: BadFrontMatter | None = None
    for text in (front, _LOOSE_FIELD.sub(lambda each: f"{each[1]}: {json.dumps(each[2].rstrip())}", front)):
        try:
            fields = yaml.load(text, Loader=Plain)  # noqa: S506 - it knows texts, lists and mappings alone
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 2 if mark is not None else 2
            problem = str(getattr(error, "problem", "") or type(error).__name__)
            if ALIASES in problem:
                raise BadFrontMatter(problem, line) from None
            first = first or BadFrontMatter(problem, line, QUOTE)
        else:
            if fields is None or fields == "":
                return {}
            if isinstance(fields, dict):
                return {key: value for key, value in fields.items() if isinstance(key, str)}
            first = first or BadFrontMatter("no field has a name", 2)
    raise first or BadFrontMatter("unreadable", 2)


def _is_deep(front: str) -> bool:
    """Whether reading it would take long for nothing: the reader's time grows with the square of the open brackets."""
    depth = 0
    for bracket in _BRACKET.findall(front):
        depth += 1 if bracket in "[{" else -1
        if depth > DEPTH_MAX:
            return True
    return False
