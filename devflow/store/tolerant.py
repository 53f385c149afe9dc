"""Rows that somebody edited by hand, or a disk has spoilt: one of them must not take the rest of the library along.

What is not as it should be reads as empty; the doctor names the rows (`health`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from devflow.domain.foreign_json import loads

log = logging.getLogger(__name__)

UNREADABLE = datetime(1970, 1, 1, tzinfo=UTC)
"""An instant that cannot be read counts as long ago."""


def json_value(text: str | bytes) -> Any:
    """A JSON column's value; None for what is no JSON."""
    try:
        return loads(text)
    except (ValueError, TypeError) as error:
        log.info("a value in the database is not JSON and counts as empty: %s", error)
        return None


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list; of anything else, none."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def text(value: object) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def number(value: object) -> int:
    return value if isinstance(value, int) else 0


def instant(value: object) -> datetime:
    """A stored instant (naive UTC) as an aware one."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC)
    try:
        return datetime.fromisoformat(value).replace(tzinfo=UTC)  # type: ignore[arg-type]  # that it is text is the question
    except (TypeError, ValueError):
        return UNREADABLE
