"""A knowledge base: a folder of Markdown pages that the user owns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """`path` is absolute, links resolved. `opened_at`: when it was last made the current one."""

    id: str
    name: str
    path: str
    created_at: datetime
    opened_at: datetime | None = None
