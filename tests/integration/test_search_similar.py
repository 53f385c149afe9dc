"""Entries that say nearly the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from devflow.domain.knowledge import Status
from devflow.retrieval.hits import Hit
from devflow.retrieval.similar import similar_entries
from tests.support.search_library import SearchLibrary


@pytest.fixture
def library(home: Path) -> Iterator[SearchLibrary]:
    opened = SearchLibrary(home)
    yield opened
    opened.close()


def similar(library: SearchLibrary, id_or_text: str) -> tuple[Hit, ...]:
    return library.database.run_read(lambda session: similar_entries(session, id_or_text))


def test_the_same_text_scores_one_and_a_reworded_one_less(library: SearchLibrary) -> None:
    library.add("Redis locks need an expiry", "Use SET NX PX, or a crashed worker holds the lock forever.")
    library.add("Redis locks must expire", "Use SET NX PX; otherwise a crashed worker keeps the lock forever.")
    library.add("Docker layers", "Order them by how often they change.")
    found = similar(library, "redis locks need an expiry\nUse SET NX PX, or a crashed worker holds the lock forever.")
    assert [hit.entry.title for hit in found] == ["Redis locks need an expiry", "Redis locks must expire"]
    assert found[0].score == 1.0
    assert 0.3 < found[1].score < 1.0


def test_an_entry_is_not_similar_to_itself_but_to_candidates_too(library: SearchLibrary) -> None:
    entry = library.add("分布式锁要设置过期时间", "持有者崩溃后锁不会释放。")
    library.add("分布式锁必须设置过期时间", "持有者崩溃后锁不会被释放。", status=Status.CANDIDATE)
    library.add("分布式锁设置过期时间", "持有者崩溃后锁不会释放。", status=Status.ARCHIVED)
    assert [hit.entry.title for hit in similar(library, entry.id)] == ["分布式锁必须设置过期时间"]


def test_a_text_about_something_else_resembles_nothing(library: SearchLibrary) -> None:
    library.add("Redis locks need an expiry", "Use SET NX PX.")
    assert similar(library, "The weather is fine, the sea is calm") == ()
    assert similar(library, "  ") == ()
