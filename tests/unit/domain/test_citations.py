"""What is a citation in an answer, and what is not."""

import pytest

from devflow.domain.citations import cited_numbers, marks, without_marks


def test_marks_are_found_with_their_places() -> None:
    text = "Take the lock first [K1], then write [K12]."
    found = marks(text)
    assert [(mark.number, text[mark.start : mark.end]) for mark in found] == [(1, "[K1]"), (12, "[K12]")]


def test_an_entry_cited_twice_counts_once_in_the_order_of_first_mention() -> None:
    assert cited_numbers("[K2] and [K1] and [K2]") == (2, 1)


@pytest.mark.parametrize("text", ["[K1, K2]", "[K1，K2]", "[K1、K2]", "[K1; K2]", "[ K1 , K2 ]", "[k1,k2]"])
def test_several_numbers_in_one_bracket_are_several_citations(text: str) -> None:
    assert cited_numbers(text) == (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "`[K1]`",
        "``a ` [K1]``",
        "```\n[K1]\n```",
        "~~~python\nx[K1]\n~~~",
        "````\n```\n[K1]\n```\n````",
        "text\n\n   ```\n[K1]",
        "K1",
        "[K]",
        "[K1x]",
        "[1]",
        "[AK1]",
        "(K1)",
    ],
)
def test_inside_code_and_in_other_forms_nothing_is_a_citation(text: str) -> None:
    assert cited_numbers(text) == ()


def test_text_around_code_is_still_read_and_keeps_its_offsets() -> None:
    text = "a [K1]\n```\n[K2]\n```\nb `[K3]` c [K4]"
    assert cited_numbers(text) == (1, 4)
    assert all(text[mark.start : mark.end] == f"[K{mark.number}]" for mark in marks(text))


def test_a_lone_backtick_hides_nothing() -> None:
    assert cited_numbers("a ` b [K1]") == (1,)
    assert cited_numbers("a ` b\n\nnext ` [K1]") == (1,)


@pytest.mark.parametrize(
    "text, without",
    [
        ("Take the lock first [K1].", "Take the lock first."),
        ("Both [K1, K2] say so [K3]", "Both say so"),
        ("- [K1] The title\n- [K2] Another", "- The title\n- Another"),
        ("[K1] says it", "says it"),
        ("在事务开始时取锁[K1]。", "在事务开始时取锁。"),
        ("Write `[K1]` and\n\n```\n[K2]\n```\n", "Write `[K1]` and\n\n```\n[K2]\n```\n"),
        ("nothing here", "nothing here"),
    ],
)
def test_marks_are_left_out_where_they_would_mean_nothing(text: str, without: str) -> None:
    assert without_marks(text) == without
