"""Entries that resemble one: those it was linked to when it came in, then those that say nearly the same now."""

from __future__ import annotations

from dataclasses import dataclass

from devflow.domain.knowledge import Entry, Status
from devflow.knowledge.service import Knowledge

MOST = 5
FROM = 0.25
"""Entries that share less than this of their terms have a few words in common, no more."""


@dataclass(frozen=True, slots=True)
class Alike:
    """`score` is the share (0–1) that the two have in common."""

    entry: Entry
    score: float


async def alike(knowledge: Knowledge, id: str) -> tuple[Alike, ...]:
    """Most alike first, archived ones left out."""
    linked = dict(await knowledge.linked(id))
    found = {entry.id: Alike(entry, linked[entry.id]) for entry in await knowledge.knowledge_entries(tuple(linked))}
    for hit in await knowledge.knowledge_alike(id, MOST):
        if hit.score >= FROM:
            found.setdefault(hit.entry.id, Alike(hit.entry, hit.score))
    kept = [each for each in found.values() if each.entry.status is not Status.ARCHIVED]
    return tuple(sorted(kept, key=lambda each: -each.score)[:MOST])
