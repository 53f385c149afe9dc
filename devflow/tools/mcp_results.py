"""What a server answered, as text for the model: text as it is, structure as JSON, all else named for what it is.

`answer` is the result as plain JSON, with the protocol's own names (`content`, `structuredContent`, `isError`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from devflow.domain.text.hidden import with_hidden_shown
from devflow.tools.tool import ToolOutcome

RESULT_MAX = 40_000  # characters
BLOCKS_MAX = 200
_ERROR_MAX = 500


def outcome_of(answer: Mapping[str, Any], server: str) -> ToolOutcome:
    """Text within bounds; an answer that calls itself an error is a failure, with its beginning as the sentence."""
    blocks = answer.get("content")
    parts = [_block(block) for block in blocks[:BLOCKS_MAX]] if isinstance(blocks, list) else []
    if isinstance(blocks, list) and len(blocks) > BLOCKS_MAX:
        parts.append(f"[{len(blocks) - BLOCKS_MAX:,} more parts were left out]")
    structured = answer.get("structuredContent")
    if structured is not None and not _is_said(structured, parts):
        parts.append(_json(structured))
    text = _within("\n".join(part for part in parts if part), RESULT_MAX)  # first: it may be megabytes
    text = _within(with_hidden_shown(text), RESULT_MAX)
    if answer.get("isError") is True:
        said = " ".join(text.split())
        short = f"{said[:_ERROR_MAX].rstrip()} […]" if len(said) > _ERROR_MAX else said
        why = f"The MCP server {server} reports an error: {short or 'it does not say which'}"
        return ToolOutcome(text if len(said) > _ERROR_MAX else "", why)
    return ToolOutcome(text or "(the answer is empty)")


def _block(block: Any) -> str:
    if not isinstance(block, Mapping):
        return ""
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio" as kind:
            form = block.get("mimeType", "of unknown type")
            return f"[{_a(kind)}, {form}, {_size(block.get('data'))}: not shown to you]"
        case "resource_link":
            return f"[a link to {block.get('uri', '?')}: {block.get('title') or block.get('name') or 'no title'}]"
        case "resource":
            return _resource(block.get("resource"))
        case kind:
            return f"[a part of the unknown type {str(kind)[:40]!r} was left out]"


def _resource(resource: Any) -> str:
    if not isinstance(resource, Mapping):
        return "[a resource that cannot be read]"
    uri = str(resource.get("uri", "?"))
    if isinstance(resource.get("text"), str):
        return f"[{uri}]\n{resource['text']}"
    kind = resource.get("mimeType", "of unknown type")
    return f"[{uri}: data, {kind}, {_size(resource.get('blob'))}: not shown to you]"


def _a(kind: str) -> str:
    return "an image" if kind == "image" else "a sound"


def _size(data: Any) -> str:
    return f"{len(data) * 3 // 4:,} bytes" if isinstance(data, str) else "of unknown size"


def _is_said(structured: Any, parts: list[str]) -> bool:
    """Servers repeat the structure as a text, for clients that know only text."""
    for part in parts:
        try:
            said = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if said == structured or {"result": said} == structured:
            return True
    if not (isinstance(structured, Mapping) and len(structured) == 1):
        return False
    (only,) = structured.values()  # `{"result": …}`, `{"content": …}`
    return str(only).strip() in {"\n".join(parts).strip(), *(part.strip() for part in parts)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _within(text: str, limit: int) -> str:
    """Head and tail: what matters may stand at either."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return f"{text[:head]}\n[… {len(text) - head - tail:,} characters were left out …]\n{text[-tail:]}"
