"""What tools give, as JSON: the shapes of the command line, bounded, without what a visitor is not to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from devflow.domain.knowledge import Entry, TimelineEvent
from devflow.domain.rights import Right, Visitor
from devflow.knowledge.as_json import entry_json, event_json, hit_json

if TYPE_CHECKING:
    from devflow.knowledge.queries import EntryPage
    from devflow.retrieval.hits import Hit
    from devflow.retrieval.pages import PageHit

TEXTS_MAX = 24_000
"""Characters of content in one list, shared by its entries."""
HEAD_MIN = 300
VALUE_MAX = 1_000
"""Characters of a value in a timeline."""

Json = dict[str, Any]


def entry(visitor: Visitor, one: Entry) -> Json:
    """A whole entry."""
    return _shown(visitor, one, entry_json(one), len(one.content))


def entries(visitor: Visitor, page: EntryPage, offset: int) -> Json:
    room = _room(len(page.entries))
    after = offset + len(page.entries)
    return {
        "entries": [_shown(visitor, one, entry_json(one), room) for one in page.entries],
        "total": page.total,
        "next_offset": after if page.entries and after < page.total else None,
    }


def hits(visitor: Visitor, found: Iterable[Hit]) -> Json:
    shown = tuple(found)
    room = _room(len(shown))
    return {"hits": [_shown(visitor, hit.entry, hit_json(hit), room) for hit in shown]}


def events(found: tuple[TimelineEvent, ...], limit: int) -> Json:
    return {"events": [_event(event) for event in found[:limit]], "total": len(found)}


def page(hit: PageHit) -> Json:
    return {
        "path": hit.path,
        "title": hit.title,
        "snippet": hit.snippet,
        "mtime": datetime.fromtimestamp(hit.mtime, UTC).isoformat().replace("+00:00", "Z"),
        "hit_reason": hit.hit_reason.value,
        "score": round(hit.score, 4),
    }


def _room(count: int) -> int:
    return max(HEAD_MIN, TEXTS_MAX // max(count, 1))


def _shown(visitor: Visitor, one: Entry, made: Json, room: int) -> Json:
    """The evidence is a quote from the user's conversations, which are nobody's but the user's below *manage*."""
    evidence = made["evidence"] if visitor.right.holds(Right.MANAGE) else None
    left_out = max(0, len(one.content) - room)
    content = one.content[:room] + "…" if left_out else one.content
    return {**made, "content": content, "content_cut": left_out, "evidence": evidence}


def _event(event: TimelineEvent) -> Json:
    made = event_json(event)
    changes: Mapping[str, list[Any]] = made["changes"]
    return {**made, "changes": {name: [_cut(value) for value in pair] for name, pair in changes.items()}}


def _cut(value: Any) -> Any:
    return f"{value[:VALUE_MAX]}…" if isinstance(value, str) and len(value) > VALUE_MAX else value
