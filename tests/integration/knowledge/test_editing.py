"""Editing an entry: versions, conflicts, and the timeline's field diffs (KP-5)."""

from pathlib import Path

import pytest

from devflow.domain.errors import HumanOnly, InvalidInput, NotFound, StaleVersion
from devflow.domain.knowledge import EntryEdit, EventKind, Status
from tests.support.library import AI, USER, Library


async def test_kp5_an_edit_leaves_an_event_with_before_and_after_of_each_field(library: Library) -> None:
    entry = await library.add("Old", tags=["a"], confidence=0.5)
    edit = EntryEdit(entry.version, title="New", tags=["a", "b"], kind="diagnosis", content=entry.content)
    done = await library.knowledge.knowledge_update(entry.id, edit, actor=USER)
    event = (await library.events(entry.id))[-1]
    assert (event.event, event.actor, event.operation) == (EventKind.UPDATED, "user", done.operation)
    assert event.changes == {
        "kind": ("pitfall", "diagnosis"),
        "title": ("Old", "New"),
        "tags": (["a"], ["a", "b"]),
    }
    assert event.at == done.entries[0].updated_at


async def test_an_edit_at_an_old_version_is_a_conflict_and_writes_nothing(library: Library) -> None:
    entry = await library.add()
    changed = (
        await library.knowledge.knowledge_update(entry.id, EntryEdit(entry.version, title="Theirs"), actor=USER)
    ).entries[0]
    with pytest.raises(StaleVersion) as refused:
        await library.knowledge.knowledge_update(entry.id, EntryEdit(entry.version, title="Mine"), actor=USER)
    assert (refused.value.read, refused.value.current) == (entry.version, changed.version)
    assert await library.knowledge.knowledge_get(entry.id) == changed


async def test_an_edit_that_changes_nothing_leaves_no_event_and_no_version(library: Library) -> None:
    entry = await library.add(tags=["a"])
    edit = EntryEdit(entry.version, title=f" {entry.title} ", tags=["a", "A"], confidence=1.0)
    done = await library.knowledge.knowledge_update(entry.id, edit, actor=USER)
    assert done.entries == (entry,)
    assert len(await library.events(entry.id)) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"title": ""},
        {"content": " "},
        {"kind": "lesson"},
        {"tags": ["x" * 51]},
        {"confidence": 2.0},
    ],
)
async def test_an_edit_obeys_the_entrys_rules(library: Library, fields: dict[str, object]) -> None:
    entry = await library.add()
    with pytest.raises(InvalidInput) as refused:
        await library.knowledge.knowledge_update(entry.id, EntryEdit(entry.version, **fields), actor=USER)  # type: ignore[arg-type]
    assert refused.value.field == next(iter(fields))
    assert await library.knowledge.knowledge_get(entry.id) == entry


async def test_version_and_updated_at_move_with_the_text_the_project_and_the_status_alone(
    library: Library, tmp_path: Path
) -> None:
    project = await library.projects.ensure(tmp_path)
    entry = await library.add(status=Status.PUBLISHED)
    used = (await library.knowledge.knowledge_record_reuse(entry.id, actor=AI)).entries[0]
    assert (used.version, used.updated_at, used.reuse_count) == (entry.version, entry.updated_at, 1)
    version = used.version
    for fields in (
        {"kind": "diagnosis"},
        {"title": "Other"},
        {"content": "Other"},
        {"tags": ["other"]},
        {"confidence": 0.25},
        {"project_id": project.id},
    ):
        edit = EntryEdit(version, **fields)  # type: ignore[arg-type]
        changed = (await library.knowledge.knowledge_update(entry.id, edit, actor=USER)).entries[0]
        assert changed.version == version + 1
        assert changed.updated_at > used.updated_at
        version = changed.version
    archived = (await library.knowledge.knowledge_archive(entry.id, actor=USER)).entries[0]
    assert archived.version == version + 1


async def test_saving_and_publishing_is_one_act_with_one_operation(library: Library) -> None:
    entry = await library.add()
    done = await library.knowledge.knowledge_update(
        entry.id, EntryEdit(entry.version, title="Better"), actor=USER, approve=True
    )
    assert (done.entries[0].title, done.entries[0].status) == ("Better", Status.PUBLISHED)
    kinds = [event.event for event in await library.events(entry.id) if event.operation == done.operation]
    assert kinds == [EventKind.UPDATED, EventKind.STATUS_CHANGED, EventKind.STATUS_CHANGED]
    undone = await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert (undone.entries[0].title, undone.entries[0].status) == (entry.title, Status.CANDIDATE)


async def test_a_model_may_edit_a_candidate_but_not_a_published_entry(library: Library) -> None:
    candidate, published = await library.add("C"), await library.add("P", status=Status.PUBLISHED)
    edit = EntryEdit(candidate.version, title="By a model")
    await library.knowledge.knowledge_update(candidate.id, edit, actor=AI)
    with pytest.raises(HumanOnly):
        await library.knowledge.knowledge_update(
            published.id, EntryEdit(published.version, title="By a model"), actor=AI
        )
    assert await library.knowledge.knowledge_get(published.id) == published


async def test_an_entry_of_a_project_is_widened_to_everywhere(library: Library, tmp_path: Path) -> None:
    project = await library.projects.ensure(tmp_path)
    entry = await library.add(project_id=project.id)
    assert entry.project == project
    widened = (await library.knowledge.widen_project(entry.id, actor=USER)).entries[0]
    assert widened.project is None
    assert (await library.events(entry.id))[-1].changes == {"project_id": (project.id, None)}


async def test_an_entry_cannot_hold_for_a_project_that_does_not_exist(library: Library) -> None:
    entry = await library.add()
    with pytest.raises(NotFound):
        await library.knowledge.knowledge_update(entry.id, EntryEdit(entry.version, project_id="none"), actor=USER)
    with pytest.raises(NotFound):
        await library.add("Another", project_id="none")
    assert (await library.knowledge.knowledge_stats()).total == 1


async def test_content_comes_back_byte_for_byte(library: Library) -> None:
    content = "cafe\u0301\r\n\tcode  \n\n`%_\\'\"*(){}` 锁 🔒\u200f"
    entry = await library.add(content=content)
    assert (await library.knowledge.knowledge_get(entry.id)).content == content
