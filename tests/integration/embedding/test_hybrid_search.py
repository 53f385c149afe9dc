"""Searching by keywords and meaning at once: what is found, in which order, and how each hit explains itself."""

from __future__ import annotations

from dataclasses import replace

from devflow.domain.knowledge import Status
from devflow.knowledge.as_json import hit_json
from devflow.knowledge.service import Knowledge, Match
from devflow.retrieval.hybrid import fuse
from devflow.retrieval.ranking import Ranked
from devflow.retrieval.vectors import Near
from tests.integration.embedding.conftest import Bench
from tests.support.library import USER


async def a_library(bench: Bench) -> None:
    await bench.switch_on()
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it at once.")
    await bench.publish("A pool of connections", "Give each connection back.")
    await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    await bench.embeddings.settled()


async def test_a_question_in_another_language_finds_by_meaning_and_says_so(bench: Bench) -> None:
    await a_library(bench)
    (hit,) = await bench.knowledge.knowledge_search("锁")
    assert hit.entry.title == "Take the write lock"
    assert (hit.match.tier, hit.match.terms) == ("meaning", ())
    assert hit.match.similarity is not None
    assert hit.match.similarity > 0.3
    assert hit_json(hit)["match"]["similarity"] == round(hit.match.similarity, 3)


async def test_keywords_and_meaning_together_come_before_either_alone(bench: Bench) -> None:
    await a_library(bench)
    await bench.publish("A key and its lock", "Lost keys are at the reception.")
    await bench.embeddings.settled()
    found = (await bench.knowledge.knowledge_search("write lock immediate")).hits
    assert found[0].entry.title == "Take the write lock"
    assert found[0].match.tier == "term"
    assert found[0].match.similarity is not None
    assert found[0].score == 1.0
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


async def test_entries_that_contain_the_whole_query_stay_first(bench: Bench) -> None:
    await a_library(bench)
    await bench.publish("Minutes of a meeting", "The words in the ov are here: in the ove.")
    await bench.embeddings.settled()
    found = (await bench.knowledge.knowledge_search("in the ove", limit=5)).hits
    assert {hit.entry.title for hit in found[:2]} == {"Bake a loaf", "Minutes of a meeting"}
    assert [hit.match.tier for hit in found[:2]] == ["like", "like"]
    assert [hit.score for hit in found[:2]] == [1.0, 1.0]


async def test_a_question_about_nothing_that_is_there_finds_nothing(bench: Bench) -> None:
    await a_library(bench)
    assert await bench.found("发票") == []


async def test_filters_hold_for_what_meaning_finds(bench: Bench) -> None:
    await a_library(bench)
    assert await bench.found("锁", kind="review_rule") == []
    assert await bench.found("锁", kind="pitfall") == ["Take the write lock"]
    assert await bench.found("锁", statuses={Status.CANDIDATE}) == []
    assert await bench.found("锁", project="nowhere") == []


async def test_a_list_shows_what_its_search_finds_by_meaning_too(bench: Bench) -> None:
    await a_library(bench)
    from devflow.store.entry_lists import Filters

    ids = await bench.knowledge.knowledge_order(Filters(), sort="relevance", query="锁")
    page = await bench.knowledge.knowledge_list(query="锁")
    assert list(ids) == [entry.id for entry in page.entries]
    assert page.total == 1


async def test_a_row_of_that_list_says_the_same_reason_as_the_search(bench: Bench) -> None:
    await a_library(bench)
    await bench.publish("A key and its lock", "Lost keys are at the reception.")
    await bench.embeddings.settled()
    for query in ("锁", "write lock immediate", "in the ove", "lock"):
        hits = (await bench.knowledge.knowledge_search(query, limit=50)).hits
        why = await bench.knowledge.knowledge_why(query, [hit.entry.id for hit in hits])
        assert hits
        assert {hit.entry.id: _told(hit.match) for hit in hits} == {id: _told(match) for id, match in why.items()}


async def test_switched_off_it_is_the_search_of_before(bench: Bench) -> None:
    await a_library(bench)
    plain = Knowledge(bench.library.db, bench.library.settings)
    await bench.knowledge.knowledge_change_config({"vector_enabled": False}, actor=USER)
    for query in ("锁", "write lock", "connection back", "oven"):
        assert (await bench.knowledge.knowledge_search(query)).hits == (await plain.knowledge_search(query)).hits


def _told(match: Match) -> Match:
    """As it is shown: a similarity that was found in another batch differs far behind the point."""
    return replace(match, similarity=None if match.similarity is None else round(match.similarity, 3))


RANKED = [Ranked("both", 2.0), Ranked("words", 6.0)]
NEAREST = [Near("meaning", 2.0), Near("both", 1.0)]


def test_words_that_cover_the_question_outweigh_a_near_meaning() -> None:
    fused = fuse(RANKED, 10.0, {"both": 1.0, "words": 0.1}, NEAREST)
    assert [(found.id, round(found.score, 2)) for found in fused] == [("words", 0.63), ("meaning", 0.6), ("both", 0.5)]


def test_where_the_words_cover_little_the_meaning_decides() -> None:
    fused = fuse([Ranked("both", 2.0), Ranked("words", 6.0)], 60.0, {"both": 1.0, "words": 0.1}, NEAREST)
    assert [found.id for found in fused] == ["meaning", "both", "words"]


def test_in_the_strict_order_both_come_before_words_before_meaning() -> None:
    fused = fuse(RANKED, 10.0, {"both": 1.0, "words": 0.1}, NEAREST, strict=True)
    assert [found.id for found in fused] == ["both", "words", "meaning"]


async def test_the_strict_order_is_a_setting(bench: Bench) -> None:
    await a_library(bench)
    await bench.library.settings.update("embedding", order="strict")
    meaning = await bench.embeddings.meaning("lock")
    assert meaning is not None
    assert meaning.strict
