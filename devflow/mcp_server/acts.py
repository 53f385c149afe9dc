"""The tools that change something. None publishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.knowledge import UNSET, EntryEdit, draft
from devflow.domain.messages import N_
from devflow.domain.rights import Right
from devflow.mcp_server import results
from devflow.mcp_server.room import Room

Arguments = Mapping[str, Any]
Json = dict[str, Any]

IN_THE_INBOX = "The candidate is in the user's inbox; the user decides whether it is published."
REPEATED = "DevFlow has exactly this already; it was noted that it came up again, and nothing was added."


async def create(room: Room, given: Arguments) -> Json:
    room.visitor.require(Right.PROPOSE)
    named = given.get("project")
    proposed = draft(
        kind=given["kind"],
        title=given["title"],
        content=given["content"],
        tags=given["tags"],
        confidence=given["confidence"],
        project_id=None if named is None else await _project_id(room, named),
    )
    entry, new = await room.library.create(room.visitor, proposed)
    shown = {} if entry is None else results.entry(room.visitor, entry)
    return {**shown, "repeated": not new, "note": IN_THE_INBOX if new else REPEATED}


async def update(room: Room, given: Arguments) -> Json:
    room.visitor.require(Right.PROPOSE)
    fields = ("kind", "title", "content", "tags", "confidence")
    if not any(name in given for name in fields):
        raise InvalidInput("version", N_("There is nothing to change."), N_("Name a field with its new value."))
    edit = EntryEdit(given["version"], **{name: given.get(name, UNSET) for name in fields})
    return results.entry(room.visitor, await room.library.update(room.visitor, given["id"], edit))


async def update_status(room: Room, given: Arguments) -> Json:
    entry = await room.library.update_status(room.visitor, given["id"], given["status"])
    return results.entry(room.visitor, entry)


async def record_reuse(room: Room, given: Arguments) -> Json:
    return results.entry(room.visitor, await room.library.record_reuse(room.visitor, given["id"]))


async def archive(room: Room, given: Arguments) -> Json:
    entry = await room.library.archive(room.visitor, given["id"], given["reason"])
    return results.entry(room.visitor, entry)


async def save_config(room: Room, given: Arguments) -> Json:
    return {"knowledge_config": asdict(await room.library.save_config(room.visitor, given["config"]))}


async def extract_now(room: Room, given: Arguments) -> Json:
    from devflow.extraction.outcome import State

    room.visitor.require(Right.MANAGE)
    distilling = room.core.extraction.extract_now(given.get("conversation_id"), asked_by=room.visitor.source_ref)
    outcome = await room.cancelled_once(distilling)
    if outcome.problem is not None:
        raise outcome.problem
    if outcome.state not in (State.DONE, State.NOTHING_NEW, State.RUNNING):
        raise Refused(
            N_("Nothing was distilled: {detail}."), N_("The user sees why in DevFlow."), detail=outcome.detail
        )
    return outcome.as_json()


async def _project_id(room: Room, named: str) -> str:
    """A project that DevFlow knows, by id, folder or name; another program makes none."""
    known = await room.core.projects.list()
    found = [project for project in known if named in (project.id, project.name) or _same(named, project.path)]
    if len(found) == 1:
        return found[0].id
    raise InvalidInput(
        "project",
        N_("DevFlow knows no single project by the name {name}."),
        N_("Leave it out: the entry then holds everywhere until the user says otherwise."),
        name=named[:200],
    )


def _same(named: str, path: str) -> bool:
    return named.rstrip("/\\") == path or str(Path(named)) == path
