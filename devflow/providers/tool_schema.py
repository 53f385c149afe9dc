"""A tool's parameters as servers can use them: limits too wide for a grammar are ours alone to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WIDEST = 1_000
"""llama.cpp makes a grammar of a schema and cannot repeat anything much more often than this; it then drops the whole
grammar without a word, and a call that was asked for comes as loose text."""

_LIMITS = frozenset({"maxLength", "minLength", "maxItems", "minItems"})


def sendable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema without such limits; arguments are checked against the whole one when they come back."""
    return {name: _value(name, value) for name, value in schema.items() if not _too_wide(name, value)}


def _too_wide(name: str, value: object) -> bool:
    return name in _LIMITS and isinstance(value, int) and value > WIDEST


def _value(name: str, value: Any) -> Any:
    match value:
        case Mapping() if name == "properties":  # its names are the tool's own, not the schema language's
            return {
                each: sendable_schema(inner) if isinstance(inner, Mapping) else inner for each, inner in value.items()
            }
        case Mapping() if name not in ("default", "const", "example"):
            return sendable_schema(value)
        case list() if name in ("anyOf", "oneOf", "allOf", "prefixItems"):
            return [sendable_schema(inner) if isinstance(inner, Mapping) else inner for inner in value]
        case _:
            return value
