"""Several processes on one database: nothing is lost, nobody is locked out, everybody hears (spec 01 and 07)."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Aggregate, Changes, Event
from devflow.domain.knowledge import Status
from devflow.store.watch import watch
from tests.support.commands import devflow, finished, start
from tests.support.library import USER, Library, open_library

ADD = ("knowledge", "add", "--kind", "pitfall", "--content", "By another process.", "--title")


@pytest.fixture
async def library(home: Path):  # type: ignore[no-untyped-def]
    async with open_library(home) as opened:
        yield opened


async def test_writers_in_several_processes_lose_nothing_and_meet_no_lock(library: Library, home: Path) -> None:
    others = [start(home, *ADD, f"Process {number}") for number in range(6)]
    waiting = asyncio.gather(*(asyncio.to_thread(finished, other) for other in others))
    mine = 0
    while not waiting.done():
        await library.add(f"Mine {mine}")
        mine += 1
        await asyncio.sleep(0)
    results = await waiting
    assert [(result.code, result.err) for result in results] == [(0, "")] * 6
    page = await library.knowledge.knowledge_list("candidate", limit=10_000)
    titles = {entry.title for entry in page.entries}
    assert titles == {f"Process {n}" for n in range(6)} | {f"Mine {n}" for n in range(mine)}
    assert mine > 0
    found = await library.knowledge.knowledge_search("another process", statuses=[Status.CANDIDATE], limit=50)
    assert len(found.hits) == 6


async def test_of_two_processes_that_publish_one_entry_exactly_one_does(library: Library, home: Path) -> None:
    for attempt in range(3):
        entry = await library.add(f"Wanted {attempt}", status=Status.PENDING_REVIEW)
        racing = [start(home, "knowledge", "status", entry.id, "published", "--json") for _ in range(2)]
        results = sorted([finished(process) for process in racing], key=lambda result: result.code)
        assert [result.code for result in results] == [0, 1]
        assert results[1].error["code"] == "invalid_transition"
        steps = [event.changes.get("status") for event in await library.events(entry.id)]
        assert steps.count(("pending_review", "published")) == 1


async def test_the_watcher_tells_of_another_processs_change(library: Library, home: Path) -> None:
    heard: asyncio.Future[Changes] = asyncio.get_running_loop().create_future()

    def hear(event: Event) -> None:
        if isinstance(event, Changes) and event.foreign and event.of(Aggregate.ENTRY) and not heard.done():
            heard.set_result(event)

    library.hub.subscribe(hear)
    watching = asyncio.create_task(watch(library.db, library.hub, every=0.05))
    try:
        added = await asyncio.to_thread(devflow, home, *ADD, "From outside")
        changes = await asyncio.wait_for(heard, 10)
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    assert changes.of(Aggregate.ENTRY) == {added.out.strip()}
    assert (await library.knowledge.knowledge_get(added.out.strip())).title == "From outside"


async def test_the_watcher_is_silent_about_ones_own_writes(library: Library) -> None:
    await library.add()
    assert await library.db.foreign_changes() is None


async def test_every_foreign_change_is_told_once(home: Path) -> None:
    async with open_library(home) as one, open_library(home) as two:
        first = await two.add("First")
        second = await two.add("Second")
        changes = await one.db.foreign_changes()
        assert changes is not None
        assert changes.of(Aggregate.ENTRY) == {first.id, second.id}
        assert await one.db.foreign_changes() is None
        await two.knowledge.knowledge_approve(first.id, actor=USER)
        again = await one.db.foreign_changes()
        assert again is not None
        assert again.of(Aggregate.ENTRY) == {first.id}


async def test_changes_that_a_broken_disk_hides_are_told_once_it_is_mended(home: Path) -> None:
    async with open_library(home) as one, open_library(home) as two:
        assert await one.db.foreign_changes() is None
        first = await two.add("From outside")
        await two.db.checkpoint()
        whole = one.db.path.read_bytes()
        with one.db.path.open("r+b") as file:
            file.truncate(4096)
            with pytest.raises(DatabaseProblem):
                await one.db.foreign_changes()
            file.write(whole)
        second = await two.add("After the disk was mended")
        changes = await one.db.foreign_changes()
        assert changes is not None
        assert changes.of(Aggregate.ENTRY) == {first.id, second.id}


async def test_a_conflict_between_processes_is_said_and_loses_neither_text(library: Library, home: Path) -> None:
    entry = await library.add("Ours")
    theirs = devflow(home, "knowledge", "edit", entry.id, "--title", "Theirs")
    assert theirs.code == 0
    late = devflow(home, "knowledge", "edit", entry.id, "--title", "Late", "--version", str(entry.version), "--json")
    assert (late.code, late.error["code"]) == (1, "conflict")
    assert (await library.knowledge.knowledge_get(entry.id)).title == "Theirs"
