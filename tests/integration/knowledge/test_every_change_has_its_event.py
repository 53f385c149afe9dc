"""No code path changes a row without its timeline event (spec 01): random acts, played back from their events."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Entry, EntryEdit, EventKind, Status, TimelineEvent, draft
from devflow.store import search_index
from tests.support.library import AI, USER, Library, open_library

ACTS = (
    "create",
    "submit",
    "edit",
    "edit_all",
    "status",
    "approve",
    "archive",
    "restore",
    "reuse",
    "erase",
    "undo",
    "redo",
)
STEP = st.tuples(st.sampled_from(ACTS), st.integers(0, 5), st.integers(0, 3), st.sampled_from([USER, USER, USER, AI]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=1, max_size=25))
def test_any_sequence_of_acts_leaves_timeline_and_rows_in_agreement(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder) / "home", steps))


async def _play(home: Path, steps: list[Any]) -> None:
    async with open_library(home) as library:
        ids: list[str] = []
        operations: list[str] = []
        for act, which, how, actor in steps:
            before, told = await _rows(library), len(library.published)
            counted = await _count_events(library)
            try:
                done = await _do(library, act, ids, operations, which, how, actor)
            except (UserFacing, IndexError):
                assert await _rows(library) == before
                assert await _count_events(library) == counted
                assert len(library.published) == told
                continue
            operations.append(done.operation)
            ids += [entry.id for entry in done.entries if entry.id not in ids]
            changed = {id for id, row in (await _rows(library)).items() if before.get(id) != row}
            assert changed <= {entry.id for entry in done.entries}
        await _check(library, ids)


async def _do(
    library: Library, act: str, ids: list[str], operations: list[str], which: int, how: int, actor: Any
) -> Any:
    knowledge = library.knowledge
    made = draft(kind="pitfall", title=f"Title {how}", content=f"Text {which}", tags=[f"t{how}"])

    def one() -> str:
        return ids[which % len(ids)] if ids else ids[0]

    async def edit(**fields: Any) -> Any:
        entry = await knowledge.knowledge_get(one())
        return await knowledge.knowledge_update(entry.id, EntryEdit(entry.version, **fields), actor=actor)

    acts: dict[str, Callable[[], Awaitable[Any]]] = {
        "create": lambda: knowledge.knowledge_create(made, actor=actor),
        "submit": lambda: knowledge.knowledge_submit([made], actor=actor),
        "edit": lambda: edit(title=f"Edited {how}"),
        "edit_all": lambda: edit(content=f"All {which}", tags=[str(which)], confidence=how / 3, kind="diagnosis"),
        "status": lambda: knowledge.knowledge_update_status(one(), list(Status)[how].value, actor=actor),
        "approve": lambda: knowledge.knowledge_approve([one(), ids[how % len(ids)]], actor=actor),
        "archive": lambda: knowledge.knowledge_archive([one(), ids[how % len(ids)]], actor=actor),
        "restore": lambda: knowledge.knowledge_restore(one(), actor=actor),
        "reuse": lambda: knowledge.knowledge_record_reuse(one(), actor=actor),
        "erase": lambda: knowledge.knowledge_erase(one(), actor=actor),
        "undo": lambda: knowledge.knowledge_undo(operations[-1 - which % max(len(operations), 1)], actor=actor),
        "redo": lambda: knowledge.knowledge_redo(operations[-1 - which % max(len(operations), 1)], actor=actor),
    }
    return await acts[act]()


async def _check(library: Library, ids: list[str]) -> None:
    left = {
        entry.id: entry for entry in (await library.knowledge.knowledge_list(statuses=list(Status), limit=1000)).entries
    }
    for id in ids:
        events = await library.events(id)
        if id in left:
            _replay(left[id], events)
        else:
            assert events[-1].event is EventKind.ERASED
    assert await library.db.read(search_index.check) == []


def _replay(entry: Entry, events: list[TimelineEvent]) -> None:
    """Going back from the row as it is, every event fits what came after it, down to the creation."""
    values: dict[str, Any] = {
        "kind": entry.kind.value,
        "title": entry.title,
        "content": entry.content,
        "tags": list(entry.tags),
        "confidence": entry.confidence,
        "status": entry.status.value,
        "reuse_count": entry.reuse_count,
        "project_id": None,
    }
    assert entry.version == max(event.detail.get("version", 0) for event in events)
    moves = [event for event in events if "version" in event.detail]
    assert [event.detail["version"] for event in moves] == list(range(1, entry.version + 1))
    assert entry.updated_at == moves[-1].at
    assert [event.at for event in events] == sorted(event.at for event in events)
    for event in reversed(events):
        for name, (before, after) in event.changes.items():
            assert values[name] == after, (event, name)
            values[name] = before
    assert (values["status"], values["reuse_count"], events[0].event) == ("candidate", 0, EventKind.CREATED)


async def _rows(library: Library) -> dict[str, Any]:
    query = text("SELECT * FROM entries")
    return {row.id: tuple(row) for row in await library.db.read(lambda session: session.execute(query).all())}


async def _count_events(library: Library) -> int:
    query = text("SELECT count(*) FROM entry_events")
    return await library.db.read(lambda session: int(session.execute(query).scalar_one()))
