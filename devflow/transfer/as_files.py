"""A copy of the library as JSON values and as files: one shape, written and read here.

Nothing in it depends on when or where it is written: the same library gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from devflow.domain.knowledge import EventKind, Evidence, Status, check_confidence, draft
from devflow.domain.text.folding import fold
from devflow.sharing.file_names import file_name
from devflow.store.library_copy import CopiedDismissal, CopiedEntry, CopiedEvent, CopiedLink
from devflow.transfer import front_matter

FORMAT = 1
MANIFEST = "devflow-library.json"
FOLDER = "entries"
MARKDOWN, TIMELINE = ".md", ".timeline.json"
README = "README.md"
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,35}")
README_TEXT = """# A DevFlow library

Each file in `entries` is one entry: its fields between the dashes, then its text, as Markdown. The file beside it that
ends in `.timeline.json` tells what happened to the entry, oldest first. `devflow-library.json` holds what connects
entries, and says that this is a library of DevFlow.

`devflow import` reads this folder, or a zip of it: into an empty library as it was, into any other as candidates.
"""


class NotOurs(ValueError):
    """A value that no export of ours has; the text says which."""


@dataclass(frozen=True, slots=True)
class Named:
    """Where an entry stands in an export, without suffix."""

    entry_id: str
    stem: str


# Writing ------------------------------------------------------------------------------------------------------------


class Names:
    """Names of files that differ on every system: in their letters, not only in case or in how accents are stored."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, entry: CopiedEntry) -> str:
        plain = file_name(entry.title, "", "entry")
        name, number = plain, 1
        while (key := fold(name)) in self._taken:
            number += 1
            name = f"{plain} ({number})"
        self._taken.add(key)
        return name


def entry_files(entry: CopiedEntry, stem: str) -> tuple[tuple[str, bytes], ...]:
    fields = tuple((name, value) for name, value in entry_json(entry).items() if name not in ("content", "timeline"))
    text = front_matter.write(fields, entry.content)
    timeline = [event_json(event) for event in entry.timeline]
    return (
        (f"{FOLDER}/{stem}{MARKDOWN}", text.encode()),
        (f"{FOLDER}/{stem}{TIMELINE}", pretty(timeline)),
    )


def manifest(entries: int, links: Iterable[CopiedLink], dismissals: Iterable[CopiedDismissal]) -> dict[str, Any]:
    return {
        "devflow_library": FORMAT,
        "entry_count": entries,
        "links": [link_json(link) for link in links],
        "not_contradicting": [dismissal_json(each) for each in dismissals],
    }


