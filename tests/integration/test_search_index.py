"""The search index agrees with the entries, whatever is done to them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from devflow.domain.ids import new_id
from devflow.domain.knowledge import Status
from devflow.store import entries, search_index
from devflow.store.database import Unit
from devflow.store.timeline import Act
from tests.support.search_library import SearchLibrary

ACT = Act("user", new_id())


@pytest.fixture
def library(home: Path) -> Iterator[SearchLibrary]:
    opened = SearchLibrary(home)
    yield opened
    opened.close()


def problems(library: SearchLibrary) -> list[str]:
    return library.database.run_read(search_index.check)


def execute(library: SearchLibrary, statement: str) -> None:
    library.database.run_write(lambda unit: unit.session.connection().exec_driver_sql(statement))


def test_the_index_agrees_with_the_entries_after_many_changes(library: SearchLibrary) -> None:
    chance = random.Random(7)
    words = ["lock", "retry", "锁", "过期时间", "cache", "E0502", "café", "deploy", "回滚", "timeout"]
    kept = [library.add(f"Entry {n}", " ".join(chance.choices(words, k=12))) for n in range(40)]
    for _ in range(60):
        entry = library.database.run_read(lambda session: entries.get(session, chance.choice(kept).id))
        content = " ".join(chance.choices(words, k=9))

        def change(unit: Unit, entry: object = entry, content: str = content) -> None:
            entries.update_fields(unit, entry.id, entry.version, {"content": content}, ACT)  # type: ignore[attr-defined]

        library.database.run_write(change)
    for entry in kept[:10]:
        library.database.run_write(lambda unit, id=entry.id: entries.erase(unit, id, ACT))
    assert problems(library) == []
    execute(library, "INSERT INTO search_terms(search_terms) VALUES ('integrity-check')")
    execute(library, "INSERT INTO search_word_grams(search_word_grams) VALUES ('integrity-check')")
    left = {entry.id for entry in kept[10:]}
    for word in words:
        found = {hit.entry.id for hit in library.search(word)}
        texts = library.database.run_read(lambda session: entries.get_many(session, left))
        assert found == {entry.id for entry in texts if word.lower() in entry.content.lower()}


def test_a_text_that_was_changed_behind_the_index_leaves_no_word_in_it(library: SearchLibrary) -> None:
    entry = library.add("Before", "oldword and old words")
    execute(library, "UPDATE entries SET title = 'Between', content = 'betweenword'")
    execute(library, "UPDATE entries SET content = 'newword'")
    assert problems(library) == ["1 entries were changed without their index."]

    def index(unit: Unit) -> None:
        search_index.put(unit, entry.id, "Between", "newword", ())

    library.database.run_write(index)
    assert library.find("oldword") == library.find("betweenword") == []
    assert library.find("newword") == ["Between"]
    assert problems(library) == []
    execute(library, "INSERT INTO search_terms(search_terms) VALUES ('integrity-check')")
    counted = "SELECT count(*) FROM search_terms WHERE search_terms MATCH 'oldword OR before OR betweenword'"
    assert library.database.run_read(lambda s: s.connection().exec_driver_sql(counted).scalar()) == 0


def test_tags_that_are_written_in_another_way_are_no_change(library: SearchLibrary) -> None:
    library.add("An entry", "with content", tags=["one", "two"])
    execute(library, "UPDATE entries SET tags = replace(tags, ' ', '   ')")
    assert problems(library) == []


def test_the_index_keeps_no_second_copy_of_the_texts(library: SearchLibrary) -> None:
    entry = library.add("An entry", "with content")
    library.database.run_write(
        lambda unit: entries.update_fields(unit, entry.id, entry.version, {"content": "other content"}, ACT)
    )
    kept = library.database.run_read(
        lambda session: session.connection().exec_driver_sql("SELECT count(*) FROM search_former").scalar()
    )
    assert kept == 0


def test_a_transaction_that_fails_leaves_no_trace_in_the_index(library: SearchLibrary) -> None:
    library.add("Kept", "alpha")

    def work(unit: Unit) -> None:
        from devflow.domain.knowledge import draft

        entries.insert(unit, draft(kind="pitfall", title="Lost", content="betaword"), ACT)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        library.database.run_write(work)
    assert library.find("betaword") == []
    assert problems(library) == []


def test_a_new_index_finds_what_the_old_one_found(library: SearchLibrary) -> None:
    for title, status in (
        ("锁的过期时间", Status.PUBLISHED),
        ("Lock expiry", Status.CANDIDATE),
        ("Retry", Status.PUBLISHED),
    ):
        library.add(title, "content with words", tags=["one"], status=status, reuse=0)
    before = [library.find(query) for query in ("锁", "retry words", "ock")]
    seen: list[tuple[int, int]] = []
    counted = library.database.run_write(lambda unit: search_index.rebuild(unit, lambda *at: seen.append(at)))
    assert counted == 3
    assert seen[-1] == (3, 3)
    assert [library.find(query) for query in ("锁", "retry words", "ock")] == before
    assert problems(library) == []


@pytest.mark.parametrize(
    "damage, sentence",
    [
        ("DELETE FROM search_docs", "1 entries are not in the search index."),
        ("UPDATE entries SET content = 'changed behind its back'", "1 entries were changed without their index."),
        ("UPDATE search_docs SET status = 'archived'", "1 index rows disagree with their entry."),
        ("DROP TRIGGER search_mirror", "1 triggers of the search index are missing."),
        ("DROP TRIGGER search_changed", "1 triggers of the search index are missing."),
        ("UPDATE search_state SET value = 0", "The search index was made by another version."),
    ],
)
def test_the_check_names_what_is_wrong_and_a_rebuild_mends_it(
    library: SearchLibrary, damage: str, sentence: str
) -> None:
    library.add("An entry", "with content")
    execute(library, damage)
    assert sentence in problems(library)
    library.database.run_write(search_index.rebuild)
    assert problems(library) == []


def test_an_index_of_another_version_is_not_current(library: SearchLibrary) -> None:
    assert library.database.run_read(search_index.is_current)
    execute(library, "UPDATE search_state SET value = 0")
    assert not library.database.run_read(search_index.is_current)


def test_an_erased_word_is_nowhere_in_the_database_file(home: Path) -> None:
    library = SearchLibrary(home)
    entry = library.add("Secret xylophonist", "the password is hunterzzz2 and 绝密词汇")
    library.add("Other", "the password is elsewhere")
    library.database.run_write(lambda unit: entries.erase(unit, entry.id, ACT))
    assert library.find("hunterzzz2") == library.find("xylophonist") == library.find("绝密") == []
    library.close()
    left = b"".join(path.read_bytes() for path in home.glob("devflow.db*"))
    for word in ("xylophonist", "hunterzzz2", "绝密"):
        assert word.encode() not in left
