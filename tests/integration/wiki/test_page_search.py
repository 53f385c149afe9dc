"""Searching a folder of pages: which come, in which order, and how much of each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devflow.retrieval.pages import HitReason, PageHit, PageSearch, context_budget_from_window, search_knowledge_base
from devflow.retrieval.references import parse_explicit_page_refs
from devflow.wiki.page_index import PageIndex
from tests.support.pages import ARTICLES, age, write

NOW = 1_764_000_000.0
SESSIONS = "wiki/synthesis/sessions"
GUIDE, OPENCLAW = f"{SESSIONS}/writing-guide.md", f"{SESSIONS}/openclaw.md"

Ask = Callable[..., PageSearch]


def ask_in(root: Path) -> Ask:
    """A question to that folder, with the references that it names."""
    index = PageIndex(root, None)

    def ask(question: str, **options: int) -> PageSearch:
        index.refresh()
        return search_knowledge_base(index, question, explicit_refs=parse_explicit_page_refs(question), **options)

    return ask


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return ask_in(write(tmp_path, ARTICLES))


def paths(found: PageSearch) -> list[str]:
    return [hit.path for hit in found.hits]


def reasons(found: PageSearch) -> list[str]:
    return [hit.hit_reason.value for hit in found.hits]


# what is found


def test_a_hit_says_where_it_is_what_it_is_called_and_why_it_came(ask: Ask) -> None:
    (hit,) = ask("一人公司").hits
    assert isinstance(hit, PageHit)
    assert (hit.path, hit.title, hit.hit_reason) == (OPENCLAW, "OpenClaw 自媒体文章", HitReason.BODY)
    assert "一人公司" in hit.snippet
    assert hit.score == 1.0
    assert hit.mtime > 0


@pytest.mark.parametrize("word", ["提示词", "AI 编程"])
def test_a_word_of_the_text_finds_the_page(ask: Ask, word: str) -> None:
    assert paths(ask(word))[0] == GUIDE


@pytest.mark.parametrize("question", ["OpenClaw相关的文章讲了什么？", "What does openclaw say?"])
def test_a_page_whose_title_answers_comes_first(ask: Ask, question: str) -> None:
    first = ask(question).hits[0]
    assert (first.path, first.hit_reason) == (OPENCLAW, HitReason.TITLE)


@pytest.mark.parametrize(
    "question, expected",
    [
        ("检索增强生成是什么", "wiki/entities/RAG.md"),
        ("什么是检索增强生成？", "wiki/entities/RAG.md"),
        ("多agent团队怎么分工", OPENCLAW),
        ("AI编程的提示词怎么写", GUIDE),
    ],
)
def test_an_unspaced_question_finds_the_obvious_page_first(tmp_path: Path, question: str, expected: str) -> None:
    ask = ask_in(write(tmp_path, {**ARTICLES, "wiki/entities/RAG.md": "# 检索增强生成\n\n先检索，再生成。"}))
    assert paths(ask(question))[0] == expected


@pytest.mark.parametrize("question", ["a b c", "md 文件", "wiki 是什么东西", "量子纠缠的实验", "是什么"])
def test_what_no_page_is_about_finds_none(ask: Ask, question: str) -> None:
    assert paths(ask(question)) == []


def test_a_latin_word_is_not_found_inside_another(tmp_path: Path) -> None:
    assert paths(ask_in(write(tmp_path, {"wiki/a.md": "# Email training\n"}))("AI 怎么样")) == []


def test_every_folder_below_wiki_and_the_pages_at_the_root_are_searched_and_the_originals_are_not(
    tmp_path: Path,
) -> None:
    text = "zebra"
    places = ["wiki/queries/q.md", "wiki/root.md", "overview.md", "raw/x.md", "notes.md", "wiki/.trash/x.md"]
    ask = ask_in(write(tmp_path, dict.fromkeys(places, text)))
    assert sorted(paths(ask("zebra"))) == ["overview.md", "wiki/queries/q.md", "wiki/root.md"]


@pytest.mark.parametrize("pages", [{".wiki-schema.md": ""}, {"wiki/a.md": ""}, {}])
def test_an_empty_knowledge_base_finds_nothing_and_raises_nothing(tmp_path: Path, pages: dict[str, str]) -> None:
    assert ask_in(write(tmp_path / "kb", pages))("总结一下").hits == ()


def test_the_same_question_has_the_same_answer(ask: Ask) -> None:
    assert ask("自媒体文章怎么写") == ask("自媒体文章怎么写")


def test_two_knowledge_bases_never_mix(tmp_path: Path) -> None:
    first = ask_in(write(tmp_path / "a", ARTICLES))
    second = ask_in(write(tmp_path / "b", {"wiki/other.md": "# 别的\n\n养猫。"}))
    assert paths(first("OpenClaw 的文章"))[0] == OPENCLAW
    assert paths(second("OpenClaw 的文章")) == []
    assert paths(first("OpenClaw 的文章"))[0] == OPENCLAW


# overview questions


def sessions(root: Path) -> Path:
    pages = {f"{SESSIONS}/{name}.md": f"# {name.title()}\n\ntext" for name in ("old", "mid", "new")}
    write(root, {**pages, "purpose.md": "# Why\n\nnotes", f"{SESSIONS}/mid.md": "# Mid\n\nabout OpenClaw"})
    for name, days in (("old", 400), ("mid", 30), ("new", 0)):
        age(root / SESSIONS / f"{name}.md", days=days, now=NOW)
    return root


def test_an_overview_shows_what_the_base_is_about_then_the_newest_pages(tmp_path: Path) -> None:
    found = ask_in(sessions(tmp_path))("总结一下")
    assert paths(found) == ["purpose.md", f"{SESSIONS}/new.md", f"{SESSIONS}/mid.md", f"{SESSIONS}/old.md"]
    assert reasons(found) == ["kb_meta", "recent_synthesis", "recent_synthesis", "recent_synthesis"]


def test_a_word_of_the_question_outweighs_what_is_new(tmp_path: Path) -> None:
    found = ask_in(sessions(tmp_path))("总结一下 OpenClaw 的文章")
    assert paths(found)[0] == f"{SESSIONS}/mid.md"
    assert "kb_meta" not in reasons(found)


def test_the_articles_that_were_just_digested_come_to_a_question_about_them(ask: Ask) -> None:
    found = ask("这是我自媒体创作的文章，总结一下。")
    assert {GUIDE, OPENCLAW} <= set(paths(found))


def test_a_pages_own_name_in_a_reference_makes_no_overview(tmp_path: Path) -> None:
    ask = ask_in(write(tmp_path, {**ARTICLES, "wiki/topics/总结.md": "# 总结\n\n一页。"}))
    assert paths(ask("[[wiki/topics/总结.md]] zzz")) == ["wiki/topics/总结.md"]


def test_at_most_six_pages_come_unless_asked_otherwise(tmp_path: Path) -> None:
    pages = {f"{SESSIONS}/{n}.md": f"# {n}\n\n" + "内容。" * 400 for n in range(8)}
    ask = ask_in(write(tmp_path, pages))
    found = ask("总结一下")
    assert (len(found.hits), found.matching) == (6, 8)
    assert len(ask("总结一下", max_pages=2).hits) == 2


# references


def test_named_pages_come_first_in_the_messages_order(ask: Ask) -> None:
    found = ask(f"[[{GUIDE}]] [[{OPENCLAW}]] 对比")
    assert paths(found)[:2] == [GUIDE, OPENCLAW]
    assert reasons(found)[:2] == ["explicit", "explicit"]


def test_beside_a_named_page_at_most_three_others_come(tmp_path: Path) -> None:
    pages = {f"{SESSIONS}/{n}.md": f"# {n}\n\n自媒体" for n in range(8)}
    found = ask_in(write(tmp_path, {**ARTICLES, **pages}))(f"[[{OPENCLAW}]] 再结合全库看看自媒体")
    assert paths(found)[0] == OPENCLAW
    assert 1 <= len(found.hits) - 1 <= 3


@pytest.mark.parametrize(
    "reference", ["wiki/不存在.md", "wiki/../purpose.md", "wiki/../raw/x.md", "wiki/../.wiki-schema.md", "wiki/dir.md"]
)
def test_a_reference_to_no_page_is_reported_and_reads_nothing(tmp_path: Path, reference: str) -> None:
    write(tmp_path, {**ARTICLES, "raw/x.md": "secret"})
    (tmp_path / "wiki" / "dir.md").mkdir()
    found = ask_in(tmp_path)(f"说说 [[{reference}]]")
    assert found.missing == (reference,)
    assert not any("secret" in hit.snippet for hit in found.hits)


def test_a_link_out_of_the_folder_is_neither_listed_nor_read(tmp_path: Path) -> None:
    write(tmp_path, {"kb/wiki/a.md": "# A", "outside/secret.md": "zebra secret"})
    (tmp_path / "kb" / "wiki" / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (tmp_path / "kb" / "wiki" / "folder").symlink_to(tmp_path / "outside")
    ask = ask_in(tmp_path / "kb")
    assert paths(ask("zebra secret")) == []
    found = ask("[[wiki/link.md]] [[wiki/folder/secret.md]]")
    assert found.missing == ("wiki/link.md", "wiki/folder/secret.md")
    assert found.hits == ()


# how much of each


def test_named_pages_share_the_budget_and_none_is_left_out(tmp_path: Path) -> None:
    ask = ask_in(write(tmp_path, {f"wiki/{n}.md": f"# {n}\n\n" + "x" * 1_000 for n in range(20)}))
    found = ask(" ".join(f"[[wiki/{n}.md]]" for n in range(20)), total_budget_chars=500)
    assert paths(found) == [f"wiki/{n}.md" for n in range(20)]
    assert sum(len(hit.snippet) for hit in found.hits) <= 500
    assert all(hit.cut for hit in found.hits)


def test_a_snippet_and_all_of_them_keep_to_their_limits(tmp_path: Path) -> None:
    ask = ask_in(write(tmp_path, {f"wiki/{n}.md": f"# 页 {n}\n\n" + "检索的正文。" * 300 for n in range(8)}))
    found = ask("检索的正文", total_budget_chars=2_000)
    assert all(len(hit.snippet) <= 600 for hit in found.hits)
    assert sum(len(hit.snippet) for hit in found.hits) <= 2_000
    assert (len(found.hits), found.matching) == (3, 8)  # what is left is too little to be worth reading


def test_a_snippet_is_cut_around_the_match_and_says_so(tmp_path: Path) -> None:
    text = "# 长文\n\n" + "无关的句子。" * 300 + "这里讲一人公司。" + "又是无关的句子。" * 300
    (hit,) = ask_in(write(tmp_path, {"wiki/long.md": text}))("一人公司").hits
    assert "一人公司" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) <= 600


def test_a_short_page_comes_whole_with_its_lines(tmp_path: Path) -> None:
    text = "# 表\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- 一\n- 二"
    (hit,) = (
        ask_in(write(tmp_path, {"wiki/table.md": text}))("表 a b").hits or ask_in(tmp_path)("[[wiki/table.md]]").hits
    )
    assert hit.snippet == text
    assert not hit.cut


def test_a_page_found_by_its_title_is_shown_from_its_beginning(tmp_path: Path) -> None:
    text = "# 检索增强生成\n\n开头的话。" + "后来的话。" * 400 + "检索增强生成"
    (hit,) = ask_in(write(tmp_path, {"wiki/rag.md": text}))("检索增强生成").hits
    assert hit.snippet.startswith("# 检索增强生成")


def test_a_cut_never_splits_what_is_seen_as_one_character(tmp_path: Path) -> None:
    family = "👨‍👩‍👧‍👦"
    (hit,) = ask_in(write(tmp_path, {"wiki/e.md": "# E\n\n" + family * 400}))(
        "[[wiki/e.md]]", snippet_max_chars=100
    ).hits
    assert hit.snippet.removesuffix("…").count(family) * len(family) == len(hit.snippet.removesuffix("…")) - len(
        "# E\n\n"
    )


@pytest.mark.parametrize("window, chars", [(10_000, 2_000), (200_000, 40_000), (None, 4_000), ("bad", 4_000)])
def test_the_budget_is_a_fifth_of_the_window(window: object, chars: int) -> None:
    assert context_budget_from_window(window) == chars


@pytest.mark.parametrize("window", [0, -1, float("nan"), float("inf"), "8000", True])
def test_a_window_that_is_none_counts_as_unknown(window: object) -> None:
    assert context_budget_from_window(window) == 4_000
