"""Export → import into an empty home → export again: the same bytes, timeline included; twice adds nothing."""

import asyncio
import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.errors import Refused
from devflow.domain.knowledge import EntryEdit, EventKind, Evidence, Kind, Status, draft
from devflow.knowledge.merge import MergeInput
from devflow.sharing.writing import NotExported
from devflow.store import entries, library_copy
from devflow.store.library_copy import CopiedEntry, CopiedEvent, LibraryCopy
from devflow.transfer import as_files, export, front_matter, reading
from tests.integration.transfer.conftest import USER, Desk, open_desk
from tests.support.library import AI

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=60)
LINE = TEXT.map(lambda text: " ".join(text.split())).filter(bool).filter(lambda text: len(text.splitlines()) == 1)
CONTENT = TEXT.filter(lambda text: bool(text.strip()))
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
INSTANT = st.integers(0, 2**41).map(lambda seconds: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(milliseconds=seconds))


@st.composite
def events(draw: st.DrawFn) -> CopiedEvent:
    changes = draw(st.dictionaries(st.sampled_from(["title", "status", "project"]), st.just(None), max_size=2))
    return CopiedEvent(
        draw(st.sampled_from(list(EventKind))).value,
        draw(st.sampled_from(["user", "ai", "system", "mcp:claude-code"])),
        draw(INSTANT),
        str(draw(st.uuids())),
        {name: [draw(LINE), draw(LINE)] for name in changes},
        draw(st.dictionaries(st.sampled_from(["version", "reason", "before"]), JSON, max_size=2)),
    )


@st.composite
def copies(draw: st.DrawFn) -> CopiedEntry:
    return CopiedEntry(
        id=str(draw(st.uuids())),
        kind=draw(st.sampled_from(list(Kind))).value,
        title=draw(LINE),
        content=draw(CONTENT),
        tags=draft(kind="pitfall", title="x", content="x", tags=draw(st.lists(LINE.map(lambda t: t[:50])))[:20]).tags,
        status=draw(st.sampled_from(list(Status))).value,
        confidence=draw(st.floats(0, 1)),
        reuse_count=draw(st.integers(0, 2**31 - 1)),
        project=draw(st.none() | LINE),
        source_ref=draw(LINE),
        evidence=draw(st.none() | st.builds(Evidence, st.lists(LINE, max_size=2).map(tuple), TEXT, LINE)),
        created_at=draw(INSTANT),
        updated_at=draw(INSTANT),
        published_at=draw(st.none() | INSTANT),
        archived_at=draw(st.none() | INSTANT),
        version=draw(st.integers(1, 1000)),
        timeline=tuple(draw(st.lists(events(), max_size=3))),
    )


@settings(max_examples=60, deadline=None)
@given(copies())
def test_an_entry_is_the_same_after_its_files_are_read(entry: CopiedEntry) -> None:
    (_, note), (_, timeline) = as_files.entry_files(entry, "x")
    parts = front_matter.read(note.decode())
    assert as_files.to_entry(parts.fields, front_matter.own_body(note.decode()), json.loads(timeline)) == entry


@pytest.mark.parametrize("number", [1e-05, 5e-324, 0.5, 0.0, 1.0])
def test_a_small_confidence_is_a_number_to_yaml_and_to_json(number: float) -> None:
    note = front_matter.write([("confidence", number)], "")
    assert yaml.safe_load(note.split("---\n")[1]) == {"confidence": number}
    assert front_matter.read(note).fields == {"confidence": number}


@settings(max_examples=30, deadline=None)
@given(copies())
def test_what_is_written_is_yaml_to_others_too(entry: CopiedEntry) -> None:
    """Readable without DevFlow: a strict YAML reader sees the same values."""
    note = as_files.entry_files(entry, "x")[0][1].decode()
    fields = yaml.safe_load(note.split("---\n")[1])
    assert (fields["title"], fields["tags"], fields["confidence"]) == (entry.title, list(entry.tags), entry.confidence)
    assert (fields["evidence"] or {}).get("quote") == (entry.evidence.quote if entry.evidence else None)


