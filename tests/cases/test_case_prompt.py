"""BUILD, TOOL and LOG: what the model is told, what it can ask itself, what is written down."""

import re
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.request import NothingFound
from devflow.domain.run import RunState
from devflow.prompt.pages import build_knowledge_context_prompt
from devflow.retrieval.journal import Journal
from devflow.tools.knowledge_base import QueryKnowledgeBase
from devflow.tools.tool import ToolContext, ToolOutcome
from tests.cases.asking import FX1, GUIDE, OPENCLAW
from tests.cases.conftest import Talk


@pytest.mark.case("BUILD-01")
async def test_nothing_found_forbids_to_ask_for_the_articles(talk: Talk, tmp_path: Path) -> None:
    await talk.empty(tmp_path / "kb")
    said = await talk.ask("总结一下")
    said.found_nothing()
    assert said.sent.startswith("总结一下\n\n---\n[系统检索上下文]\n\n当前知识库：kb\n")
    assert "未在当前知识库找到与该问题相关的页面" in said.sent
    assert "禁止反问用户提供文章" in said.sent
    english = await talk.ask("What do the articles say?")
    assert "found no page of the current knowledge base" in english.sent
    assert "do not ask them to provide the articles" in english.sent


@pytest.mark.case("BUILD-02")
@pytest.mark.parametrize("files, least", [(FX1, 1), ({".wiki-schema.md": ""}, 0)])
async def test_each_page_that_is_missing_has_its_line(
    talk: Talk, tmp_path: Path, files: dict[str, str], least: int
) -> None:
    await talk.open(tmp_path / "kb", files)
    said = await talk.ask("[[wiki/甲.md]] 和 [[wiki/乙.md]] 的写作方法有什么不同？")
    assert len(said.pages) >= least
    for path in ("wiki/甲.md", "wiki/乙.md"):
        assert f"\n- 用户引用了 {path}，但该页面不存在" in said.sent
        assert path not in said.paths
        assert f"{path}：没有这一页" in said.answer


@pytest.mark.case("BUILD-03")
async def test_the_message_comes_first_and_the_pages_below_it_with_the_rules(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "写作", FX1)
    said = await talk.ask("OpenClaw 的文章讲了什么？")
    said.found()
    layout = (
        r"OpenClaw 的文章讲了什么？\n\n---\n\[系统检索上下文 / 用户不可见\]\n\n"
        r"当前知识库：\n- 名称: 写作\n- 路径: \S+\n\n.+\n\n"
        rf"<<<P1 \w+>>>\n\[1\] OpenClaw 自媒体文章\n    路径: {OPENCLAW}\n    命中: title\n# OpenClaw 自媒体文章\n\n.*?"
        r"\n\n回答约束：\n- .+"
    )
    assert re.match(layout, said.sent, re.DOTALL)
    assert "- 《标题》：路径" in said.sent
    assert "只能从上述检索结果中选取" in said.sent
    assert build_knowledge_context_prompt("原话", NothingFound("块")) == "原话\n\n块"


@pytest.mark.case("TOOL-01")
async def test_the_model_may_search_by_itself(talk: Talk, tmp_path: Path) -> None:
    base = await talk.open(tmp_path / "kb", FX1)

    async def ask(query: str, **fields: Any) -> ToolOutcome:
        within = {"kb_id": base.id, "bases": talk.core.bases, **fields}
        ctx = ToolContext("conversation", None, talk.core.knowledge, talk.core.paths.home, **within)
        return await QueryKnowledgeBase().run({"query": query}, ctx)

    assert "No knowledge base is selected" in (await ask("提示词", kb_id=None)).error
    assert "query must not be empty" in (await ask("  ")).error
    assert (await ask("量子纠缠")).text.startswith("No page found")
    hits = (await ask("提示词")).text
    assert hits.startswith(f"[1] 示例写作方法\npath: {GUIDE}\nfound by: body\n# 示例写作方法\n")


@pytest.mark.case("LOG-03")
async def test_a_log_that_cannot_be_written_changes_no_answer(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    (talk.core.paths.logs / "retrieval").write_text("a file is in the way", encoding="utf-8")
    assert talk.conversation is not None
    run = await talk.core.turns.send(talk.conversation.id, "OpenClaw 的文章讲了什么？")
    assert (await talk.core.turns.wait(run.id)).state is RunState.COMPLETED
    answer = (await talk.core.conversations.path(talk.conversation.id)).messages[-1].content
    assert "OpenClaw 自媒体文章" in answer


@pytest.mark.case("LOG-04")
def test_the_log_is_named_by_the_local_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven in the morning east of Greenwich is the day before in UTC."""
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        journal = Journal(tmp_path)
        journal.begin("run", {"ts": datetime.fromisoformat("2026-03-05T07:00:00+08:00").timestamp() * 1_000})
        journal.end("run")
        assert [file.name for file in tmp_path.iterdir()] == ["2026-03-05.jsonl"]
    finally:
        monkeypatch.undo()
        time.tzset()
