"""Where a text's references to pages lead, and which of them are doubtful."""

from devflow.ui.models.page_links import (
    AnswerLinks,
    PageLink,
    WikiLinks,
    page_address,
    paths_of,
    read_page_address,
    targets,
)

HERE = "wiki/topics/wal.md"


def test_an_address_comes_back_as_the_base_and_the_path_it_was_made_of() -> None:
    for path in ("wiki/a.md", "wiki/猫 粮/100%.md", "purpose.md", "wiki/a#b?.md"):
        assert read_page_address(page_address("kb1", path)) == ("kb1", path)
    assert read_page_address("devflow:entry/e1") is None
    assert read_page_address("devflow:page/kb1") is None


def test_a_relative_link_is_meant_from_the_pages_own_folder_or_from_the_base() -> None:
    assert paths_of(HERE, "retry.md#two") == ("wiki/topics/retry.md", "retry.md")
    assert paths_of(HERE, "../sources/a%20b.md") == ("wiki/sources/a b.md",)
    assert "wiki/sources/plan.md" in paths_of(HERE, "wiki/sources/plan.md")
    assert paths_of(HERE, "/purpose.md") == ("purpose.md",)
    assert paths_of(HERE, "../../../../etc/passwd.md") == ()


def test_what_is_no_markdown_file_of_the_base_is_no_pages_link() -> None:
    for href in ("https://example.org/a.md", "picture.png", "mailto:a@example.org", "#top", "", "//host/a.md"):
        assert paths_of(HERE, href) == (), href


def test_a_pages_links_lead_to_pages_that_are_there_and_the_others_nowhere() -> None:
    links = WikiLinks("kb", HERE, frozenset({"wiki/topics/retry.md"}))
    text = "See [[wiki/topics/retry.md|retries]] and [[wiki/none.md#part]]."
    first, second = links.named(text)
    assert (first.words, first.link.state) == ("retries", "known")
    assert (second.words, second.link) == ("[[wiki/none.md#part]]", PageLink("", "missing", "wiki/none.md"))
    assert links.link("retry.md") == PageLink("devflow:page/kb/wiki/topics/retry.md", "known", "wiki/topics/retry.md")
    assert links.link("https://example.org") is None
    assert links.in_code("[[wiki/topics/retry.md]]") is None


def test_targets_are_those_of_the_prose_and_none_of_the_code() -> None:
    text = "[[wiki/a.md]] and [b](b.md) and [c](<c d.md>)\n\n```\n[[wiki/code.md]]\n```\n`[[wiki/span.md]]`"
    found = targets("wiki/here.md", text)
    assert {"wiki/a.md", "wiki/b.md", "wiki/c d.md"} <= found
    assert not {"wiki/code.md", "wiki/span.md"} & found


def test_an_answers_pages_are_known_only_if_they_were_given_or_a_tool_told_of_them() -> None:
    links = AnswerLinks("kb", frozenset({"wiki/a.md"}), read="- wiki/tool.md: From a tool")
    states = {named.words: named.link.state for named in links.named("[[wiki/a.md]], wiki/tool.md and wiki/b.md。")}
    assert states == {"[[wiki/a.md]]": "known", "wiki/tool.md": "known", "wiki/b.md": "unverified"}
    assert links.link("wiki/b.md") == PageLink("", "unverified", "wiki/b.md")
    assert links.link("https://example.org/wiki/b.md") is None
    assert links.in_code("wiki/a.md") == PageLink("devflow:page/kb/wiki/a.md", "known", "wiki/a.md")
    assert links.in_code("cat wiki/a.md | less") is None