@settings(max_examples=8, deadline=None)
@given(st.lists(copies(), min_size=1, max_size=12, unique_by=lambda entry: entry.id))
def test_a_random_library_is_the_same_after_a_way_through_a_database(
    tmp_path_factory: pytest.TempPathFactory, given_entries: list[CopiedEntry]
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    ordered = tuple(sorted(given_entries, key=lambda entry: (entry.created_at, entry.id)))
    export.write(LibraryCopy(ordered), folder / "one.zip")

    async def trip() -> None:
        async with open_desk(folder / "home") as desk:
            seen = await desk.look(folder / "one.zip")
            assert (seen.restored, seen.bad) == (len(ordered), ())
            await desk.transfer.take(seen, actor=USER)
            await desk.transfer.export(folder / "two.zip")
            assert (folder / "one.zip").read_bytes() == (folder / "two.zip").read_bytes()
            assert (await desk.look(folder / "one.zip")).is_empty

    asyncio.run(trip())


async def lived_in(desk: Desk, folder: Path) -> None:
    """A library with everything an entry can go through."""
    library = desk.library
    knowledge = library.knowledge
    (folder / "shop").mkdir()
    project = await library.projects.ensure(folder / "shop")
    first = await library.add(
        "Take the lock first", Status.PUBLISHED, tags=["sqlite", "锁"], content="先拿锁。\r\n\n再读。 "
    )
    await library.add("Take the lock first", content="The same title, in another file.\n\n")
    await library.add("TAKE THE LOCK FIRST", content="It differs in case alone.")
    await library.add("CON", Status.PENDING_REVIEW, content="A name that Windows keeps for itself.")
    await library.add(
        "怎么给 {service} 写评审？", Status.ARCHIVED, kind="prompt_template", content="请审查 {service}。"
    )
    await library.add(
        "Of the shop", project_id=project.id, content="---\nlooks: like front matter\n---\n", confidence=1 / 3
    )
    changed = await knowledge.knowledge_update(
        first.id, EntryEdit(first.version, title="Take the lock, then read", project_id=project.id), actor=USER
    )
    await knowledge.knowledge_record_reuse(first.id, actor=AI, detail={"message": "m1"})
    await knowledge.knowledge_undo(changed.operation, actor=USER)
    gone = await library.add("Erased", content="It must not come out again.")
    await knowledge.knowledge_erase(gone.id, actor=USER)
    merged = [(await library.add(f"Merge {n}", Status.PUBLISHED, content=f"One of two, {n}.")) for n in (1, 2)]
    edit = EntryEdit(merged[0].version, title="Merged", content="Both in one.")
    await knowledge.knowledge_merge([entry.id for entry in merged], MergeInput(edit), actor=USER)
    near = "Open the file before the lock is taken and readers see a half written page."
    drafts = [draft(kind="pitfall", title=f"Page {n}", content=f"{near} {n}", confidence=0.7) for n in (1, 2)]
    await knowledge.knowledge_submit(drafts, actor=AI, detail={"conversation": "c1"})


async def test_a_library_that_was_lived_in_comes_back_as_it_was(desk: Desk, tmp_path: Path) -> None:
    await lived_in(desk, tmp_path)
    one = await desk.bytes(tmp_path)
    (tmp_path / "one.zip").write_bytes(one)
    async with open_desk(tmp_path / "other") as other:
        done = await other.take(tmp_path / "one.zip")
        assert done.restored == 10
        assert await other.bytes(tmp_path) == one
        for entry in (await desk.library.knowledge.knowledge_list(statuses=list(Status), limit=50)).entries:
            back = await other.library.knowledge.knowledge_get(entry.id)
            assert (back.status, back.version, back.reuse_count) == (entry.status, entry.version, entry.reuse_count)
            assert (back.content, back.tags, back.confidence) == (entry.content, entry.tags, entry.confidence)
            was = [(e.event, e.actor, e.at, e.operation) for e in await desk.library.events(entry.id)]
            assert [(e.event, e.actor, e.at, e.operation) for e in await other.library.events(entry.id)] == was


@pytest.mark.parametrize("suffix", ["", ".json", ".zip"])
async def test_every_form_comes_back_and_twice_adds_nothing(desk: Desk, tmp_path: Path, suffix: str) -> None:
    await lived_in(desk, tmp_path)
    target = tmp_path / f"library{suffix}"
    await desk.transfer.export(target)
    async with open_desk(tmp_path / "other") as other:
        await other.take(target)
        before = await other.bytes(tmp_path)
        again = await other.look(target)
        assert again.is_empty
        await other.transfer.take(again, actor=USER)
        assert await other.bytes(tmp_path) == before == await desk.bytes(tmp_path)


async def test_what_was_erased_is_in_no_export(desk: Desk, tmp_path: Path) -> None:
    await lived_in(desk, tmp_path)
    await desk.transfer.export(tmp_path / "library.json")
    assert "must not come out" not in (tmp_path / "library.json").read_text(encoding="utf-8")


async def test_what_was_restored_is_found_by_a_search(desk: Desk, tmp_path: Path) -> None:
    await lived_in(desk, tmp_path)
    await desk.transfer.export(tmp_path / "library.zip")
    async with open_desk(tmp_path / "other") as other:
        await other.take(tmp_path / "library.zip")
        await other.transfer.index()
        found = await other.library.knowledge.knowledge_search("拿锁")
        assert [hit.entry.title for hit in found.hits] == ["Take the lock first"]


async def test_into_a_library_in_use_everything_comes_as_a_candidate(desk: Desk, tmp_path: Path) -> None:
    await lived_in(desk, tmp_path)
    await desk.transfer.export(tmp_path / "library.zip")
    async with open_desk(tmp_path / "other") as other:
        await other.library.add("Something of its own")
        taken = await other.taken(tmp_path / "library.zip")
        assert {entry.status for entry in taken} == {Status.CANDIDATE}
        assert {entry.project.name for entry in taken if entry.project} == {"shop"}
        assert (await other.look(tmp_path / "library.zip")).is_empty


async def test_the_agents_own_commands_restore_nothing(desk: Desk, tmp_path: Path) -> None:
    await desk.library.add(status=Status.PUBLISHED)
    await desk.transfer.export(tmp_path / "library.zip")
    async with open_desk(tmp_path / "other", agent_child=True) as other:
        assert [entry.status for entry in await other.taken(tmp_path / "library.zip")] == [Status.CANDIDATE]


async def test_a_projects_folder_is_found_by_its_name(desk: Desk, tmp_path: Path) -> None:
    """The export names no path; the first folder of that name becomes the project's."""
    await lived_in(desk, tmp_path)
    await desk.transfer.export(tmp_path / "library.json")
    assert str(tmp_path) not in (tmp_path / "library.json").read_text(encoding="utf-8")
    async with open_desk(tmp_path / "other") as other:
        await other.take(tmp_path / "library.json")
        assert await other.library.projects.with_folder() == ()
        (tmp_path / "elsewhere" / "shop").mkdir(parents=True)
        project = await other.library.projects.ensure(tmp_path / "elsewhere" / "shop")
        held = await other.library.knowledge.knowledge_list(statuses=list(Status), project=project.id)
        assert [entry.title for entry in held.entries] == ["Of the shop"]


async def test_erased_here_an_entry_does_not_come_back(desk: Desk, tmp_path: Path) -> None:
    entry = await desk.library.add(status=Status.PUBLISHED)
    await desk.transfer.export(tmp_path / "library.zip")
    await desk.library.knowledge.knowledge_erase(entry.id, actor=USER)
    seen = await desk.look(tmp_path / "library.zip")
    assert (seen.restored, seen.erased, seen.is_empty) == (0, 1, True)


def test_names_of_files_work_on_every_system(tmp_path: Path) -> None:
    titles = ["CON", "a/b\\c:d", "Straße", "STRASSE", "é", "e\u0301", "长" * 200, "…", "end.", "  ", "锁"]
    at = datetime(2026, 1, 1, tzinfo=UTC)
    made = [
        CopiedEntry(str(n), "pitfall", title, "x", (), "candidate", 1.0, 0, None, "manual", None, at, at, None, None, 1)
        for n, title in enumerate(titles)
    ]
    names = as_files.Names()
    stems = [names.of(entry) for entry in made]
    assert len({stem.casefold() for stem in stems}) == len(titles)
    assert all(len(f"{stem}{as_files.TIMELINE}".encode()) <= 255 for stem in stems)
    assert not any(set(stem) & set('<>:"/\\|?*') or stem.endswith((".", " ")) for stem in stems)
    assert (stems[0], stems[-1]) == ("_CON", "锁")


async def test_bytes_depend_on_the_library_alone(desk: Desk, tmp_path: Path) -> None:
    await lived_in(desk, tmp_path)
    assert await desk.bytes(tmp_path) == await desk.bytes(tmp_path)
    with zipfile.ZipFile(io.BytesIO(await desk.bytes(tmp_path))) as archive:
        assert {info.date_time for info in archive.infolist()} == {export.ZIP_AT}


@pytest.mark.parametrize("name", ["taken.zip", "taken.json", "taken"])
async def test_nothing_of_others_is_overwritten(desk: Desk, tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    if name == "taken":
        target.mkdir()
        (target / "diary.txt").write_text("mine")
    else:
        target.write_text("mine")
    with pytest.raises(Refused):
        await desk.transfer.export(target)
    left = target / "diary.txt" if name == "taken" else target
    assert left.read_text() == "mine"


async def test_an_own_folder_is_replaced_as_a_whole(desk: Desk, tmp_path: Path) -> None:
    entry = await desk.library.add("Will go")
    await desk.transfer.export(tmp_path / "folder")
    await desk.library.knowledge.knowledge_erase(entry.id, actor=USER)
    await desk.library.add("Stays")
    await desk.transfer.export(tmp_path / "folder")
    assert [file.name for file in sorted((tmp_path / "folder" / "entries").iterdir())] == [
        "Stays.md",
        "Stays.timeline.json",
    ]
    assert _left_behind(tmp_path) == []


@pytest.mark.parametrize("name", ["mine.zip", "mine.json", "mine"])
async def test_an_export_that_is_cancelled_leaves_what_was_there(desk: Desk, tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    for n in range(30):
        await desk.library.add(f"Entry {n}")
    await desk.transfer.export(target)
    before = _bytes(target)
    await desk.library.add("One more")

    def cancel(_what: str, _done: int, _total: int) -> None:
        exporting.cancel()

    exporting = asyncio.ensure_future(desk.transfer.export(target, cancel))
    with pytest.raises(asyncio.CancelledError):
        await exporting
    await asyncio.get_running_loop().shutdown_default_executor()
    assert (_bytes(target), _left_behind(tmp_path)) == (before, [])


async def test_a_target_in_no_folder_is_refused(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises((Refused, NotExported)):
        await desk.transfer.export(tmp_path / "nowhere" / "library.zip")


async def test_a_restore_refuses_where_somebody_was_faster(desk: Desk, tmp_path: Path) -> None:
    await desk.library.add()
    await desk.transfer.export(tmp_path / "library.zip")
    async with open_desk(tmp_path / "other") as other:
        seen = await other.look(tmp_path / "library.zip")
        await other.library.add("Meanwhile")
        with pytest.raises(Refused):
            await other.transfer.take(seen, actor=USER)


async def test_a_copy_is_of_one_moment(desk: Desk) -> None:
    """Another process may write while the library is copied."""
    await desk.library.add("Before")
    loop = asyncio.get_running_loop()

    def meanwhile(done: int, _total: int) -> None:
        adding = asyncio.run_coroutine_threadsafe(desk.library.add(f"Meanwhile {done}"), loop)
        adding.result()

    copy = await asyncio.to_thread(library_copy.snapshot, desk.library.db.path, meanwhile)
    assert [entry.title for entry in copy.entries] == ["Before"]
    assert await desk.library.db.read(lambda session: len(library_copy.ids(session))) == 2


def test_two_libraries_at_once_are_no_restore(tmp_path: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for n in (1, 2):
        entry = CopiedEntry(
            f"{n}", "pitfall", f"T{n}", "x", (), "published", 1.0, 0, None, "manual", None, at, at, at, None, 1
        )
        export.write(LibraryCopy((entry,)), tmp_path / f"{n}.zip")
    read = reading.read([tmp_path / "1.zip", tmp_path / "2.zip"])
    assert read.library is None
    assert len(read.pieces) == 2


async def test_a_timeline_goes_on_after_a_restore(desk: Desk, tmp_path: Path) -> None:
    entry = await desk.library.add(status=Status.PUBLISHED)
    await desk.transfer.export(tmp_path / "library.zip")
    async with open_desk(tmp_path / "other") as other:
        await other.take(tmp_path / "library.zip")
        await other.library.knowledge.knowledge_archive(entry.id, actor=USER)
        timeline = await other.library.events(entry.id)
        assert [event.event for event in timeline][-1] is EventKind.STATUS_CHANGED
        assert timeline[-1].at >= timeline[0].at + timedelta(0)
        assert (await other.library.db.read(lambda session: entries.get(session, entry.id))).status is Status.ARCHIVED


def _left_behind(folder: Path) -> list[Path]:
    return list(folder.glob(".devflow*"))


def _bytes(target: Path) -> dict[str, bytes]:
    files = [target] if target.is_file() else sorted(target.rglob("*.*"))
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.parametrize("id", ["../x", "a\tb", "a\nb", "\x1b[2J", "-x", "", "a" * 37])
def test_an_id_that_would_do_harm_in_a_list_or_a_command_is_refused(tmp_path: Path, id: str) -> None:
    at = datetime(2026, 11, 30, tzinfo=UTC)
    entry = CopiedEntry(id, "pitfall", "T", "x", (), "published", 1.0, 0, None, "manual", None, at, at, at, None, 1)
    export.write(LibraryCopy((entry,)), tmp_path / "it.zip")
    read = reading.read([tmp_path / "it.zip"])
    assert (len(read.pieces), len(read.bad)) == (0, 1)
