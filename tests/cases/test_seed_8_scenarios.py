"""The seed's seven scenarios (§8): request, line of the log and answer each time (§7.1).

1 to 4 and 6 with a model on a real server, and with the offline assistant, which has none.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.run import RunState
from devflow.wiki.page_index import PageIndex
from tests.cases.asking import SESSIONS
from tests.cases.conftest import Said, Talk
from tests.support.articles import ARTICLES, write_articles
from tests.support.pages import write

QUESTION = "这是我自媒体创作的文章，总结一下。"


async def seven_articles(talk: Talk, folder: Path) -> KnowledgeBase:
    """An ordinary folder becomes a knowledge base, and its seven articles become pages."""
    files = write_articles(folder)
    base = await talk.core.bases.initialise(folder, "自媒体创作的文章")
    await talk.digest(base, files)
    await talk.use(base)
    return base


def sessions(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if path.startswith(f"{SESSIONS}/")]


def titles_in(said: Said) -> list[str]:
    return [article.title for article in ARTICLES if article.title in said.answer]


async def test_scenario_1_a_summary_right_after_the_digest(anyone: Talk, tmp_path: Path) -> None:
    await seven_articles(anyone, tmp_path / "文章")
    said = await anyone.ask(QUESTION)
    said.found(least=3)
    assert len(said.line["results"]) >= 3
    assert len(sessions(said.references)) >= 3
    assert len(titles_in(said)) >= 3, "it is about several of the articles"
    assert said.line["askedBack"] is False


async def test_scenario_2_a_topic(anyone: Talk, tmp_path: Path) -> None:
    await seven_articles(anyone, tmp_path / "文章")
    said = await anyone.ask("OpenClaw 相关的文章讲了什么？")
    said.found()
    assert "OpenClaw" in said.pages[0].title
    assert said.references[0] == said.paths[0]
    own = re.findall(r"[^，。；：\n]{8,}", said.pages[0].text)
    assert any(words in said.answer for words in own), "it rests on the page's own words"


async def test_scenario_3_another_knowledge_base_has_nothing_of_the_first(anyone: Talk, tmp_path: Path) -> None:
    await seven_articles(anyone, tmp_path / "文章")
    (await anyone.ask("这些文章总结一下。")).found()
    await anyone.open(tmp_path / "养猫", {"wiki/topics/cats.md": "# 养猫\n\n猫要喝水。"})
    said = await anyone.ask("这些文章总结一下。")
    said.found_nothing()
    assert not any(article.title in said.sent + said.answer for article in ARTICLES)
    assert SESSIONS not in said.sent + said.answer


async def test_scenario_4_a_page_that_was_chosen(anyone: Talk, tmp_path: Path) -> None:
    await seven_articles(anyone, tmp_path / "文章")
    chosen = next(path for path in sorted((tmp_path / "文章" / SESSIONS).glob("一人公司-*.md")))
    path = chosen.relative_to(tmp_path / "文章").as_posix()
    said = await anyone.ask(f"[[{path}]] 总结它的传播亮点")
    said.found()
    assert (said.pages[0].path, said.pages[0].reason) == (path, "explicit")
    assert len(said.pages) - 1 <= 3
    assert said.references[0] == path
    own = re.findall(r"[^，。；：\n]{8,}", said.pages[0].text)
    assert any(words in said.answer for words in own), "it rests on the chosen page"


async def test_scenario_5_small_talk_looks_for_nothing(talk: Talk, tmp_path: Path) -> None:
    await seven_articles(talk, tmp_path / "文章")
    for message in ("你好。", "当前模型是什么？", "/sediment"):
        said = await talk.ask(message)
        said.looked_for_nothing()
    assert [line["triggered"] for line in talk.lines()] == [False, False, False]


async def test_scenario_6_the_next_turn_is_about_something_else(anyone: Talk, tmp_path: Path) -> None:
    await seven_articles(anyone, tmp_path / "文章")
    first = await anyone.ask("总结一下这批文章")
    second = await anyone.ask("其中讲 AI 的那篇具体说了什么？")
    first.found(least=3)
    second.found()
    assert second.pages[0].title == "AI 编程的提示词怎么写"
    assert "AI 编程的提示词怎么写" in second.answer
    assert first.line["results"] != second.line["results"]
    assert [line["messagePreview"] for line in anyone.lines()] == [first.question, second.question]


@pytest.mark.expects_log
async def test_scenario_7_the_search_fails_as_a_whole(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root reads through `chmod 000`, and one page that cannot be read is only left out: the search itself fails."""
    await talk.open(tmp_path / "kb", {f"{SESSIONS}/a.md": "# 甲\n\n正文"})
    with monkeypatch.context() as patch:

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        patch.setattr(PageIndex, "refresh", refuse)
        said = await talk.ask("总结一下")
    assert said.state is RunState.COMPLETED
    assert said.sent == "总结一下"
    assert said.events[:3] == ("start", "error", "text")
    assert said.answer
    assert "Permission denied" in said.line["error"]
    (await talk.ask("总结一下")).found()


async def test_the_questions_of_the_issue_find_what_they_ask_for(talk: Talk, tmp_path: Path) -> None:
    await seven_articles(talk, tmp_path / "文章")
    write(tmp_path / "文章", {"wiki/entities/RAG.md": "# 检索增强生成\n\n先检索资料，再生成回答。"})
    for question, title in (
        ("检索增强生成是什么", "检索增强生成"),
        ("AI编程的提示词怎么写", "AI 编程的提示词怎么写"),
        ("多agent团队怎么分工", "用 OpenClaw 搭一支多 agent 内容团队"),
    ):
        said = await talk.ask(question)
        said.found()
        assert said.pages[0].title == title
    bug = await talk.ask("登录页面的 bug 怎么修")
    assert (bug.searches[0], bug.line["triggered"]) == ("start", True)
    (await talk.ask("你好～")).looked_for_nothing()
    await talk.empty(tmp_path / "空")
    (await talk.ask("总结一下")).found_nothing()
