"""Entries and events as JSON, one shape for all edges: the names of spec 01, instants as ISO 8601 in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from devflow.domain.knowledge import Entry, TimelineEvent
from devflow.domain.request import InjectedItem

if TYPE_CHECKING:  # a server that starts quickly loads no database for a shape
    from devflow.knowledge.queries import Stats
    from devflow.knowledge.similar import Likeness
    from devflow.retrieval.contradict import Opposition
    from devflow.retrieval.hits import Hit


def entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind.value,
        "title": entry.title,
        "content": entry.content,
        "tags": list(entry.tags),
        "status": entry.status.value,
        "confidence": entry.confidence,
        "reuse_count": entry.reuse_count,
        "project": asdict(entry.project) if entry.project else None,
        "source_ref": entry.source_ref,
        "created_at": instant_json(entry.created_at),
        "updated_at": instant_json(entry.updated_at),
        "published_at": instant_json(entry.published_at),
        "archived_at": instant_json(entry.archived_at),
        "version": entry.version,
        "evidence": _evidence(entry),
        "embedding": {**asdict(entry.embedding), "status": entry.embedding.status.value},
    }


def hit_json(hit: Hit) -> dict[str, Any]:
    """The entry's fields plus `score` (1.0 is the best hit's) and `match` (why it was found)."""
    match = hit.match
    return {
        **entry_json(hit.entry),
        "score": round(hit.score, 4),
        "match": match_json(match.tier, match.terms, match.fields, match.places, match.similarity),
    }


def item_match_json(item: InjectedItem) -> dict[str, Any]:
    """Why an entry or a page was put into a prompt, in the shape that a search has."""
    fields = [field for field, _ in item.places]
    return match_json(item.reason, item.matched, fields, item.places, item.similarity)


def match_json(
    tier: str,
    terms: Iterable[str],
    fields: Iterable[str],
    places: Iterable[tuple[str, Iterable[str]]],
    similarity: float | None = None,
) -> dict[str, Any]:
    """Why something was found. `tier`: `like`, `term` or `meaning` of an entry; of a page its hit reason."""
    return {
        "tier": tier,
        "terms": list(terms),
        "fields": list(fields),
        "places": {field: list(there) for field, there in places},
        "similarity": None if similarity is None else round(similarity, 3),
    }


def likeness_json(alike: Likeness) -> dict[str, Any]:
    """The entry's fields plus how much it resembles, by which words, and what stands against what."""
    against = alike.contradicts
    return {
        **entry_json(alike.entry),
        "score": round(alike.score, 4),
        "why": list(alike.why),
        "may_contradict": None if against is None else [_opposition_json(each) for each in against.against],
    }


def event_json(event: TimelineEvent) -> dict[str, Any]:
    """`changes` maps a field to [before, after]."""
    return {
        "id": event.id,
        "entry_id": event.entry_id,
        "event": event.event.value,
        "actor": event.actor,
        "at": instant_json(event.at),
        "operation": event.operation,
        "changes": {name: list(pair) for name, pair in event.changes.items()},
        "detail": dict(event.detail),
    }


def stats_json(stats: Stats) -> dict[str, Any]:
    return {
        "total": stats.total,
        "inbox": stats.inbox,
        "reused": stats.reused,
        "statuses": {status.value: count for status, count in stats.statuses.items()},
        "kinds": {kind.value: count for kind, count in stats.kinds.items()},
        "sources": dict(stats.sources),
    }


def instant_json(instant: datetime | None) -> str | None:
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _opposition_json(against: Opposition) -> dict[str, Any]:
    return {
        "kind": against.kind,
        "mine": against.mine,
        "theirs": against.theirs,
        "my_statement": against.my_statement,
        "their_statement": against.their_statement,
    }


def _evidence(entry: Entry) -> dict[str, Any] | None:
    if entry.evidence is None:
        return None
    return {
        "message_ids": list(entry.evidence.message_ids),
        "quote": entry.evidence.quote,
        "role": entry.evidence.role,
    }
