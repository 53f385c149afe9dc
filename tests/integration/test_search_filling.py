"""A search index that an update begins anew is filled in the background, and nobody waits for it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.events import Event, IndexFilled
from devflow.domain.ids import new_id
from devflow.store import entries, search_fill, search_index
from devflow.store.database import Database, Unit
from devflow.store.migrate import INDEXED_WHEN_OPENING
from devflow.store.search_fill import Filling
from devflow.store.timeline import Act
from tests.support.commands import devflow
from tests.support.search_library import SearchLibrary

ACT = Act("user", new_id())
FILLING = "fill the search index"
MANY = INDEXED_WHEN_OPENING + 25


@pytest.fixture
def library(home: Path) -> Iterator[SearchLibrary]:
    opened = SearchLibrary(home)
    yield opened
    opened.close()


def outdate(library: SearchLibrary) -> None:
    def work(unit: Unit) -> None:
        unit.session.connection().exec_driver_sql("UPDATE search_state SET value = 0")

    library.database.run_write(work)


def problems(library: SearchLibrary) -> list[str]:
    return library.database.run_read(search_index.check)


def aside(database: Database) -> int:
    """Tables of old indexes."""
    statement = "SELECT count(*) FROM sqlite_master WHERE name GLOB 'search_gone_*'"
    return int(database.run_read(lambda session: session.connection().exec_driver_sql(statement).scalar_one()))


def test_an_old_index_is_taken_away_piece_by_piece(library: SearchLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_fill, "TAKEN_AT_ONCE", 2)
    for number in range(9):
        library.add(f"Entry {number}", f"needle {number}")
    library.database.run_write(search_fill.begin)
    library.database.run_write(search_fill.begin)  # begun anew before the first was done
    pieces = 0
    while library.database.run_write(search_fill.take_away):
        pieces += 1
    assert pieces > len(search_index.NAMES)
    assert library.database.run_write(search_fill.fill).is_full
    assert problems(library) == []
    assert len(library.find("needle")) == 9


def test_the_copies_of_texts_that_an_older_index_kept_are_taken_away_too(library: SearchLibrary) -> None:
    library.add("An entry", "needle")

    def as_it_was(unit: Unit) -> None:
        connection = unit.session.connection()
        search_index.drop_triggers(connection)
        connection.exec_driver_sql("DROP TABLE search_former")
        connection.exec_driver_sql("CREATE TABLE search_sources (doc INTEGER PRIMARY KEY, source BLOB NOT NULL)")
        connection.exec_driver_sql("INSERT INTO search_sources VALUES (1, x'00')")
        connection.exec_driver_sql("UPDATE search_state SET value = 3 WHERE key = 'version'")

    library.database.run_write(as_it_was)
    library.database.run_write(search_fill.begin)
    while library.database.run_write(search_fill.take_away):
        pass
    assert aside(library.database) == 0
    assert library.database.run_write(search_fill.fill).is_full
    assert problems(library) == []
    assert library.find("needle") == ["An entry"]


def test_opening_leaves_most_of_a_large_library_for_later(home: Path) -> None:
    library = SearchLibrary(home)
    for number in range(MANY):
        library.add(f"Entry {number}", "needle")
    outdate(library)
    library.close()
    again = SearchLibrary(home)
    try:
        assert again.database.run_read(search_fill.filling) == Filling(INDEXED_WHEN_OPENING, MANY)
        found = again.search("needle", limit=50)
        assert len(found) == 50
        assert found.partial, "there are more than the index knows yet"
        assert problems(again) == ["The search index is being made: 25 entries are still missing."]
    finally:
        again.close()


async def test_a_program_that_is_open_fills_the_index_and_tells_how_far_it_is(home: Path) -> None:
    library = SearchLibrary(home)
    for number in range(MANY):
        library.add(f"Entry {number}", "needle")
    outdate(library)
    library.close()
    told: list[IndexFilled] = []
    full = asyncio.Event()

    async with opened(app_paths(home)) as core:

        def hear(event: Event) -> None:
            if isinstance(event, IndexFilled):
                told.append(event)
                if event.done == event.total:
                    full.set()

        core.hub.subscribe(hear)
        await asyncio.wait_for(full.wait(), 60)
        assert (told[-1].done, told[-1].total) == (MANY, MANY)
        found = await core.knowledge.knowledge_search("needle", limit=50)
        assert not found.partial
        assert await core.db.read(search_index.check) == []
        await asyncio.wait_for(next(task for task in core.tasks if task.get_name() == FILLING), 60)
        assert aside(core.db) == 0


def test_what_is_written_erased_and_changed_meanwhile_is_in_the_index_once(library: SearchLibrary) -> None:
    kept = [library.add(f"Entry {number}", "needle") for number in range(12)]
    library.database.run_write(search_fill.begin)
    library.database.run_write(lambda unit: search_fill.fill(unit, most=3))
    library.add("Written meanwhile", "needle")

    def change(unit: Unit) -> None:
        for entry in kept[:6]:
            entries.update_fields(unit, entry.id, entry.version, {"content": "changed"}, ACT)
        for entry in kept[6:9]:
            entries.erase(unit, entry.id, ACT)

    library.database.run_write(change)
    assert library.find("written meanwhile") == ["Written meanwhile"]
    assert library.database.run_write(search_fill.fill).is_full
    assert problems(library) == []
    assert set(library.find("needle")) == {"Entry 9", "Entry 10", "Entry 11", "Written meanwhile"}
    assert not library.search("needle").partial


def test_the_check_is_clean_after_ten_thousand_random_edits(library: SearchLibrary) -> None:
    chance = random.Random(20)
    words = ["lock", "retry", "锁", "过期时间", "-->", "E0502", "café", "a_b", "回滚", "🔥", "C++", "100%"]
    kept = {}
    for number in range(60):
        entry = library.add(f"Entry {number}", "first")
        kept[entry.id] = entry.version

    def edits(unit: Unit) -> None:
        for _ in range(500):
            id = chance.choice(list(kept))
            text = " ".join(chance.choices(words, k=6))
            field = chance.choice(("title", "content", "content"))
            kept[id] = entries.update_fields(unit, id, kept[id], {field: text + f" {chance.random()}"}, ACT).version

    for _ in range(20):
        library.database.run_write(edits)
    assert problems(library) == []

    def check_each(unit: Unit) -> None:
        for table in ("search_terms", "search_signs", "search_word_grams"):
            unit.session.connection().exec_driver_sql(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")

    library.database.run_write(check_each)


def test_a_command_says_that_there_may_be_more(home: Path) -> None:
    library = SearchLibrary(home)
    library.add("Needle", "words")

    def never_full(unit: Unit) -> None:
        connection = unit.session.connection()
        connection.exec_driver_sql("INSERT INTO search_missing (entry_id) VALUES ('not yet')")
        connection.exec_driver_sql(
            "CREATE TRIGGER search_kept BEFORE DELETE ON search_missing BEGIN SELECT raise(IGNORE); END"
        )

    library.database.run_write(never_full)
    library.close()
    found = devflow(home, "knowledge", "search", "needle")
    assert "contains “needle” in: title" in found.out
    assert "There may be more: not everything was searched." in found.err
