"""The seed's §7.5, line by line: a whole turn (§7.1)."""

import sqlite3
from pathlib import Path

import pytest

from devflow.domain.request import LookupFailed
from devflow.wiki.page_index import PageIndex
from tests.cases.asking import FX1, GUIDE, OPENCLAW, SESSIONS
from tests.cases.conftest import Talk


async def test_7_5_1_the_events_of_a_lookup_come_before_the_text(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    said = await talk.ask("OpenClaw 的文章讲了什么？")
    said.found()
    assert said.events == ("start", "done", *["text"] * (len(said.events) - 3), "end")
    assert len(said.events) > 4, "the text came in pieces"


async def test_7_5_2_without_a_lookup_there_is_no_event_of_one(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    said = await talk.ask("你好")
    said.looked_for_nothing()
    assert set(said.events) == {"text", "end"}


@pytest.mark.expects_log
async def test_7_5_3_a_lookup_that_fails_is_told_and_the_text_comes_all_the_same(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk.open(tmp_path / "kb", FX1)

    def broken(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(PageIndex, "refresh", broken)
    said = await talk.ask("OpenClaw 的文章讲了什么？")
    assert said.sent == said.question
    assert said.events[:3] == ("start", "error", "text")
    assert said.answer
    assert "disk I/O error" in said.line["error"]


async def test_7_5_4_the_block_keeps_to_a_fifth_of_the_window(talk: Talk, tmp_path: Path) -> None:
    pages = {f"{SESSIONS}/{n}.md": f"# 第 {n} 篇\n\n" + "很长的一句话，讲写作。" * 300 for n in range(9)}
    await talk.open(tmp_path / "kb", pages)
    async with talk.window(12_000):
        said = await talk.ask("总结一下")
    said.found(least=2)
    block = len(said.sent) - len(said.question) - 2
    assert 1_800 <= block <= 2_400


async def test_7_5_5_every_reference_is_a_result_and_a_made_up_one_is_noted(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    honest = await talk.ask("OpenClaw 的文章讲了什么？")
    honest.found()
    assert set(honest.references) <= set(honest.paths)
    assert talk.server is not None
    talk.server.lies = "\n- 《没有的文章》：wiki/made-up.md"
    lying = await talk.ask("OpenClaw 的文章讲了什么？")
    assert lying.line["unverified"] == ["wiki/made-up.md"]
    assert "wiki/made-up.md" not in lying.line["cited"]


async def test_7_5_6_each_turn_decides_and_searches_for_itself(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    first = await talk.ask("多agent团队怎么分工")
    second = await talk.ask("AI编程的提示词怎么写")
    third = await talk.ask("谢谢")
    first.found()
    second.found()
    assert third.searches == []
    assert (first.paths[0], second.paths[0]) == (OPENCLAW, GUIDE)
    assert second.earlier == (first.question,), "an earlier turn's context is not sent again"
    assert [line["triggered"] for line in talk.lines()] == [True, True, False]
    assert not isinstance(second.receipt.pages, LookupFailed)
