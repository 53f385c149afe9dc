"""References to pages: which a message names, as it writes them."""

import pytest

from devflow.retrieval.references import extract_wiki_refs, parse_explicit_page_refs, without_references

SESSION = "wiki/synthesis/sessions/x.md"


@pytest.mark.parametrize(
    "message, named",
    [
        (f"这是什么 [[{SESSION}]]", (SESSION,)),
        ("[[wiki/a.md]] 和 [[wiki/b.md]]", ("wiki/a.md", "wiki/b.md")),
        ("[[wiki/b.md]][[wiki/a.md]]", ("wiki/b.md", "wiki/a.md")),
        ("[[wiki/a.md]] [[wiki/a.md]]", ("wiki/a.md",)),
        ("[[wiki/a.md]] [[wiki/A.md]]", ("wiki/a.md", "wiki/A.md")),
        ("![[wiki/a.md]]", ("wiki/a.md",)),
        ("[[wiki/a[1].md]]", ("wiki/a[1].md",)),
        ("[[wiki/C#.md]]", ("wiki/C#.md",)),
        ("[[wiki/a.md|别名]]", ("wiki/a.md",)),
        ("[[wiki/a.md#标题]]", ("wiki/a.md",)),
        ("[[ wiki/a.md ]]", ("wiki/a.md",)),
        ("[[wiki/文章 一.md]]", ("wiki/文章 一.md",)),
        ("[[wiki/../purpose.md]]", ("wiki/../purpose.md",)),
    ],
)
def test_a_page_is_named_as_it_is_written_in_order_and_once(message: str, named: tuple[str, ...]) -> None:
    assert parse_explicit_page_refs(message) == named


@pytest.mark.parametrize(
    "message",
    [
        "普通文本无引用",
        "[[notwiki.md]] 普通文本",
        "[[wiki/a]]",
        "[[wiki/.md]]",
        "[[wiki/a\n.md]]",
        "`[[wiki/a.md]]`",
        "```\n[[wiki/a.md]]\n```",
    ],
)
def test_what_is_no_page_or_is_quoted_names_nothing(message: str) -> None:
    assert parse_explicit_page_refs(message) == ()


def test_an_open_bracket_before_a_reference_does_not_swallow_it() -> None:
    assert parse_explicit_page_refs("[[wiki/a]] and [[wiki/b.md]]") == ("wiki/b.md",)


def test_a_reference_is_no_part_of_the_question() -> None:
    assert without_references("[[wiki/topics/总结.md]] 讲了什么").split() == ["讲了什么"]


def test_an_answers_pages_are_its_double_brackets_and_its_links() -> None:
    answer = "见 [[wiki/a.md]]、[[wiki/a.md]]、[[wiki/raw-note]] 与 [笔记](wiki/b.md)。"
    assert extract_wiki_refs(answer) == ("wiki/a.md", "wiki/b.md")
