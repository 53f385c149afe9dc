"""Merging: entries that say the same become one. The first takes the others in; they are archived, and lead to it.

Nothing is lost: the first entry keeps its id, source and evidence, its timeline shows the others' events too, their
uses are added to its own, and the conversations that cited them count as its own. All of it is one operation, so that
one undo puts every entry back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from devflow.domain.errors import InvalidInput, Refused, StaleVersion
from devflow.domain.knowledge import TAGS_MAX, Entry, EntryEdit, EventKind, Status
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, require_human
from devflow.knowledge.review import approve_one, archive_one, checked_fields
from devflow.knowledge.undo import MERGED
from devflow.store import entries, entry_links, timeline
from devflow.store.database import Session, Unit

MERGING = N_("Merging is a human act.")
MOST = 20


@dataclass(frozen=True, slots=True)
class MergeInput:
    """What the merged entry says: the fields to change of the first entry, at the version that was read.

    `versions` are those at which the others were read; one that is not named is taken as it is.
    """

    edit: EntryEdit
    versions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Merged:
    """`operation` is what undo names. `entry` is the merged one, `others` are archived."""

    operation: str
    entry: Entry
    others: tuple[Entry, ...]


def proposal(session: Session, ids: Sequence[str]) -> MergeInput:
    """The first entry's words, then what the others say beyond that, statement by statement; the tags of all."""
    first, *others = _several(session, ids)
    content = first.content
    for other in others:
        content = _joined(content, other.content)
    tags = list(dict.fromkeys(tag for entry in (first, *others) for tag in entry.tags))[:TAGS_MAX]
    edit = EntryEdit(first.version, title=first.title, content=content, tags=tags)
    return MergeInput(edit, {other.id: other.version for other in others})


def merge(unit: Unit, ids: Sequence[str], given: MergeInput, *, actor: Actor, agent_child: bool = False) -> Merged:
    """Raises StaleVersion where one of them changed since it was read, Refused for an archived one; then
    nothing is written. If one of them is published, the merged entry is."""
    require_human(actor, MERGING, agent_child=agent_child)
    first, *others = _several(unit.session, ids)
    for entry in (first, *others):
        if entry.status is Status.ARCHIVED:
            raise Refused(N_("“{title}” is archived; it cannot be merged."), N_("Restore it first."), title=entry.title)
    for other in others:
        if (read := given.versions.get(other.id, other.version)) != other.version:
            raise StaleVersion(other.id, read, other.version)
    act = actor.act()
    merged = [other.id for other in others]
    involved = {id for entry in (first, *others) for id in whole(unit.session, entry.id)}
    entry = entries.update_fields(
        unit,
        first.id,
        given.edit.version,
        checked_fields(given.edit, actor),
        act,
        event=EventKind.MERGED,
        detail={MERGED: merged},
        reuse=sum(_uses(unit.session, other, involved) for other in others),
        always=True,
    )
    if entry.status is not Status.PUBLISHED and any(other.status is Status.PUBLISHED for other in others):
        entry = approve_one(unit, entry.id, act)
    for id in merged:
        entries.link(unit, entry.id, id, "merged", 1.0)
    return Merged(act.operation, entry, tuple(archive_one(unit, id, act, into=entry.id) for id in merged))


def into(session: Session, id: str) -> Entry | None:
    """The entry that this one was merged into."""
    found = entry_links.merged_into(session, id)
    return entries.get(session, found) if found is not None else None


def whole(session: Session, id: str) -> tuple[str, ...]:
    """The entry's id and those of the entries merged into it."""
    return (id, *entry_links.merged_from(session, id))


def _several(session: Session, ids: Sequence[str]) -> tuple[Entry, ...]:
    distinct = tuple(dict.fromkeys(ids))
    if not 2 <= len(distinct) <= MOST:
        raise InvalidInput(
            "ids",
            N_("{count} entries cannot be merged; 2 to {most} can."),
            N_("Name the one that stays, then those that it takes in."),
            count=len(distinct),
            most=MOST,
        )
    return tuple(entries.get(session, id) for id in distinct)


def _uses(session: Session, other: Entry, involved: Collection[str]) -> int:
    """The entry's uses that none of those involved has counted: it may have been restored after an earlier merge."""
    since = 0
    for event in timeline.of_entry(session, other.id):
        former = event.detail.get("merged_into")
        if isinstance(former, str) and former in involved and other.id in entry_links.merged_from(session, former):
            return max(0, since)
        before, after = event.changes.get("reuse_count", (0, 0))
        if isinstance(before, int) and isinstance(after, int):  # a restored timeline says what its file said
            since += after - before
    return other.reuse_count


def _joined(content: str, more: str) -> str:
    """`content`, and below it the paragraphs of `more` that it does not have."""
    known = " ".join(content.split())
    paragraphs = [part.strip() for part in more.split("\n\n") if part.strip()]
    fresh = [part for part in paragraphs if " ".join(part.split()) not in known]
    return "\n\n".join((content.rstrip(), *fresh)) if fresh else content
