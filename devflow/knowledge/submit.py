"""The one intake of new entries: by hand, from extraction, MCP and imports. Everything comes in as a candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from devflow.domain.knowledge import Entry, EntryDraft
from devflow.domain.redaction import redact_draft
from devflow.knowledge.acts import Actor, Done
from devflow.retrieval.similar import NEAR, similar_entries
from devflow.store import entries
from devflow.store.database import Unit


def submit(
    unit: Unit,
    drafts: Sequence[EntryDraft],
    *,
    actor: Actor,
    detail: Mapping[str, Any] | None = None,
    operation: str | None = None,
    compared: bool = False,
) -> Done:
    """Take in what a program proposes, within the caller's transaction; as one more step of an `operation`.

    What repeats an entry of any status, archived included, exactly after normalising is not added again: that one gets
    a "seen again" event. Unless a human submits, secrets are taken out first, and an entry is linked to those it nearly
    repeats, but for drafts that were `compared` already. `detail` goes into each event (say, `{"conversation": id}`).
    """
    act = actor.act(operation)
    created: list[Entry] = []
    repeated: list[str] = []
    for given in drafts:
        draft = given if actor.human else redact_draft(given)
        known = entries.duplicate_of(unit.session, draft.title, draft.content)
        if known is not None:
            entries.seen_again(unit, known, act, {**(detail or {}), "source_ref": draft.source_ref})
            repeated.append(known)
            continue
        alike = () if actor.human or compared else similar_entries(unit.session, f"{draft.title}\n{draft.content}")
        entry = entries.insert(unit, draft, act, detail=detail)
        created.append(entry)
        for hit in alike:
            if hit.score >= NEAR:
                entries.link(unit, entry.id, hit.entry.id, "similar", hit.score)
    return Done(act.operation, tuple(created), tuple(repeated))


def create(unit: Unit, draft: EntryDraft, *, actor: Actor) -> Done:
    """Take in what someone typed: never turned away as a repetition (the editor warns instead)."""
    act = actor.act()
    return Done(act.operation, (entries.insert(unit, draft, act),))
