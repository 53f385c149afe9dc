"""What an import says before anything is written, and that it does no more than that."""

import asyncio
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.knowledge import EntryEdit, Kind, Status
from devflow.store import entries
from devflow.transfer import files, service
from devflow.transfer.preview import News
from tests.integration.transfer.conftest import USER, Desk

Write = Callable[..., Path]
WORDS = "Open the file only after the lock is taken, or readers see a half written page of the journal"


async def statuses(desk: Desk) -> list[Status]:
    page = await desk.library.knowledge.knowledge_list(statuses=list(Status), limit=50)
    return [entry.status for entry in page.entries]


async def test_looking_writes_nothing(desk: Desk, source: Write) -> None:
    seen = await desk.look(source({"a.md": "New."}))
    assert [row.news for row in seen.rows] == [News.NEW]
    assert await statuses(desk) == []


async def test_what_resembles_an_entry_is_shown_with_it(desk: Desk, source: Write) -> None:
    entry = await desk.library.add("Lock before reading", Status.PUBLISHED, content=f"{WORDS}.")
    seen = await desk.look(source({"Lock before reading.md": f"{WORDS} file."}))
    alike = seen.rows[0].alike
    assert alike is not None
    assert [each.entry.id for each in alike] == [entry.id]


async def test_a_candidate_is_linked_to_what_it_was_shown_beside(desk: Desk, source: Write) -> None:
    kept = await desk.library.add("Lock before reading", Status.PUBLISHED, content=f"{WORDS}.")
    gone = await desk.library.add("Lock before reading", content=f"{WORDS}, always.")
    seen = await desk.look(source({"Lock before reading.md": f"{WORDS} file."}))
    await desk.library.knowledge.knowledge_erase(gone.id, actor=USER)
    done = await desk.transfer.take(seen, actor=USER)
    links = await desk.library.db.read(lambda session: entries.links(session, done.entries[0]))
    assert [id for id, _ in links] == [kept.id]


async def test_what_an_entry_says_already_is_known_whatever_its_status(desk: Desk, source: Write) -> None:
    entry = await desk.library.add("a", Status.ARCHIVED, content="The same  words.")
    seen = await desk.look(source({"a.md": "the SAME words."}))
    assert [(row.news, row.counterpart) for row in seen.rows] == [(News.KNOWN, entry)]


async def test_a_source_that_repeats_itself_comes_in_once(desk: Desk, source: Write) -> None:
    taken = await desk.taken(source({"x/a.md": "Once.", "y/a.md": "Once."}))
    assert len(taken) == 1


async def test_twice_adds_nothing_also_after_the_candidate_was_edited(desk: Desk, source: Write) -> None:
    folder = source({"a.md": "First words.", "b.md": "Others."})
    taken = await desk.taken(folder)
    edited = taken[0]
    await desk.library.knowledge.knowledge_update(
        edited.id, EntryEdit(edited.version, title="Better", content="Better words."), actor=USER
    )
    again = await desk.look(folder)
    assert again.is_empty
    assert {row.counterpart.id for row in again.rows if row.counterpart} == {entry.id for entry in taken}


async def test_twice_writes_no_event_either(desk: Desk, source: Write) -> None:
    folder = source({"a.md": "First words."})
    entry = (await desk.taken(folder))[0]
    await desk.take(folder)
    assert len(await desk.library.events(entry.id)) == 1


async def test_a_changed_source_is_a_new_candidate_beside_the_old_one(desk: Desk, source: Write) -> None:
    folder = source({"a.md": "First words."})
    before = (await desk.taken(folder))[0]
    source({"a.md": "Quite something else now."})
    seen = await desk.look(folder)
    assert [(row.news, row.counterpart and row.counterpart.id) for row in seen.rows] == [(News.CHANGED, before.id)]


async def test_only_what_was_chosen_comes_in(desk: Desk, source: Write) -> None:
    seen = await desk.look(source({"a.md": "One.", "b.md": "Two."}))
    done = await desk.transfer.take(seen, actor=USER, keys={seen.rows[1].piece.key})
    taken = await desk.library.knowledge.knowledge_entries(done.entries)
    assert [entry.content for entry in taken] == ["Two."]


async def test_one_undo_takes_the_whole_import_back(desk: Desk, source: Write) -> None:
    done = await desk.take(source({f"{n}.md": f"Note {n}." for n in range(25)}))
    assert len(done.entries) == 25
    await desk.transfer.undo(done, actor=USER)
    assert set(await statuses(desk)) == {Status.ARCHIVED}


async def test_a_large_import_is_undone_in_parts_that_others_can_wait_for(
    desk: Desk, source: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "UNDONE_AT_ONCE", 4)
    done = await desk.take(source({f"{n}.md": f"Note {n}." for n in range(10)}))
    desk.library.published.clear()
    await desk.transfer.undo(done, actor=USER)
    assert [len(changes.items) for changes in desk.library.published] == [4, 4, 2]
    assert set(await statuses(desk)) == {Status.ARCHIVED}


async def test_an_import_that_was_worked_on_is_not_undone(desk: Desk, source: Write) -> None:
    done = await desk.take(source({"a.md": "One."}))
    await desk.library.knowledge.knowledge_approve(done.entries[0], actor=USER)
    with pytest.raises(Refused):
        await desk.transfer.undo(done, actor=USER)


async def test_stopping_keeps_what_came_in_and_says_what_did_not(desk: Desk, source: Write) -> None:
    seen = await desk.look(source({f"{n}.md": f"Note {n}." for n in range(25)}))
    stop = threading.Event()
    done = await desk.transfer.take(seen, actor=USER, stop=stop, progress=lambda *_: stop.set())
    assert (len(done.entries), done.left) == (service.AT_ONCE, 25 - service.AT_ONCE)
    assert len((await desk.look(source({}))).new) == done.left


