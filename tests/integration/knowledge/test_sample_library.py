"""The sample library (spec 08, Samples)."""

import pytest

from devflow.domain.knowledge import EntryEdit, EventKind, Kind, Status
from tests.support.library import USER, Library

LANGUAGES = ["en", "zh_CN"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_loading_publishes_a_dozen_entries_with_their_full_timeline(library: Library, language: str) -> None:
    assert await library.samples.state() is False
    done = await library.samples.load(language, actor=USER)
    assert await library.samples.state() is True
    assert len(done.entries) == 12
    assert {entry.status for entry in done.entries} == {Status.PUBLISHED}
    assert {entry.source_ref for entry in done.entries} == {"import:sample"}
    assert len({entry.kind for entry in done.entries}) >= 6
    for entry in done.entries:
        events = await library.events(entry.id)
        assert [event.event for event in events] == [EventKind.CREATED] + [EventKind.STATUS_CHANGED] * 2
        assert {event.operation for event in events} == {done.operation}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_suggested_question_is_answered_best_by_the_entry_about_it(library: Library, language: str) -> None:
    done = await library.samples.load(language, actor=USER)
    by_place = [entry.id for entry in done.entries]
    for place, question in enumerate(library.samples.questions(language)):
        found = await library.knowledge.knowledge_search(question)
        assert found.hits[0].entry.id == by_place[place], question


async def test_removing_archives_the_samples_and_loading_brings_the_same_ones_back(library: Library) -> None:
    loaded = await library.samples.load("en", actor=USER)
    mine = await library.add("Mine", status=Status.PUBLISHED)
    removed = await library.samples.remove(actor=USER)
    assert await library.samples.state() is False
    assert {entry.id for entry in removed.entries} == {entry.id for entry in loaded.entries}
    assert [entry.id for entry in (await library.knowledge.knowledge_list()).entries] == [mine.id]
    again = await library.samples.load("en", actor=USER)
    assert {entry.id for entry in again.entries} == {entry.id for entry in loaded.entries}
    assert (await library.knowledge.knowledge_stats()).total == 13


async def test_loading_twice_changes_nothing(library: Library) -> None:
    await library.samples.load("en", actor=USER)
    assert (await library.samples.load("en", actor=USER)).entries == ()
    assert (await library.knowledge.knowledge_stats()).total == 12


async def test_a_sample_the_user_edited_comes_back_as_edited(library: Library) -> None:
    entry = (await library.samples.load("en", actor=USER)).entries[0]
    await library.knowledge.knowledge_update(entry.id, EntryEdit(entry.version, title="My words"), actor=USER)
    await library.samples.remove(actor=USER)
    await library.samples.load("en", actor=USER)
    assert (await library.knowledge.knowledge_get(entry.id)).title == "My words"


async def test_an_erased_sample_does_not_come_back(library: Library) -> None:
    entry = (await library.samples.load("en", actor=USER)).entries[0]
    await library.knowledge.knowledge_erase(entry.id, actor=USER)
    await library.samples.remove(actor=USER)
    assert len((await library.samples.load("en", actor=USER)).entries) == 11


async def test_loading_is_taken_back_by_one_undo(library: Library) -> None:
    done = await library.samples.load("en", actor=USER)
    undone = await library.knowledge.knowledge_undo(done.operation, actor=USER)
    assert {entry.status for entry in undone.entries} == {Status.ARCHIVED}
    assert await library.samples.state() is False


async def test_both_languages_say_the_same_things(library: Library) -> None:
    english = (await library.samples.load("en", actor=USER)).entries
    chinese = (await library.samples.load("zh_CN", actor=USER)).entries
    assert [entry.kind for entry in english] == [entry.kind for entry in chinese]
    assert Kind.PROMPT_TEMPLATE in {entry.kind for entry in english}
    assert not {entry.id for entry in english} & {entry.id for entry in chinese}
    assert len(library.samples.questions("en")) == len(library.samples.questions("zh_CN")) == 3
