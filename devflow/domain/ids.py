"""Identifiers and instants: made in one place so that tests can see what they are."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime


def new_id() -> str:
    """A random UUID as text; never reused."""
    return str(uuid.uuid4())


def now() -> datetime:
    """The present as an aware UTC datetime (microseconds)."""
    return datetime.now(UTC)