def pretty(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def entry_json(entry: CopiedEntry) -> dict[str, Any]:
    """An entry in its fields' order, `content` and `timeline` last."""
    evidence = entry.evidence
    return {
        "id": entry.id,
        "kind": entry.kind,
        "title": entry.title,
        "tags": list(entry.tags),
        "status": entry.status,
        "confidence": entry.confidence,
        "reuse_count": entry.reuse_count,
        "project": entry.project,
        "source_ref": entry.source_ref,
        "created_at": instant(entry.created_at),
        "updated_at": instant(entry.updated_at),
        "published_at": instant(entry.published_at),
        "archived_at": instant(entry.archived_at),
        "version": entry.version,
        "evidence": None
        if evidence is None
        else {"message_ids": list(evidence.message_ids), "quote": evidence.quote, "role": evidence.role},
        "content": entry.content,
        "timeline": [event_json(event) for event in entry.timeline],
    }


def event_json(event: CopiedEvent) -> dict[str, Any]:
    return {
        "event": event.event,
        "actor": event.actor,
        "at": instant(event.at),
        "operation": event.operation,
        "changes": dict(event.changes),
        "detail": dict(event.detail),
    }


def link_json(link: CopiedLink) -> dict[str, Any]:
    return {
        "entry": link.entry_id,
        "other": link.other_id,
        "relation": link.relation,
        "score": link.score,
        "created_at": instant(link.created_at),
    }


def dismissal_json(each: CopiedDismissal) -> dict[str, Any]:
    return {
        "entry": each.one_id,
        "other": each.other_id,
        "entry_hash": each.one_hash,
        "other_hash": each.other_hash,
        "created_at": instant(each.created_at),
    }


def instant(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


# Reading ------------------------------------------------------------------------------------------------------------


def to_entry(fields: Mapping[str, Any], content: str, timeline: Any) -> CopiedEntry:
    """Raises `NotOurs` for a field that is missing or of another kind, InvalidInput for one that a rule forbids."""
    evidence = fields.get("evidence")
    tags = fields.get("tags")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise NotOurs("tags")
    checked = draft(
        kind=_text(fields, "kind"),
        title=_text(fields, "title"),
        content=content,
        tags=tags,
        confidence=check_confidence(_number(fields, "confidence")),
        source_ref=_text(fields, "source_ref"),
        evidence=_evidence(evidence) if evidence is not None else None,
    )
    status = _text(fields, "status")
    if status not in tuple(Status):
        raise NotOurs("status")
    project = fields.get("project")
    if project is not None and not isinstance(project, str):
        raise NotOurs("project")
    return CopiedEntry(
        id=_id(fields, "id"),
        kind=checked.kind.value,
        title=checked.title,
        content=checked.content,
        tags=checked.tags,
        status=status,
        confidence=checked.confidence,
        reuse_count=_count(fields, "reuse_count"),
        project=project or None,
        source_ref=checked.source_ref,
        evidence=checked.evidence,
        created_at=_instant(fields, "created_at"),
        updated_at=_instant(fields, "updated_at"),
        published_at=_instant(fields, "published_at") if fields.get("published_at") is not None else None,
        archived_at=_instant(fields, "archived_at") if fields.get("archived_at") is not None else None,
        version=max(1, _count(fields, "version")),
        timeline=to_timeline(timeline),
    )


def to_timeline(value: Any) -> tuple[CopiedEvent, ...]:
    if not isinstance(value, list):
        raise NotOurs("timeline")
    return tuple(_event(each) for each in value)


def to_link(value: Any) -> CopiedLink:
    fields = _mapping(value, "links")
    relation = _text(fields, "relation")
    if relation not in ("similar", "conflict", "merged"):
        raise NotOurs("relation")
    return CopiedLink(
        _id(fields, "entry"), _id(fields, "other"), relation, _number(fields, "score"), _instant(fields, "created_at")
    )


def to_dismissal(value: Any) -> CopiedDismissal:
    fields = _mapping(value, "not_contradicting")
    one, other = _id(fields, "entry"), _id(fields, "other")
    if not one < other:
        raise NotOurs("not_contradicting")
    return CopiedDismissal(
        one, other, _text(fields, "entry_hash"), _text(fields, "other_hash"), _instant(fields, "created_at")
    )


def _event(value: Any) -> CopiedEvent:
    fields = _mapping(value, "timeline")
    event = _text(fields, "event")
    if event not in tuple(EventKind):
        raise NotOurs("event")
    changes = _mapping(fields.get("changes"), "changes")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in changes.values()):
        raise NotOurs("changes")
    return CopiedEvent(
        event,
        _text(fields, "actor"),
        _instant(fields, "at"),
        _operation(fields),
        changes,
        _mapping(fields.get("detail"), "detail"),
    )


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise NotOurs(name)
    return value


def _evidence(value: Any) -> Evidence:
    fields = _mapping(value, "evidence")
    ids = fields.get("message_ids")
    quote, role = fields.get("quote"), fields.get("role")
    if not isinstance(ids, list) or not isinstance(quote, str) or not isinstance(role, str):
        raise NotOurs("evidence")
    return Evidence(tuple(str(id) for id in ids), quote, role)


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise NotOurs(name)
    return value


def _id(fields: Mapping[str, Any], name: str) -> str:
    """Ids stand in lists, in commands and in what shells complete; nothing in one does harm there."""
    value = _text(fields, name)
    if not _ID.fullmatch(value):
        raise NotOurs(name)
    return value


def _operation(fields: Mapping[str, Any]) -> str:
    value = _text(fields, "operation")
    if len(value) > 36 or not value.isprintable():  # as wide as its column
        raise NotOurs("operation")
    return value


def _number(fields: Mapping[str, Any], name: str) -> float:
    try:
        return float(fields[name])
    except (KeyError, TypeError, ValueError):
        raise NotOurs(name) from None


def _count(fields: Mapping[str, Any], name: str) -> int:
    try:
        value = int(fields[name])
    except (KeyError, TypeError, ValueError):
        raise NotOurs(name) from None
    if not 0 <= value < 2**31:
        raise NotOurs(name)
    return value


def _instant(fields: Mapping[str, Any], name: str) -> datetime:
    try:
        at = datetime.fromisoformat(_text(fields, name))
    except ValueError:
        raise NotOurs(name) from None
    if at.tzinfo is None:
        raise NotOurs(name)
    return at.astimezone(UTC)
