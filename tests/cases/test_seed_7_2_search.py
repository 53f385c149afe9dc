"""The seed's §7.2, line by line, each through a turn: the request, the line of the log and the answer (§7.1)."""

import time
from pathlib import Path

import pytest

from devflow.retrieval.pages import HitReason, PageHit, search_knowledge_base
from tests.cases.asking import FX1, OPENCLAW, SESSIONS
from tests.cases.conftest import Talk
from tests.support.pages import age, write


def long_pages(count: int) -> dict[str, str]:
    return {f"{SESSIONS}/{n}.md": f"# 第 {n} 篇文章\n\n" + "这一句写自媒体的经验，很长。" * 200 for n in range(count)}


async def test_7_2_1_these_articles_are_the_newest_sessions(talk: Talk, tmp_path: Path) -> None:
    names = {"old": 400, "new": 0, "mid": 30}
    await talk.open(tmp_path / "kb", {f"{SESSIONS}/{name}.md": f"# 记录 {name}\n\n写作。" for name in names})
    for name, days in names.items():
        age(tmp_path / "kb" / SESSIONS / f"{name}.md", days=days, now=time.time())
    said = await talk.ask("总结这些文章")
    said.found(least=3)
    assert said.paths == [f"{SESSIONS}/{name}.md" for name in ("new", "mid", "old")]
    assert {page.reason for page in said.pages} == {"recent_synthesis"}


async def test_7_2_2_a_word_finds_the_pages_that_have_it(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", {**FX1, "wiki/topics/tools.md": "# 工具箱\n\n也提到 OpenClaw 的用法。"})
    said = await talk.ask("OpenClaw")
    said.found(least=2)
    assert [(page.path, page.reason) for page in said.pages] == [(OPENCLAW, "title"), ("wiki/topics/tools.md", "body")]
    assert "OpenClaw 自媒体文章" in said.answer


async def test_7_2_3_a_result_has_all_that_was_agreed(talk: Talk, tmp_path: Path) -> None:
    base = await talk.open(tmp_path / "kb", FX1)
    said = await talk.ask("一人公司怎么经营")
    said.found()
    result = said.line["results"][0]
    hit = (await talk.core.bases.ask(base, lambda index: search_knowledge_base(index, "一人公司怎么经营"))).hits[0]
    assert isinstance(hit, PageHit)
    assert (hit.path, hit.hit_reason, hit.score) == (result["path"], HitReason(result["hitReason"]), result["score"])
    assert (hit.title, hit.snippet) == (said.pages[0].title, said.pages[0].text)
    assert hit.mtime == pytest.approx((tmp_path / "kb" / hit.path).stat().st_mtime)


async def test_7_2_4_six_pages_unless_another_number_is_asked_for(talk: Talk, tmp_path: Path) -> None:
    base = await talk.open(tmp_path / "kb", long_pages(8))
    said = await talk.ask("总结一下")
    said.found()
    assert len(said.pages) == 6
    assert "共 8 页匹配，显示 6 页" in said.sent
    two = await talk.core.bases.ask(base, lambda index: search_knowledge_base(index, "总结一下", max_pages=2))
    assert [hit.path for hit in two.hits] == said.paths[:2]


async def test_7_2_5_a_snippet_keeps_to_its_limit(talk: Talk, tmp_path: Path) -> None:
    base = await talk.open(tmp_path / "kb", long_pages(8))
    said = await talk.ask("总结一下")
    said.found()
    assert all(0 < len(page.text) <= 600 for page in said.pages)
    short = await talk.core.bases.ask(
        base, lambda index: search_knowledge_base(index, "总结一下", snippet_max_chars=90)
    )
    assert all(0 < len(hit.snippet) <= 90 for hit in short.hits)


async def test_7_2_6_all_snippets_keep_to_the_budget(talk: Talk, tmp_path: Path) -> None:
    base = await talk.open(tmp_path / "kb", long_pages(8))
    said = await talk.ask("总结一下")
    said.found()
    assert len(said.sent) - len(said.question) - 2 <= 4_000, "the whole block, for a window that is not known"
    found = await talk.core.bases.ask(
        base, lambda index: search_knowledge_base(index, "总结一下", total_budget_chars=1_000)
    )
    assert 0 < sum(len(hit.snippet) for hit in found.hits) <= 1_000


async def test_7_2_7_named_pages_stay_whatever_the_budget(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", long_pages(20))
    named = [f"{SESSIONS}/{n}.md" for n in range(20)]
    said = await talk.ask(" ".join(f"[[{path}]]" for path in named) + " 对比")
    said.found()
    assert said.paths == named
    assert {page.reason for page in said.pages} == {"explicit"}
    assert sum(len(page.text) for page in said.pages) < 4_000


async def test_7_2_8_an_empty_knowledge_base_gives_nothing(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", {".wiki-schema.md": ""})
    (await talk.ask("OpenClaw 的文章讲了什么？")).found_nothing()


async def test_7_2_9_the_same_question_has_the_same_results(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    first = await talk.ask("自媒体文章怎么写")
    second = await talk.ask("自媒体文章怎么写")
    first.found()
    second.found()
    assert first.line["results"] == second.line["results"]
    assert [page.text for page in first.pages] == [page.text for page in second.pages]


async def test_7_2_10_what_was_just_digested_is_found_by_the_next_question(talk: Talk, tmp_path: Path) -> None:
    base = await talk.empty(tmp_path / "kb")
    (await talk.ask("养猫要注意什么？")).found_nothing()
    write(tmp_path / "kb", {"raw/cats.md": "# 养猫的第一个月\n\n猫砂盆要放在安静的地方。"})
    await talk.digest(base, [tmp_path / "kb/raw/cats.md"])
    said = await talk.ask("养猫要注意什么？")
    said.found()
    assert said.pages[0].title == "养猫的第一个月"
    assert said.paths[0].startswith(f"{SESSIONS}/cats-")
    assert "猫砂盆要放在安静的地方" in said.answer
