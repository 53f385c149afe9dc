"""The form of the answer that the model is asked for."""

from __future__ import annotations

from typing import Any

from devflow.domain.knowledge import Kind

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
                    "title": {"type": "string"},
                    "content": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "confidence": {"type": "number"},
                    "evidence": {"type": "string"},
                },
                "required": ["kind", "title", "content", "tags", "confidence", "evidence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}
"""What the model is asked for, in the part of JSON Schema that every provider's strict mode takes."""
