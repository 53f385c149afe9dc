"""The JSON schemas of what the tools take and give. Additions to a result are no break; so results are left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from devflow.domain.config import IDLE_TIMEOUT_RANGE_MS, MIN_MESSAGES_RANGE, TriggerMode
from devflow.domain.knowledge import CONTENT_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX, Kind, Status

Schema = dict[str, Any]

LIST_MAX = 50
LIST_DEFAULT = 20
EVENTS_MAX = 100
QUERY_MAX = 2_000
TEXT_MAX = CONTENT_MAX
REASON_MAX = 500

ID: Schema = {"type": "string", "description": "The entry's id.", "minLength": 1, "maxLength": 100}
KIND: Schema = {"type": "string", "enum": [*Kind]}
TITLE: Schema = {"type": "string", "description": "One line.", "minLength": 1, "maxLength": TITLE_MAX}
CONTENT: Schema = {
    "type": "string",
    "description": "Markdown that is understood without this conversation. No secrets: they are taken out.",
    "minLength": 1,
    "maxLength": CONTENT_MAX,
}
TAGS: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "description": f"At most {TAGS_MAX}, of at most {TAG_MAX} characters each.",
}
CONFIDENCE: Schema = {"type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are that it holds."}
OFFSET: Schema = {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0}

_TEXT: Schema = {"type": "string"}
_MAYBE_TEXT: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}


def limit(default: int, most: int) -> Schema:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}


def taking(properties: Mapping[str, Schema] | None = None, required: Sequence[str] = ()) -> Schema:
    """What a tool takes."""
    made: Schema = {"type": "object", "properties": dict(properties or {}), "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


def giving(properties: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    """What a tool gives; everything but `optional` is always there."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


ENTRY_FIELDS: Mapping[str, Schema] = {
    "id": _TEXT,
    "kind": KIND,
    "title": _TEXT,
    "content": {**_TEXT, "description": "Markdown. In lists only its head."},
    "content_cut": {**_COUNT, "description": "Characters left out of content; knowledge_get has them."},
    "tags": {"type": "array", "items": _TEXT},
    "status": {"type": "string", "enum": [*Status]},
    "confidence": {"type": "number"},
    "reuse_count": _COUNT,
    "project": {"type": ["object", "null"], "description": "The project it holds for; null: everywhere."},
    "source_ref": _TEXT,
    "created_at": {**_TEXT, "format": "date-time"},
    "updated_at": {**_TEXT, "format": "date-time"},
    "published_at": {**_MAYBE_TEXT, "format": "date-time"},
    "archived_at": {**_MAYBE_TEXT, "format": "date-time"},
    "version": {"type": "integer"},
    "evidence": {"type": ["object", "null"]},
    "embedding": {"type": "object"},
}
ENTRY = giving(ENTRY_FIELDS)
ENTRIES = giving(
    {
        "entries": {"type": "array", "items": ENTRY},
        "total": _COUNT,
        "next_offset": {"type": ["integer", "null"], "description": "Where the next page begins; null: this is all."},
    }
)
HITS = giving(
    {
        "hits": {
            "type": "array",
            "items": giving(
                {
                    **ENTRY_FIELDS,
                    "score": {
                        "type": "number",
                        "description": "Of a search relative to the best hit; of similar entries 1: the same words.",
                    },
                    "match": {"type": "object", "description": "Why it was found."},
                }
            ),
        }
    }
)
CREATED = giving(
    {
        **ENTRY_FIELDS,
        "repeated": {"type": "boolean", "description": "True: DevFlow had exactly this already; nothing was added."},
        "note": _TEXT,
    },
    optional=tuple(ENTRY_FIELDS),
)
EVENTS = giving(
    {
        "events": {
            "type": "array",
            "items": giving(
                {
                    "id": {"type": "integer"},
                    "entry_id": _TEXT,
                    "event": _TEXT,
                    "actor": _TEXT,
                    "at": {**_TEXT, "format": "date-time"},
                    "operation": _TEXT,
                    "changes": {"type": "object", "description": "Field to [before, after]; null where not shown."},
                    "detail": {"type": "object"},
                }
            ),
        },
        "total": _COUNT,
    }
)
CONFIG_FIELDS: Mapping[str, Schema] = {
    "auto_extract": {"type": "boolean"},
    "trigger_mode": {"type": "string", "enum": [*TriggerMode]},
    "min_messages": {"type": "integer", "minimum": MIN_MESSAGES_RANGE[0], "maximum": MIN_MESSAGES_RANGE[1]},
    "idle_timeout_ms": {"type": "integer", "minimum": IDLE_TIMEOUT_RANGE_MS[0], "maximum": IDLE_TIMEOUT_RANGE_MS[1]},
    "auto_inject": {"type": "boolean"},
    "vector_enabled": {"type": "boolean"},
    "embedding_provider_id": _MAYBE_TEXT,
    "embedding_model": _MAYBE_TEXT,
}
CONFIG = giving({"knowledge_config": giving(CONFIG_FIELDS)})
EXTRACTED = giving(
    {
        "state": _TEXT,
        "created": _COUNT,
        "repeated": _COUNT,
        "conversation_id": _TEXT,
        "entry_ids": {"type": "array", "items": _TEXT},
        "detail": _TEXT,
    }
)
PAGES = giving(
    {
        "knowledge_base": giving({"name": _TEXT, "path": _TEXT}),
        "pages": {
            "type": "array",
            "items": giving(
                {
                    "path": {**_TEXT, "description": "Relative to the knowledge base."},
                    "title": _TEXT,
                    "snippet": _TEXT,
                    "mtime": {**_TEXT, "format": "date-time"},
                    "hit_reason": _TEXT,
                    "score": {"type": "number"},
                }
            ),
        },
        "matching": {**_COUNT, "description": "All pages that match, shown or not."},
        "missing": {"type": "array", "items": _TEXT, "description": "Pages the query names that are not there."},
    }
)
BASE = giving({"selected": {"type": "boolean"}, "name": _MAYBE_TEXT, "path": _MAYBE_TEXT, "pages": _COUNT})
