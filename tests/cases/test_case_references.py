"""PARSE and LINK: the pages that a message names, and those that an answer links to."""

import pytest

from devflow.retrieval.references import extract_wiki_refs, parse_explicit_page_refs


@pytest.mark.case("PARSE-01")
def test_one_reference_in_a_chinese_sentence() -> None:
    found = parse_explicit_page_refs("这是什么 [[wiki/synthesis/sessions/x.md]]")
    assert found == ("wiki/synthesis/sessions/x.md",)


@pytest.mark.case("PARSE-02")
def test_two_references_keep_their_order() -> None:
    assert parse_explicit_page_refs("[[wiki/a.md]] 和 [[wiki/b.md]]") == ("wiki/a.md", "wiki/b.md")
    assert parse_explicit_page_refs("[[wiki/b.md]] 和 [[wiki/a.md]]") == ("wiki/b.md", "wiki/a.md")


@pytest.mark.case("PARSE-03")
def test_a_repeated_reference_counts_once_where_it_came_first() -> None:
    assert parse_explicit_page_refs("[[wiki/a.md]] [[wiki/a.md]]") == ("wiki/a.md",)
    assert parse_explicit_page_refs("[[wiki/a.md]] [[wiki/b.md]] [[wiki/a.md]]") == ("wiki/a.md", "wiki/b.md")


@pytest.mark.case("PARSE-04")
def test_a_reference_outside_wiki_is_none() -> None:
    assert parse_explicit_page_refs("[[notwiki.md]] 普通文本") == ()


@pytest.mark.case("PARSE-05")
def test_plain_text_has_no_reference() -> None:
    assert parse_explicit_page_refs("普通文本无引用") == ()


@pytest.mark.case("PARSE-06")
def test_references_need_no_space_between_them() -> None:
    assert parse_explicit_page_refs("[[wiki/a.md]][[wiki/b.md]]") == ("wiki/a.md", "wiki/b.md")


@pytest.mark.case("PARSE-07")
def test_an_embedded_page_is_a_reference() -> None:
    assert parse_explicit_page_refs("![[wiki/a.md]]") == ("wiki/a.md",)


@pytest.mark.case("PARSE-11")
def test_pages_that_differ_in_case_are_two() -> None:
    assert parse_explicit_page_refs("[[wiki/a.md]] [[wiki/A.md]]") == ("wiki/a.md", "wiki/A.md")


@pytest.mark.case("PARSE-13")
@pytest.mark.parametrize("quoted", ["`[[wiki/a.md]]`", "```\n[[wiki/a.md]]\n```", "~~~md\n[[wiki/a.md]]\n~~~"])
def test_code_that_shows_a_reference_makes_none(quoted: str) -> None:
    assert parse_explicit_page_refs(quoted) == ()
    assert parse_explicit_page_refs(f"{quoted}\n\n[[wiki/b.md]]") == ("wiki/b.md",)


@pytest.mark.case("PARSE-16")
def test_a_page_without_a_name_is_none() -> None:
    assert parse_explicit_page_refs("[[wiki/.md]]") == ()


@pytest.mark.case("PARSE-21")
def test_a_name_may_hold_brackets() -> None:
    assert parse_explicit_page_refs("[[wiki/a[1].md]]") == ("wiki/a[1].md",)


@pytest.mark.case("PARSE-22")
def test_alias_anchor_and_padding_are_taken_off_and_the_suffix_is_needed() -> None:
    for written in ("[[wiki/a.md|别名]]", "[[wiki/a.md#标题]]", "[[ wiki/a.md ]]", "[[wiki/a.md#标题|别名]]"):
        assert parse_explicit_page_refs(written) == ("wiki/a.md",)
    assert parse_explicit_page_refs("[[wiki/a]]") == ()


@pytest.mark.case("LINK-01")
def test_an_answer_links_each_page_once_double_brackets_first() -> None:
    assert extract_wiki_refs("[x](wiki/b.md) [[wiki/a.md]] [[wiki/a.md]] [[wiki/raw-note]]") == (
        "wiki/a.md",
        "wiki/b.md",
    )
