"""Entries as resources: `devflow://knowledge/{id}`, each a Markdown text."""

from __future__ import annotations

from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Entry
from devflow.mcp_server.calls import sentences
from devflow.mcp_server.room import Room

SCHEME = "devflow://knowledge/"
TEMPLATE = f"{SCHEME}{{id}}"
MARKDOWN = "text/markdown"
PAGE = 100


async def listed(room: Room, cursor: str | None) -> types.ListResourcesResult:
    """The published entries, the last changed first."""
    offset = offset_of(cursor)
    page = await room.library.list(room.visitor, limit=PAGE, offset=offset)
    after = offset + len(page.entries)
    return types.ListResourcesResult(
        resources=[_resource(entry) for entry in page.entries],
        next_cursor=str(after) if page.entries and after < page.total else None,
    )


def templates() -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        name="knowledge",
        title="An entry of the library",
        uri_template=TEMPLATE,
        description="An entry of the user's library of reviewed knowledge, by its id.",
        mime_type=MARKDOWN,
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read(room: Room, uri: str) -> types.ReadResourceResult:
    """Raises MCPError for what is no entry, or none that this client sees."""
    try:
        entry = await room.library.get(room.visitor, entry_id(uri))
    except UserFacing as problem:
        raise MCPError(types.INVALID_PARAMS, " ".join(sentences(problem))) from problem
    text = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=_markdown(entry))
    return types.ReadResourceResult(contents=[text])


def entry_id(uri: str) -> str:
    """Raises MCPError for the address of anything else."""
    if not uri.startswith(SCHEME):
        raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri[:200]!r}: they begin with {SCHEME}.")
    return unquote(uri.removeprefix(SCHEME))


def offset_of(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 8:
        return int(cursor)
    raise MCPError(types.INVALID_PARAMS, "The cursor is none that this server gave.")


def _resource(entry: Entry) -> types.Resource:
    tags = f"; {', '.join(entry.tags)}" if entry.tags else ""
    return types.Resource(
        name=entry.title,
        title=entry.title,
        uri=f"{SCHEME}{quote(entry.id, safe='')}",
        description=f"{entry.kind.value}{tags}",
        mime_type=MARKDOWN,
    )


def _markdown(entry: Entry) -> str:
    about = [entry.kind.value, entry.status.value, f"changed {entry.updated_at:%Y-%m-%d}"]
    if entry.project is not None:
        about.append(f"project: {entry.project.name}")
    if entry.tags:
        about.append("tags: " + ", ".join(entry.tags))
    return f"# {entry.title}\n\n{'; '.join(about)}\n\n{entry.content}"
