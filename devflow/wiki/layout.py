"""Where things stand in a knowledge base, and which of its files are pages (spec 02, A knowledge base on disk)."""

from __future__ import annotations

MARKER = ".wiki-schema.md"
"""A folder that has it is a knowledge base; so is one with a `wiki/` folder."""
WIKI = "wiki"
META_PAGES = ("purpose.md", "index.md", "overview.md")
"""Pages at the root, beside everything below `wiki/`."""
OVERVIEW = f"{WIKI}/overview.md"
SESSIONS = f"{WIKI}/synthesis/sessions/"
RAW = "raw"
LOG = "log.md"
FOLDERS = (RAW, *(f"{WIKI}/{name}" for name in ("entities", "topics", "sources", "comparisons", "queries")), SESSIONS)
SUFFIX = ".md"
PAGE_MAX = 5_000_000
"""Bytes; a larger file is listed as skipped."""


def is_meta(path: str) -> bool:
    """Whether the page says what the whole knowledge base is about."""
    return path in META_PAGES or path == OVERVIEW


def is_session(path: str) -> bool:
    """Whether the page was written by a digest or by `/sediment`."""
    return path.startswith(SESSIONS)


def stem(path: str) -> str:
    """The file's name without its suffix."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)