async def test_a_look_that_is_cancelled_ends(desk: Desk, source: Write) -> None:
    folder = source({f"{n}.md": f"Note {n}." for n in range(40)})
    looking: asyncio.Task[object] = asyncio.ensure_future(desk.look(folder, progress=lambda *_: looking.cancel()))
    with pytest.raises(asyncio.CancelledError):
        await looking


async def test_secrets_are_taken_out_before_anything_is_shown(desk: Desk, source: Write) -> None:
    key = "sk-proj-" + "Ab1Cd2Ef3G" * 5
    folder = source({"a.md": f"The key is {key} there."})
    seen = await desk.look(folder)
    assert seen.rows[0].redacted
    assert key not in seen.rows[0].piece.draft.content
    assert key not in (await desk.taken(folder))[0].content
    assert (await desk.look(folder)).is_empty


async def test_the_kind_and_the_project_can_be_given(desk: Desk, source: Write, tmp_path: Path) -> None:
    project = await desk.library.projects.ensure(tmp_path)
    seen = await desk.look(source({"a.md": "One."}), kind="deployment_note")
    done = await desk.transfer.take(seen, actor=USER, project_id=project.id)
    entry = (await desk.library.knowledge.knowledge_entries(done.entries))[0]
    assert (entry.kind, entry.project) == (Kind.DEPLOYMENT_NOTE, project)
    with pytest.raises(InvalidInput):
        await desk.look(source({"a.md": "One."}), kind="no_kind")


# Without trust ------------------------------------------------------------------------------------------------------


def zipped(target: Path, members: dict[str, bytes], **attributes: int) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = attributes.get("attr", 0o100644) << 16
            archive.writestr(info, data)
    return target


async def test_names_that_lead_out_of_an_archive_are_refused(desk: Desk, tmp_path: Path) -> None:
    members = {"../a.md": b"x", "/b.md": b"x", "c/../../d.md": b"x", "C:e.md": b"x", ".": b"x", "good.md": b"Good."}
    seen = await desk.look(zipped(tmp_path / "a.zip", members))
    assert sorted(bad.file for bad in seen.bad) == ["../a.md", "/b.md", "C:e.md", "c/../../d.md"]
    assert [row.piece.file for row in seen.rows] == ["good.md"]


async def test_an_archive_that_unfolds_to_harm_is_refused(desk: Desk, tmp_path: Path) -> None:
    seen = await desk.look(zipped(tmp_path / "a.zip", {"conversations.json": b" " * 64 * 1024**2, "good.md": b"Good."}))
    assert [bad.file for bad in seen.bad] == ["conversations.json"]
    assert len(seen.rows) == 1


async def test_a_link_in_an_archive_is_refused(desk: Desk, tmp_path: Path) -> None:
    seen = await desk.look(zipped(tmp_path / "a.zip", {"link.md": b"/etc/passwd"}, attr=0o120777))
    assert [bad.file for bad in seen.bad] == ["link.md"]


async def test_an_archive_that_is_cut_is_refused(desk: Desk, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", {f"{n}.md": b"Good." for n in range(50)})
    whole.write_bytes(whole.read_bytes()[:-300])
    seen = await desk.look(whole)
    assert [bad.file for bad in seen.bad] == ["a.zip"]
    assert seen.is_empty


async def test_links_out_of_a_folder_are_refused(desk: Desk, source: Write, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Not yours.")
    (tmp_path / "elsewhere").mkdir()
    folder = source({"good.md": "Good."})
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "ring").symlink_to(folder)
    seen = await desk.look(folder)
    assert sorted(bad.file for bad in seen.bad) == ["link.md", "linked", "ring"]
    assert [row.piece.file for row in seen.rows] == ["good.md"]


async def test_a_huge_file_is_refused(desk: Desk, source: Write) -> None:
    seen = await desk.look(source({"huge.md": b"x" * (files.TEXT_MAX + 1)}))
    assert [bad.file for bad in seen.bad] == ["huge.md"]


async def test_what_is_not_there_is_named(desk: Desk, tmp_path: Path) -> None:
    seen = await desk.look(tmp_path / "nowhere.zip")
    assert [bad.file for bad in seen.bad] == ["nowhere.zip"]
    assert seen.is_empty


async def test_a_file_of_no_known_format_is_named(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}')
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    seen = await desk.look(other, picture)
    assert [bad.file for bad in seen.bad] == ["other.json", "picture.png"]


# Exports of ours that were damaged ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name,text,line",
    [
        ("entries/B.timeline.json", "[\n{", 2),
        ("entries/B.timeline.json", None, 0),
        ("entries/B.md", "---\nid: 1\n---\n\nx\n", 0),
        ("entries/B.md", "---\nid: [\n---\n\nx\n", 3),
    ],
)
async def test_a_damaged_entry_is_named_and_the_others_come_back(
    desk: Desk, tmp_path: Path, name: str, text: str | None, line: int
) -> None:
    from tests.integration.transfer.conftest import open_desk

    for title in ("A", "B", "C"):
        await desk.library.add(title)
    folder = tmp_path / "library"
    await desk.transfer.export(folder)
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    async with open_desk(tmp_path / "other") as other:
        seen = await other.look(folder)
        assert [(bad.file, bad.line) for bad in seen.bad] == [(name if text else "entries/B.md", line)]
        assert (await other.transfer.take(seen, actor=USER)).restored == 2


async def test_an_export_of_a_newer_devflow_is_refused(desk: Desk, source: Write) -> None:
    seen = await desk.look(source({"devflow-library.json": '{"devflow_library": 99}'}))
    assert [bad.file for bad in seen.bad] == ["devflow-library.json"]
    assert seen.is_empty
