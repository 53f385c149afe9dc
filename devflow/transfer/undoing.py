"""Taking the entries of an import back: the undo of the window, in parts (`knowledge/undo` does one act at once)."""

from __future__ import annotations

from collections.abc import Sequence

from devflow.domain.errors import Refused
from devflow.domain.knowledge import EventKind, Status
from devflow.domain.messages import N_
from devflow.store import entries
from devflow.store.database import Session, Unit
from devflow.store.timeline import Act

AT_ONCE = 400
UNTOUCHED = 1
"""The version of an entry that nobody has changed since it came in."""


def check_untouched(session: Session, ids: Sequence[str]) -> None:
    """Raise Refused that names the first entry that was changed, or erased, since it came in."""
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        found = entries.get_many(session, some)
        for entry in found:
            if entry.version != UNTOUCHED:
                raise Refused(
                    N_("“{title}” has changed since; nothing was undone."),
                    N_("Open the entry: its timeline shows what changed."),
                    title=entry.title,
                )
        if len(found) < len(some):
            raise Refused(
                N_("The entry was erased since; this act cannot be undone."), N_("What was erased does not come back.")
            )


def put_back(unit: Unit, ids: Sequence[str], operation: str, act: Act) -> None:
    """Archive them; one that somebody changed a moment ago stays as it is now."""
    detail = {"operation": operation}
    for entry in entries.get_many(unit.session, ids):
        if entry.version == UNTOUCHED and entry.status is Status.CANDIDATE:
            entries.compare_and_set_status(
                unit, entry.id, Status.CANDIDATE, Status.ARCHIVED, act, event=EventKind.UNDONE, detail=detail
            )
