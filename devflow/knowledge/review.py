"""Acts on entries that are there: edit, move along the statuses, archive, restore, erase, count a use.

Each function is one transaction's work; all of its events carry one operation id, and several entries change together
or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from devflow.domain.errors import NotFound, Refused
from devflow.domain.knowledge import (
    Entry,
    EntryEdit,
    EventKind,
    Status,
    Unset,
    check_confidence,
    check_content,
    check_kind,
    check_status,
    check_tags,
    check_title,
)
from devflow.domain.messages import N_
from devflow.domain.redaction import redact_content, redact_tags, redact_title
from devflow.knowledge.acts import Actor, Done, require_human
from devflow.store import entries
from devflow.store.database import Unit
from devflow.store.timeline import Act

PUBLISHING = N_("Publishing is a human act.")
APPROVING = N_("Approving is a human act.")
ERASING = N_("Erasing is a human act.")
CHANGING_PUBLISHED = N_("Changing a published entry is a human act.")


def update(
    unit: Unit, id: str, edit: EntryEdit, *, actor: Actor, agent_child: bool = False, approve_too: bool = False
) -> Done:
    """Change the named fields (KP-5: one event, before and after of each); `approve_too` publishes in the same act."""
    current = entries.get(unit.session, id)
    if current.status is Status.PUBLISHED:
        require_human(actor, CHANGING_PUBLISHED, agent_child=agent_child)
    act = actor.act()
    entry = entries.update_fields(unit, id, edit.version, checked_fields(edit, actor), act)
    if approve_too:
        require_human(actor, APPROVING, agent_child=agent_child)
        entry = approve_one(unit, id, act)
    return Done(act.operation, (entry,))


def change_status(unit: Unit, id: str, status: str, *, actor: Actor, agent_child: bool = False) -> Done:
    """One edge of the table of transitions; anything else is InvalidTransition, a repeated request included."""
    wanted = check_status(status)
    if wanted is Status.PUBLISHED:
        require_human(actor, PUBLISHING, agent_child=agent_child)
    act = actor.act()
    current = entries.get(unit.session, id).status
    return Done(act.operation, (entries.compare_and_set_status(unit, id, current, wanted, act),))


def approve(unit: Unit, ids: Iterable[str], *, actor: Actor, agent_child: bool = False) -> Done:
    """Candidate or pending review → published, through pending review, both steps in the timeline."""
    require_human(actor, APPROVING, agent_child=agent_child)
    act = actor.act()
    return Done(act.operation, tuple(approve_one(unit, id, act) for id in _distinct(ids)))


def send_to_review(unit: Unit, ids: Iterable[str], *, actor: Actor) -> Done:
    """Candidates → pending review, several in one act."""
    act = actor.act()
    step = (Status.CANDIDATE, Status.PENDING_REVIEW)
    return Done(act.operation, tuple(entries.compare_and_set_status(unit, id, *step, act) for id in _distinct(ids)))


def restore(unit: Unit, ids: Iterable[str], *, actor: Actor) -> Done:
    """Archived → candidate: back into the inbox, never straight to published."""
    act = actor.act()
    return Done(act.operation, tuple(restore_one(unit, id, act) for id in _distinct(ids)))


def archive(unit: Unit, ids: Iterable[str], *, actor: Actor, reason: str = "") -> Done:
    """A soft delete, from any of the three other statuses; nothing is physically deleted."""
    act = actor.act()
    return Done(act.operation, tuple(archive_one(unit, id, act, reason) for id in _distinct(ids)))


def erase(unit: Unit, id: str, *, actor: Actor, agent_child: bool = False) -> Done:
    """For privacy: remove the entry and every text of it; a tombstone stays in the timeline. Cannot be undone."""
    require_human(actor, ERASING, agent_child=agent_child)
    act = actor.act()
    entries.erase(unit, id, act)
    return Done(act.operation, ())


def record_reuse(unit: Unit, id: str, *, actor: Actor, detail: Mapping[str, Any] | None = None) -> Done:
    """Count one more use; published entries only."""
    act = actor.act()
    entry = entries.bump_reuse(unit, id, actor=act.actor, operation=act.operation, detail=detail)
    if entry is None:
        current = entries.get(unit.session, id).status
        raise Refused(
            N_("Only a published entry is reused; this one is {status}."),
            N_("Publish it first."),
            status=current.value,
        )
    return Done(act.operation, (entry,))


def widen_project(unit: Unit, id: str, *, actor: Actor, agent_child: bool = False) -> Done:
    """Let a project's entry hold everywhere."""
    return update(
        unit,
        id,
        EntryEdit(entries.get(unit.session, id).version, project_id=None),
        actor=actor,
        agent_child=agent_child,
    )


def approve_one(unit: Unit, id: str, act: Act) -> Entry:
    """One step of `approve` within a running act, whose maker has checked that a human acts."""
    if entries.get(unit.session, id).status is Status.CANDIDATE:
        entries.compare_and_set_status(unit, id, Status.CANDIDATE, Status.PENDING_REVIEW, act)
    return entries.compare_and_set_status(unit, id, Status.PENDING_REVIEW, Status.PUBLISHED, act)


def restore_one(unit: Unit, id: str, act: Act) -> Entry:
    return entries.compare_and_set_status(unit, id, Status.ARCHIVED, Status.CANDIDATE, act, event=EventKind.RESTORED)


def archive_one(unit: Unit, id: str, act: Act, reason: str = "", *, into: str = "") -> Entry:
    """`into`: the entry that it was merged into."""
    current = entries.get(unit.session, id).status
    detail = {name: value for name, value in (("reason", reason), ("merged_into", into)) if value}
    return entries.compare_and_set_status(unit, id, current, Status.ARCHIVED, act, detail=detail)


def checked_fields(edit: EntryEdit, actor: Actor) -> dict[str, Any]:
    """The named fields' values by the entry's rules; raises InvalidInput for the first bad one.

    Unless a human edits, secrets are taken out first, as they are on the way in.
    """
    checks: Mapping[str, Callable[[Any], Any]] = {
        "kind": check_kind,
        "title": check_title,
        "content": check_content,
        "tags": check_tags,
        "confidence": check_confidence,
        "project_id": lambda project_id: project_id,
    }
    named = {name: getattr(edit, name) for name in checks}
    checked = {name: checks[name](value) for name, value in named.items() if not isinstance(value, Unset)}
    if actor.human:
        return checked
    return {name: _REDACTED[name](value) if name in _REDACTED else value for name, value in checked.items()}


_REDACTED: Mapping[str, Callable[[Any], Any]] = {
    "title": redact_title,
    "content": redact_content,
    "tags": redact_tags,
}


def _distinct(ids: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(ids))
    if not found:
        raise NotFound(entries.WHAT, "")
    return found
