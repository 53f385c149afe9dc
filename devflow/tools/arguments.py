"""Arguments of a call: JSON text in, a checked object out, and a sentence for the model where that fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.tools.refusal import ToolRefused

_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}


def parse_arguments(parameters: Mapping[str, Any], text: str, tool: str) -> dict[str, Any]:
    """The object, with nulls of optional fields left out and defaults filled in; raises `ToolRefused`."""
    try:
        value = loads(text)
    except ValueError as error:
        raise ToolRefused(f"The arguments of {tool} are not valid JSON: {error}. Send one JSON object.") from None
    if not isinstance(value, dict):
        raise ToolRefused(f"The arguments of {tool} are not a JSON object. Send one JSON object.")
    return check_arguments(parameters, value, tool)


def check_arguments(parameters: Mapping[str, Any], value: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """The same for arguments that are an object already."""
    properties: Mapping[str, Mapping[str, Any]] = parameters.get("properties", {})
    required = set(parameters.get("required", ()))
    problems = [f"{name!r} is missing" for name in parameters.get("required", ()) if value.get(name) is None]
    found: dict[str, Any] = {}
    for name, given in value.items():
        if name not in properties:
            problems.append(f"there is no {name!r}")
        elif given is None and name not in required:
            continue
        elif given is not None:
            found[name] = _checked(name, given, properties[name], problems)
    if problems:
        known = ", ".join(f"{name}{'' if name in required else ' (optional)'}" for name in properties) or "none"
        raise ToolRefused(f"The arguments of {tool} do not fit: {'; '.join(problems)}. Arguments: {known}.")
    defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    return {**defaults, **found}


def _checked(name: str, value: Any, schema: Mapping[str, Any], problems: list[str]) -> Any:
    kind = schema.get("type")
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not _is_of(kind, value):
        wanted = "a list" if kind == "array" else _NAMES.get(str(kind), str(kind))
        problems.append(f"{name!r} must be {wanted}, not {json.dumps(value, ensure_ascii=False)[:80]}")
        return value
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{name!r} must be one of {', '.join(map(str, schema['enum']))}")
    if kind in ("integer", "number"):
        if "minimum" in schema and value < schema["minimum"]:
            problems.append(f"{name!r} must be at least {schema['minimum']}")
        if "maximum" in schema and value > schema["maximum"]:
            problems.append(f"{name!r} must be at most {schema['maximum']}")
    if kind == "string":
        if len(value) < schema.get("minLength", 0):
            problems.append(f"{name!r} is empty" if not value else f"{name!r} is too short")
        if "maxLength" in schema and len(value) > schema["maxLength"]:
            problems.append(f"{name!r} has {len(value):,} characters; at most {schema['maxLength']:,} fit")
    if kind == "array":
        for item in value:
            _checked(f"{name}[]", item, schema.get("items", {}), problems)
    return value


def _is_of(kind: object, value: object) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return True
