"""What makes a candidate, and what reading the texts adds (spec 04)."""

from __future__ import annotations

from collections.abc import Mapping

from devflow.domain.text import fold
from devflow.retrieval.query import parse
from devflow.retrieval.ranking import POSTINGS, Fields, alternatives, reread, weighed


def order(question: str, texts: Mapping[str, str], counts: Mapping[str, int] | None = None) -> list[str]:
    """Titles in the order that reading their texts gives, where the index sees no difference."""
    query = parse(question)
    known = {term.text: (counts or {}).get(term.text, 3) for term in query.terms}
    head = [(Fields(fold(title), "", fold(content)), title, 1.0, 0) for title, content in texts.items()]
    return [ranked.id for ranked in reread(head, query, weighed(query, known, 1_000))]


def candidates(question: str, counts: Mapping[str, int], total: int) -> set[tuple[str, ...]]:
    query = parse(question)
    return set(alternatives(weighed(query, counts, total), total))


def test_a_pair_that_reaches_from_one_word_into_the_next_says_nothing() -> None:
    query = parse("死锁检测")
    found = {w.term.text: w.is_seam for w in weighed(query, {"死锁": 40, "锁检": 2, "检测": 60}, 1_000)}
    assert found == {"死锁": False, "锁检": True, "检测": False}


def test_a_seldom_word_among_its_own_pairs_is_no_seam() -> None:
    query = parse("张三丰")
    assert not any(w.is_seam for w in weighed(query, {"张三": 2, "三丰": 2}, 1_000))


def test_rare_terms_make_candidates_and_common_ones_wait_to_be_read() -> None:
    counts = {"deadlock": 200, "wal": 300, "server": 19_000, "client": 18_000}
    assert candidates("deadlock wal server client", counts, 100_000) == {("deadlock",), ("wal",)}


def test_of_common_terms_alone_two_must_meet() -> None:
    counts = {"server": 7_000, "client": 8_000, "request": 9_000}
    found = candidates("server client request", counts, 100_000)
    assert ("server", "client") in found
    assert all(len(terms) == 2 for terms in found)


def test_one_common_term_alone_is_still_a_candidate() -> None:
    assert candidates("server", {"server": POSTINGS + 1}, 100_000) == {("server",)}


def test_in_a_small_library_every_term_makes_candidates() -> None:
    assert candidates("server client", {"server": 7, "client": 30}, 100) == {("server",), ("client",)}


def test_words_that_stand_near_each_other_count_more_than_scattered_ones() -> None:
    near = "the retry of a client has jitter " + "and other words " * 20
    far = "retry " + "and other words " * 20 + "jitter the of a client has"
    assert order("retry with jitter", {"Far": far, "Near": near})[0] == "Near"


def test_a_title_that_says_little_else_counts_more() -> None:
    texts = {
        "The retry of clients and what the servers of the other team say about it": "words",
        "Retry of clients": "words",
    }
    assert order("retry clients", texts)[0] == "Retry of clients"
