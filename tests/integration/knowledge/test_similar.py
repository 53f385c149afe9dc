"""Entries that say nearly the same: found, told why, and the labelled set's bars."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from devflow.domain.knowledge import EntryEdit, Status
from devflow.retrieval.likeness import LEAST, NEAR, likeness, words_of
from devflow.store.database import Database
from tests.benchmarks.similar.labelled import HALVES, LANGUAGES, labelled, pairs
from tests.benchmarks.similar.measure import PRECISION, RECALL, filled, measure
from tests.support.library import USER, Library

CONTRARY_RECALL, CONTRARY_PRECISION = 0.65, 0.80
"""What is promised of contradictions: those that are named are right, not that all are."""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, dict[str, str]]]:
    with filled(tmp_path_factory.mktemp("labelled")) as library:
        yield library


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_labelled_set_is_told_apart(mixed: tuple[Database, dict[str, str]], language: str, half: str) -> None:
    found = measure(*mixed, language, half)
    assert found.similar.recall >= RECALL
    assert found.similar.precision >= PRECISION
    assert found.contrary.recall >= CONTRARY_RECALL
    assert found.contrary.precision >= CONTRARY_PRECISION
    assert found.near_called_contrary <= 0.1 * found.near


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_labelled_set_is_large_enough_and_repeats_nothing(language: str) -> None:
    entries = tuple(entry for entry in labelled() if entry.language == language)
    assert len({(entry.title, entry.content) for entry in entries}) == len(entries)
    assert sum(pair.label != "open" for pair in pairs(entries)) // 2 >= 60


async def test_an_entry_resembles_those_that_say_the_same_and_not_those_about_the_same_subject(
    library: Library,
) -> None:
    one = await library.add("Pin the base image by digest", content="A tag moves: put image@sha256 into Dockerfiles.")
    same = await library.add("Base images are pinned by digest", content="Tags move. Use image@sha256 in Dockerfiles.")
    await library.add("Base images are scanned weekly", content="A job scans the base images in the registry.")
    for asked, own in ((one.id, one), (f"  {one.id}\n", one), (f"{one.title}\n{one.content}", None)):
        found = await library.knowledge.knowledge_similar(asked)
        assert [each.entry.id for each in found if own is None or each.entry.id != own.id][-1] == same.id
        assert all(NEAR <= each.score <= 1 for each in found)
    (only,) = await library.knowledge.knowledge_similar(one.id)
    assert {"sha256", "digest"} <= set(only.why)
    assert only.contradicts is None


async def test_an_edit_is_heeded_at_once_and_an_archived_entry_resembles_nothing(library: Library) -> None:
    one = await library.add("回调要签名", content="每个回调都带上签名，密钥放在 Vault。")
    two = await library.add("回调必须签名", content="回调一律带签名，签名密钥放在 Vault 里。")
    knowledge = library.knowledge
    assert [each.entry.id for each in await knowledge.knowledge_similar(one.id)] == [two.id]
    await knowledge.knowledge_update(two.id, EntryEdit(1, title="午饭", content="十二点去食堂。"), actor=USER)
    assert await knowledge.knowledge_similar(one.id) == ()
    three = await library.add("回调要带签名", Status.ARCHIVED, content=one.content)
    assert three.id not in [each.entry.id for each in await knowledge.knowledge_similar(one.id)]


async def test_nothing_resembles_an_empty_text_and_a_limit_is_kept(library: Library) -> None:
    for number in range(4):
        await library.add(f"Rotate the signing key {number}", content="Rotate the signing key every quarter.")
    assert await library.knowledge.knowledge_similar("   ") == ()
    assert len(await library.knowledge.knowledge_similar("Rotate the signing key every quarter", 2)) == 2


PARTS = [*"锁过期缓存的 aB1.-_🔒\n", "lock", "expiry", "Redis", "\u0301 "]
TEXT = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


@settings(max_examples=200, deadline=None)
@example("aRedis锁过锁期", "", "", "")  # its weights, added up in two orders, are not quite the same
@given(TEXT, TEXT, TEXT, TEXT)
def test_likeness_is_the_same_both_ways_and_whole_for_the_same_words(a: str, b: str, c: str, d: str) -> None:
    one, other = words_of(a, b), words_of(c, d)
    there, back = likeness(one, other), likeness(other, one)
    assert abs(there.score - back.score) < 1e-9
    assert 0 <= there.score <= 1
    assert bool(there.terms) <= (there.score >= LEAST)
    if one.all:
        assert likeness(one, one).score > 0.999
