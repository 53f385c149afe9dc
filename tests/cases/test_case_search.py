"""SEARCH: which pages come for a question, and in which order."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devflow.retrieval.pages import HitReason
from devflow.wiki.founding import Sites, initialise
from devflow.wiki.page_index import PageIndex
from tests.cases.asking import FX1, GUIDE, OPENCLAW, SESSIONS, Ask, ask_in, paths, reasons
from tests.cases.conftest import Talk
from tests.support.pages import age, write

OVERVIEW_REASONS = {"kb_meta", "recent_synthesis"}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return ask_in(write(tmp_path / "fx1", FX1))


@pytest.fixture
def dated(tmp_path: Path) -> Ask:
    """Three sessions, 400 days, 30 days and no day old; the one in the middle is about OpenClaw."""
    texts = {"old": "旧的记录。", "new": "新的记录。", "mid": "这里讲 OpenClaw 的用法。"}
    pages = {f"{SESSIONS}/{name}.md": f"# {name}\n\n{text}" for name, text in texts.items()}
    root = write(tmp_path / "dated", {".wiki-schema.md": "", "purpose.md": "# 方向\n\n写作。", **pages})
    for name, days in (("old", 400), ("new", 0), ("mid", 30)):
        age(root / SESSIONS / f"{name}.md", days=days, now=time.time())
    return ask_in(root)


@pytest.mark.case("SEARCH-01")
def test_a_question_about_these_articles_brings_sessions_within_the_limits(ask: Ask) -> None:
    found = ask("这些文章总结一下", total_budget_chars=2_000)
    assert len(found.hits) >= 2
    assert any(path.startswith(f"{SESSIONS}/") for path in paths(found))
    assert max(len(hit.snippet) for hit in found.hits) <= 600
    assert sum(len(hit.snippet) for hit in found.hits) <= 2_000
    assert found.missing == ()


@pytest.mark.case("SEARCH-02")
def test_the_page_that_is_named_comes_first_as_explicit(ask: Ask) -> None:
    first = ask(f"对比一下 [[{GUIDE}]]", total_budget_chars=500).hits[0]
    assert (first.path, first.hit_reason) == (GUIDE, HitReason.EXPLICIT)


@pytest.mark.case("SEARCH-03")
async def test_a_page_that_is_not_there_is_missing_and_the_prompt_says_so(talk: Talk, ask: Ask, tmp_path: Path) -> None:
    found = ask("说说 [[wiki/不存在.md]]", total_budget_chars=500)
    assert found.missing == ("wiki/不存在.md",)
    assert "wiki/不存在.md" not in paths(found)
    await talk.open(tmp_path / "fx1", FX1)
    said = await talk.ask("说说 [[wiki/不存在.md]]")
    assert "用户引用了 wiki/不存在.md，但该页面不存在" in said.sent
    assert "wiki/不存在.md：没有这一页" in said.answer


@pytest.mark.case("SEARCH-04")
def test_a_page_is_found_as_soon_as_it_is_written(ask: Ask, tmp_path: Path) -> None:
    new = f"{SESSIONS}/new-topic.md"
    assert new not in paths(ask("新增主题"))
    write(tmp_path / "fx1", {new: "# 新增主题\n\n刚写好。"})
    assert paths(ask("新增主题"))[0] == new


@pytest.mark.case("SEARCH-05")
@pytest.mark.parametrize("files", [{".wiki-schema.md": ""}, {"purpose.md": ""}, None])
def test_an_empty_knowledge_base_finds_nothing_and_raises_nothing(tmp_path: Path, files: dict[str, str] | None) -> None:
    ask = ask_in(tmp_path / "kb" if files is None else write(tmp_path / "kb", files))
    for question in ("总结一下", "OpenClaw", "[[wiki/a.md]] 说了啥"):
        assert ask(question).hits == ()


@pytest.mark.case("SEARCH-06")
def test_six_pages_are_the_default(tmp_path: Path) -> None:
    long = {f"{SESSIONS}/{n}.md": f"# 第 {n} 篇\n\n" + "一句很长的话。" * 300 for n in range(8)}
    assert len(ask_in(write(tmp_path, long))("总结一下").hits) == 6


@pytest.mark.case("SEARCH-07")
def test_the_same_question_twice_has_one_answer(ask: Ask) -> None:
    assert ask("自媒体文章怎么写") == ask("自媒体文章怎么写")


@pytest.mark.case("SEARCH-08")
def test_two_named_pages_come_in_the_messages_order(ask: Ask) -> None:
    assert paths(ask(f"[[{GUIDE}]] [[{OPENCLAW}]] 有什么不同？"))[:2] == [GUIDE, OPENCLAW]
    assert paths(ask(f"[[{OPENCLAW}]] [[{GUIDE}]] 有什么不同？"))[:2] == [OPENCLAW, GUIDE]


@pytest.mark.case("SEARCH-09")
def test_beside_the_named_page_at_most_three_others_follow(tmp_path: Path) -> None:
    more = {f"{SESSIONS}/more-{n}.md": f"# 更多 {n}\n\n自媒体文章。" for n in range(6)}
    found = ask_in(write(tmp_path, {**FX1, **more}))(f"[[{OPENCLAW}]] 再结合全库看看自媒体文章")
    assert paths(found)[0] == OPENCLAW
    assert 1 <= len(found.hits) - 1 <= 3
    assert "explicit" not in reasons(found)[1:]


@pytest.mark.case("SEARCH-10")
def test_two_knowledge_bases_never_mix(tmp_path: Path) -> None:
    a = ask_in(write(tmp_path / "a", FX1))
    b = ask_in(write(tmp_path / "b", {"wiki/topics/cats.md": "# 养猫\n\n猫要喝水。"}))
    assert OPENCLAW in paths(a("总结一下 OpenClaw"))
    assert paths(b("总结一下 OpenClaw")) == []
    assert paths(b("养猫"))[0] == "wiki/topics/cats.md"
    assert OPENCLAW in paths(a("总结一下 OpenClaw"))


@pytest.mark.case("SEARCH-12")
@pytest.mark.parametrize("word, path", [("提示词", GUIDE), ("一人公司", OPENCLAW)])
def test_a_word_of_the_text_finds_its_page(ask: Ask, word: str, path: str) -> None:
    found = ask(word)
    assert (found.hits[0].path, found.hits[0].hit_reason) == (path, HitReason.BODY)


@pytest.mark.case("SEARCH-13")
@pytest.mark.parametrize(
    "question, path",
    [
        ("检索增强生成是什么", "wiki/entities/RAG.md"),
        ("什么是检索增强生成？", "wiki/entities/RAG.md"),
        ("多agent团队怎么分工", OPENCLAW),
        ("AI编程的提示词怎么写", GUIDE),
    ],
)
def test_an_unspaced_question_finds_the_obvious_page_first(tmp_path: Path, question: str, path: str) -> None:
    ask = ask_in(write(tmp_path, {**FX1, "wiki/entities/RAG.md": "# 检索增强生成\n\n先检索资料，再生成回答。"}))
    assert paths(ask(question))[0] == path


@pytest.mark.case("SEARCH-14")
def test_a_latin_name_without_a_space_after_it_is_a_word(ask: Ask) -> None:
    first = ask("OpenClaw相关的文章讲了什么？").hits[0]
    assert (first.path, first.hit_reason) == (OPENCLAW, HitReason.TITLE)


@pytest.mark.case("SEARCH-15")
def test_single_letters_find_nothing(tmp_path: Path) -> None:
    ask = ask_in(write(tmp_path, {**FX1, "wiki/abc.md": "# a b c\n\na b c"}))
    assert paths(ask("a b c")) == []


@pytest.mark.case("SEARCH-16")
def test_a_latin_term_is_not_found_inside_a_word(tmp_path: Path) -> None:
    ask = ask_in(write(tmp_path, {"wiki/mail.md": "# Email training\n\nMaintain a mail server."}))
    assert paths(ask("AI 怎么样")) == []


@pytest.mark.case("SEARCH-17")
@pytest.mark.parametrize("question", ["wiki 是什么东西", "md 文件"])
def test_what_every_path_has_is_no_match(ask: Ask, question: str) -> None:
    assert paths(ask(question)) == []


@pytest.mark.case("SEARCH-18")
def test_an_overview_begins_with_the_purpose_and_goes_on_with_the_newest(dated: Ask) -> None:
    found = dated("总结一下")
    assert paths(found) == ["purpose.md", *(f"{SESSIONS}/{name}.md" for name in ("new", "mid", "old"))]
    assert reasons(found) == ["kb_meta", *["recent_synthesis"] * 3]


@pytest.mark.case("SEARCH-19")
def test_a_term_of_the_question_outweighs_what_is_newer(dated: Ask) -> None:
    assert paths(dated("总结一下 OpenClaw 的文章"))[0] == f"{SESSIONS}/mid.md"


@pytest.mark.case("SEARCH-20")
def test_an_overview_may_be_asked_for_in_english(ask: Ask) -> None:
    found = ask("summarize these articles")
    assert set(reasons(found)) == OVERVIEW_REASONS
    assert {GUIDE, OPENCLAW} <= set(paths(found))


@pytest.mark.case("SEARCH-21")
@pytest.mark.parametrize("question", ["分析一下这段代码 print(1)", "帮我总结一下刚才的对话"])
def test_code_and_the_conversation_are_not_what_the_knowledge_base_is_about(ask: Ask, question: str) -> None:
    assert not OVERVIEW_REASONS & set(reasons(ask(question)))


@pytest.mark.case("SEARCH-22")
def test_the_name_of_a_reference_makes_no_overview(tmp_path: Path) -> None:
    found = ask_in(write(tmp_path, {**FX1, "wiki/topics/总结.md": "# 总结\n\n一页。"}))("[[wiki/topics/总结.md]] zzz")
    assert reasons(found) == ["explicit"]


@pytest.mark.case("SEARCH-24")
def test_pages_are_searched_wherever_they_count_and_originals_are_not(tmp_path: Path) -> None:
    places = ("wiki/queries/q.md", "wiki/root.md", "overview.md", "raw/x.md")
    found = ask_in(write(tmp_path, dict.fromkeys(places, "# 一页\n\n斑马")))("斑马")
    assert sorted(paths(found)) == ["overview.md", "wiki/queries/q.md", "wiki/root.md"]


@pytest.mark.case("SEARCH-26")
async def test_a_fresh_knowledge_base_has_nothing_and_says_so(talk: Talk, tmp_path: Path) -> None:
    folder = tmp_path / "by hand"
    folder.mkdir()
    initialise(folder, "自媒体文章", at=datetime.now(UTC), sites=Sites())
    assert ask_in(folder, index=PageIndex(folder, None))("这些文章总结一下").hits == ()
    await talk.empty(tmp_path / "kb")
    (await talk.ask("这些文章总结一下")).found_nothing()
