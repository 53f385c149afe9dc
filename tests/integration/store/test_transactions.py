"""Transactions on the store's thread, and the changes they tell of."""

import asyncio
import gc
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Aggregate, Changes
from devflow.store import settings
from devflow.store.database import KEPT_CHANGES, Unit, prune_changes
from tests.support.library import Library, open_library


@pytest.fixture
async def library(home: Path):  # type: ignore[no-untyped-def]
    async with open_library(home) as opened:
        yield opened


async def test_a_write_that_raises_leaves_nothing_and_tells_nobody(library: Library) -> None:
    def work(unit: Unit) -> None:
        settings.put(unit, "mark", {"a": 1})
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        await library.db.write(work)
    assert await library.settings.groups() == ()
    assert library.published == []


async def test_changes_are_told_before_the_write_returns_once_each_and_in_order(library: Library) -> None:
    def work(unit: Unit) -> None:
        for id in ("b", "a", "b"):
            unit.changed(Aggregate.ENTRY, id)

    await library.db.write(work)
    (told,) = library.published
    assert [(item.aggregate, item.id) for item in told.items] == [("entry", "b"), ("entry", "a")]
    assert [item.seq for item in told.items] == sorted(item.seq for item in told.items)
    assert told.foreign is False


async def test_a_cancelled_write_commits_and_is_told(library: Library) -> None:
    writing = asyncio.create_task(library.settings.save("mark", {"a": 1}))
    told = asyncio.get_running_loop().create_future()
    library.hub.subscribe(lambda event: told.done() or told.set_result(event))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert isinstance(await asyncio.wait_for(told, 5), Changes)
    assert await library.settings.get("mark") == {"a": 1}


async def test_a_read_that_fails_when_its_reader_is_gone_is_not_logged_as_forgotten(library: Library) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def fail(_session: object) -> None:
        begun.set()
        go_on.wait()
        raise RuntimeError("stop")

    reading = asyncio.ensure_future(library.db.read(fail))
    await asyncio.to_thread(begun.wait)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    go_on.set()
    await library.db.read(lambda session: None)
    gc.collect()  # here asyncio would log an error, and a log record fails a test


async def test_instants_of_transactions_never_run_backwards(library: Library) -> None:
    instants = [await library.db.write(lambda unit: unit.at) for _ in range(20)]
    assert instants == sorted(instants)


async def test_a_full_disk_is_said_in_a_sentence_and_nothing_is_half_written(library: Library) -> None:
    before = await library.add()
    pages = await library.db.read(lambda session: session.execute(text("PRAGMA page_count")).scalar_one())
    await library.db.read(lambda session: session.execute(text(f"PRAGMA max_page_count = {pages + 1}")).all())
    with pytest.raises(DatabaseProblem) as refused:
        await library.add("Too much", content="字" * 20_000)
    assert "full" in str(refused.value)
    assert (await library.knowledge.knowledge_list("candidate")).entries == (before,)


async def test_old_changes_are_pruned_and_numbers_go_on(library: Library) -> None:
    def work(unit: Unit) -> None:
        for number in range(KEPT_CHANGES + 50):
            unit.changed(Aggregate.ENTRY, str(number))

    await library.db.write(work)
    await library.db.write(prune_changes)
    with closing(sqlite3.connect(library.paths.database)) as connection:
        count, newest = connection.execute("SELECT count(*), max(seq) FROM changes").fetchone()
    assert (count, newest) == (KEPT_CHANGES, KEPT_CHANGES + 50)
    await library.add()
    assert library.published[-1].items[0].seq == newest + 1
