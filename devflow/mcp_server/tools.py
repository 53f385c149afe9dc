"""The tools that other programs get: the library's commands by their names, and the questions to the knowledge base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from devflow.domain.rights import Right
from devflow.mcp_server import acts, looks, schemas
from devflow.mcp_server.room import Room
from devflow.mcp_server.schemas import Schema, limit, taking

Handler = Callable[[Room, Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class McpTool:
    """`right`: what it takes at least. `destroys`: it replaces or hides something that was there."""

    name: str
    title: str
    description: str
    takes: Schema
    gives: Schema
    run: Handler
    right: Right = Right.READ
    destroys: bool = False
    repeatable: bool = False
    reaches_out: bool = False


TOOLS = (
    McpTool(
        "knowledge_search",
        "Search the library",
        "Search the user's library of reviewed engineering knowledge (pitfalls, rules, patterns, diagnoses) by words."
        " Search before you begin a task and before you propose an entry. Only published entries are found.",
        taking(
            {
                "query": {"type": "string", "minLength": 1, "maxLength": schemas.QUERY_MAX},
                "kind": schemas.KIND,
                "limit": limit(3, schemas.LIST_MAX),
            },
            ["query"],
        ),
        schemas.HITS,
        looks.search,
    ),
    McpTool(
        "knowledge_get",
        "Read an entry",
        "One entry of the library, whole.",
        taking({"id": schemas.ID}, ["id"]),
        schemas.ENTRY,
        looks.get,
    ),
    McpTool(
        "knowledge_list",
        "List the library",
        "Published entries, the last changed first. With another status: the entries you proposed that have it.",
        taking(
            {
                "status": {"type": "string", "enum": ["candidate", "pending_review", "published", "archived"]},
                "kind": schemas.KIND,
                "tag": {"type": "string", "minLength": 1, "maxLength": 50},
                "sort": {
                    "type": "string",
                    "enum": ["updated", "created", "reuse", "confidence", "title"],
                    "default": "updated",
                },
                "limit": limit(schemas.LIST_DEFAULT, schemas.LIST_MAX),
                "offset": schemas.OFFSET,
            }
        ),
        schemas.ENTRIES,
        looks.listing,
    ),
    McpTool(
        "knowledge_list_candidates",
        "List what waits for review",
        "The entries you proposed that wait for the user's review, the most confident first.",
        taking(
            {
                "kind": schemas.KIND,
                "limit": limit(schemas.LIST_DEFAULT, schemas.LIST_MAX),
                "offset": schemas.OFFSET,
            }
        ),
        schemas.ENTRIES,
        looks.candidates,
    ),
    McpTool(
        "knowledge_timeline",
        "What happened to an entry",
        "An entry's events, newest first: who did what, and when.",
        taking({"id": schemas.ID, "limit": limit(schemas.LIST_DEFAULT, schemas.EVENTS_MAX)}, ["id"]),
        schemas.EVENTS,
        looks.timeline,
    ),
    McpTool(
        "knowledge_similar",
        "Find similar entries",
        "Entries that resemble an entry (give its id) or a text. Use it before you propose something.",
        taking(
            {
                "id": schemas.ID,
                "text": {"type": "string", "minLength": 1, "maxLength": schemas.TEXT_MAX},
                "limit": limit(5, schemas.LIST_MAX),
            }
        ),
        schemas.HITS,
        looks.similar,
    ),
    McpTool(
        "knowledge_get_config",
        "Read the configuration",
        "How DevFlow learns and uses knowledge.",
        taking(),
        schemas.CONFIG,
        looks.get_config,
    ),
    McpTool(
        "query_knowledge_base",
        "Search the knowledge base",
        "Search the pages of the user's current knowledge base (a folder of Markdown pages) for a question.",
        taking({"query": {"type": "string", "minLength": 1, "maxLength": schemas.QUERY_MAX}}, ["query"]),
        schemas.PAGES,
        looks.query_base,
    ),
    McpTool(
        "current_knowledge_base",
        "The current knowledge base",
        "Which knowledge base is current in DevFlow: its name, its folder, how many pages it has.",
        taking(),
        schemas.BASE,
        looks.current_base,
    ),
    McpTool(
        "knowledge_create",
        "Propose an entry",
        "Propose something worth keeping for later work. It becomes a candidate in the user's inbox; only the user"
        " publishes. Do not propose what a search already finds.",
        taking(
            {
                "kind": schemas.KIND,
                "title": schemas.TITLE,
                "content": schemas.CONTENT,
                "tags": {**schemas.TAGS, "default": []},
                "confidence": {**schemas.CONFIDENCE, "default": 0.5},
                "project": {
                    "type": "string",
                    "maxLength": 1_000,
                    "description": "Folder or name of a project that DevFlow knows, if it holds for that one alone.",
                },
            },
            ["kind", "title", "content"],
        ),
        schemas.CREATED,
        acts.create,
        Right.PROPOSE,
    ),
    McpTool(
        "knowledge_update",
        "Change your proposal",
        "Change fields of an entry you proposed, until the user has decided. Give the version you read.",
        taking(
            {
                "id": schemas.ID,
                "version": {"type": "integer", "description": "The version you read.", "minimum": 1},
                "kind": schemas.KIND,
                "title": schemas.TITLE,
                "content": schemas.CONTENT,
                "tags": schemas.TAGS,
                "confidence": schemas.CONFIDENCE,
            },
            ["id", "version"],
        ),
        schemas.ENTRY,
        acts.update,
        Right.PROPOSE,
        destroys=True,
    ),
    McpTool(
        "knowledge_update_status",
        "Move an entry along",
        "Submit an entry you proposed to review (pending_review), or archive it. No tool publishes: the user does.",
        taking(
            {
                "id": schemas.ID,
                "status": {"type": "string", "enum": ["candidate", "pending_review", "published", "archived"]},
            },
            ["id", "status"],
        ),
        schemas.ENTRY,
        acts.update_status,
        Right.PROPOSE,
        destroys=True,
    ),
    McpTool(
        "knowledge_record_reuse",
        "Record a use",
        "Count one more use of a published entry. Call it when an entry helped you.",
        taking({"id": schemas.ID}, ["id"]),
        schemas.ENTRY,
        acts.record_reuse,
        Right.PROPOSE,
    ),
    McpTool(
        "knowledge_archive",
        "Archive an entry",
        "Archive an entry you proposed, until the user has decided; with the right to manage, any entry.",
        taking(
            {
                "id": schemas.ID,
                "reason": {"type": "string", "maxLength": schemas.REASON_MAX, "default": ""},
            },
            ["id"],
        ),
        schemas.ENTRY,
        acts.archive,
        Right.PROPOSE,
        destroys=True,
    ),
    McpTool(
        "knowledge_save_config",
        "Change the configuration",
        "Change how DevFlow learns and uses knowledge; fields that you leave out stay. Needs the right to manage.",
        taking(
            {
                "config": {
                    "type": "object",
                    "properties": dict(schemas.CONFIG_FIELDS),
                    "additionalProperties": False,
                }
            },
            ["config"],
        ),
        schemas.CONFIG,
        acts.save_config,
        Right.MANAGE,
        destroys=True,
        repeatable=True,
    ),
    McpTool(
        "knowledge_extract_now",
        "Distil a conversation",
        "Have DevFlow's model distil a conversation (default: the latest) into candidates. Needs the right to manage.",
        taking({"conversation_id": {"type": "string", "minLength": 1, "maxLength": 100}}),
        schemas.EXTRACTED,
        acts.extract_now,
        Right.MANAGE,
        reaches_out=True,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
