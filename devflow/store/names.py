"""Ids and names to choose from, read straight from the database file: for a shell's completion, which must be quick.

Nothing is opened for writing, made or mended; what cannot be read is no name.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

MOST = 200

_ENTRIES = "SELECT id, title FROM entries WHERE id LIKE :prefix || '%' AND {} ORDER BY updated_at DESC LIMIT :most"
_QUERIES = {
    "entry": _ENTRIES.format("status != 'archived'"),
    "waiting": _ENTRIES.format("status IN ('candidate', 'pending_review')"),
    "published": _ENTRIES.format("status = 'published'"),
    "archived": _ENTRIES.format("status = 'archived'"),
    "template": _ENTRIES.format("status = 'published' AND kind = 'prompt_template'"),
    "conversation": (
        "SELECT id, title FROM conversations WHERE id LIKE :prefix || '%' AND deleted_at IS NULL"
        " ORDER BY updated_at DESC LIMIT :most"
    ),
    "provider": "SELECT name, base_url FROM providers ORDER BY name LIMIT :most",
    "base": "SELECT name, path FROM knowledge_bases ORDER BY name LIMIT :most",
    "mcp_server": (
        "SELECT json_extract(each.value, '$.name') AS name, ''"
        " FROM app_settings, json_each(app_settings.value, '$.servers') AS each"
        " WHERE app_settings.key = 'mcp_servers' AND name IS NOT NULL ORDER BY name LIMIT :most"
    ),
    "project": "SELECT name, path FROM projects ORDER BY name LIMIT :most",
}


def names(database: Path, what: str, prefix: str) -> list[tuple[str, str]]:
    """What there is of this sort, each with a word about it; of ids only those that begin with `prefix`."""
    try:
        if not database.is_file():
            return []
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=0.5)) as connection:
            found = connection.execute(_QUERIES[what], {"prefix": prefix, "most": MOST}).fetchall()
    except (sqlite3.Error, OSError):
        return []
    return [(str(name), str(about or "")) for name, about in found]
