"""Cutting: between what is perceived as characters, at sentences, around what matters."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.text import cut, cut_at_sentence, fold, is_boundary
from devflow.domain.text.passages import best_passages, spans

FAMILY = "👩\u200d👩\u200d👧"
TEXT = st.text(st.sampled_from("ab 。.\n锁é\u0301👩\u200d🇩🇪ㄱ\u1100\u1161ß!"), max_size=80)


@pytest.mark.parametrize("whole", [FAMILY, "e\u0301", "🇩🇪", "👍🏽", "\u1112\u1161\u11ab", "✈\ufe0f", "\r\n"])
def test_what_is_perceived_as_one_character_is_never_split(whole: str) -> None:
    assert [n for n in range(1, len(whole)) if is_boundary(whole, n)] == []
    for size in range(1, len(whole)):
        assert cut("ab" + whole, 2 + size) == "ab"


def test_two_flags_may_be_parted() -> None:
    assert cut("🇩🇪🇫🇷", 3) == "🇩🇪"


def test_a_cut_ends_at_a_sentence_and_is_marked() -> None:
    assert cut_at_sentence("First one. Second one. Third one", 25) == ("First one. Second one.…", True)
    assert cut_at_sentence("第一句。第二句。第三句很长很长", 10) == ("第一句。第二句。…", True)
    assert cut_at_sentence("Short.", 25) == ("Short.", False)


@given(TEXT, st.integers(1, 60))
def test_a_cut_never_exceeds_the_limit(text: str, limit: int) -> None:
    shown, was_cut = cut_at_sentence(text, limit)
    assert len(shown) <= limit
    assert was_cut == (len(text) > limit)


@given(TEXT, st.lists(st.sampled_from(["a", "锁", "b", "é"]), max_size=3), st.integers(8, 60))
def test_a_passage_never_exceeds_the_limit(text: str, terms: list[str], limit: int) -> None:
    assert len(best_passages(text, terms, limit)) <= limit


def test_a_passage_is_taken_where_the_matches_are_dense() -> None:
    text = "Nothing here at all. " * 20 + "The lock needs an expiry. Renew the lock in time. " + "Tail end words. " * 20
    shown = best_passages(text, ["lock", "expiry"], 90)
    assert shown.startswith("…The lock needs an expiry. Renew the lock in time.")
    assert shown.endswith("…")


def test_a_text_that_fits_is_shown_as_it_is() -> None:
    assert best_passages("  as it is\n", ["is"], 90) == "  as it is\n"


@given(TEXT, st.sampled_from(["a", "锁", "é", "ss", "ab"]))
def test_marks_stand_exactly_where_the_folded_term_is(text: str, term: str) -> None:
    found = spans(text, [term])
    assert bool(found) == (fold(term) in fold(text))
    for start, end in found:
        assert fold(term) in fold(text[start:end])
    assert all(before[1] < after[0] for before, after in itertools.pairwise(found))


def test_marks_count_in_characters_of_the_text_as_written() -> None:
    assert spans("Straße und STRASSE", ["strasse"]) == ((0, 6), (11, 18))
    assert spans("cafe\u0301s", ["cafe"]) == ((0, 5),)
