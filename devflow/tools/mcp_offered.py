"""What a server says that it offers, made fit for a model: names, descriptions and schemas within bounds.

All of it is text from outside. A description can try to talk the model into something; it is cut, its control
characters are shown, and it says where it comes from.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devflow.domain.text.hidden import with_hidden_shown

TOOLS_MAX = 100
"""So many tools of one server are offered: model servers refuse more than about 128 in all."""
NAME_MAX = 64
DESCRIPTION_MAX = 1_500  # characters
SCHEMA_MAX = 16_000  # characters of JSON
DEPTH_MAX = 24
PREFIX = "mcp__"

_NOT_AT_THE_ROOT = ("$schema", "$id", "anyOf", "oneOf", "allOf", "not", "enum", "const")
"""Model servers refuse a whole request for one of these at the root of one schema; the tool's own server knows them."""
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool as its server lists it. `read_only` and `destructive` are the server's own words: hints, no facts."""

    name: str
    description: str = ""
    title: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = False
    destructive: bool = False

    @property
    def definition(self) -> str:
        """Changes when what the tool says it does, or takes, changes."""
        said = json.dumps([self.name, self.description, self.schema], sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Refused:
    """A tool that is not offered, and why (a message id is not needed: it goes to the log)."""

    name: str
    why: str


def fit(tools: Iterable[Offered]) -> tuple[tuple[Offered, ...], tuple[Refused, ...]]:
    """The tools that can be offered, each name once, and those that cannot."""
    kept: dict[str, Offered] = {}
    left: list[Refused] = []
    for tool in tools:
        if tool.name in kept:
            left.append(Refused(tool.name, "its name is there twice"))
        elif len(kept) >= TOOLS_MAX:
            left.append(Refused(tool.name, f"there are more than {TOOLS_MAX}"))
        elif why := _unfit(tool.schema):
            left.append(Refused(tool.name, why))
        else:
            kept[tool.name] = tool
    return tuple(kept.values()), tuple(left)


def full_names(servers: Sequence[tuple[str, Sequence[str]]]) -> dict[tuple[str, str], str]:
    """(server, tool) → `mcp__server__tool` in letters, digits, `_` and `-`, at most 64 characters, each once.

    A name that is too long, has lost letters, or would be there twice carries a few digits made from the whole of it.
    """
    wanted = {(server, tool): _plain(server, tool) for server, tools in servers for tool in tools}
    often = Counter(wanted.values())
    return {
        pair: name if _is_exact(name, *pair) or (often[name] == 1 and _is_clear(name, *pair)) else _marked(name, *pair)
        for pair, name in wanted.items()
    }


def server_prefix(server: str) -> str:
    """What the names of its tools begin with, as long as they did not have to be changed."""
    return f"{PREFIX}{_slug(server)}__"


def parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as model servers take it: an object with properties."""
    properties = schema.get("properties")
    return {
        **{key: value for key, value in schema.items() if key not in _NOT_AT_THE_ROOT},
        "type": "object",
        "properties": dict(properties) if isinstance(properties, Mapping) else {},
    }


def description(server: str, tool: Offered) -> str:
    said = " ".join(part for part in (tool.title if tool.title != tool.name else "", tool.description) if part)
    shown = with_hidden_shown(said).strip()
    if len(shown) > DESCRIPTION_MAX:
        shown = f"{shown[:DESCRIPTION_MAX].rstrip()} […]"
    return f"Tool {tool.name!r} of the user's MCP server {server!r}; the server says of it: {shown or '(nothing)'}"


def _unfit(schema: Mapping[str, Any]) -> str:
    if schema.get("type", "object") != "object":
        return "its arguments are no object"
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping) or not all(_ARGUMENT.match(str(name)) for name in properties):
        return "its arguments have names that model servers refuse"
    if not _is_flat(schema, DEPTH_MAX):
        return "its schema is nested too deeply"
    try:
        size = len(json.dumps(schema, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return "its schema is no JSON"
    return f"its schema has {size:,} characters" if size > SCHEMA_MAX else ""


def _is_flat(value: Any, depth: int) -> bool:
    if not isinstance(value, Mapping | list):
        return True
    if depth == 0:
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return all(_is_flat(each, depth - 1) for each in inner)


def _plain(server: str, tool: str) -> str:
    return f"{PREFIX}{_slug(server)}__{re.sub(r'[^A-Za-z0-9_-]+', '_', tool)}"


def _slug(server: str) -> str:
    """No two underscores in a row, so that it is clear where the tool's own name begins."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", server).strip("_") or "server"


def _is_exact(name: str, server: str, tool: str) -> bool:
    return len(name) <= NAME_MAX and name == f"{PREFIX}{server}__{tool}"


def _is_clear(name: str, server: str, tool: str) -> bool:
    """Only what separates words was changed."""
    return len(name) <= NAME_MAX and re.fullmatch(r"[A-Za-z0-9_ ./:@-]+", server + tool) is not None


def _marked(name: str, server: str, tool: str) -> str:
    mark = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: NAME_MAX - len(mark) - 1]}_{mark}"
