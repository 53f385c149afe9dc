"""The seed's §7.4, line by line, each through a turn (§7.1)."""

from pathlib import Path

import pytest

from devflow.domain.request import NotUsed
from tests.cases.asking import FX1, OPENCLAW
from tests.cases.conftest import Talk


@pytest.fixture
async def here(talk: Talk, tmp_path: Path) -> Talk:
    await talk.open(tmp_path / "kb", {**FX1, "wiki/x.md": "# 某页\n\n某页的正文。"})
    return talk


async def test_7_4_1_without_a_knowledge_base_nothing_is_looked_up(talk: Talk) -> None:
    await talk.use(None)
    said = await talk.ask("总结一下")
    assert said.sent == "总结一下"
    assert said.searches == []
    assert said.receipt.pages == NotUsed("no_kb")
    assert talk.lines() == [], "without a knowledge base there is no lookup to log"
    assert said.answer


@pytest.mark.parametrize("message", ["/sediment", "/pdf"])
async def test_7_4_2_a_command_is_not_looked_up(here: Talk, message: str) -> None:
    (await here.ask(message)).looked_for_nothing()


@pytest.mark.parametrize("message", ["你好", "谢谢", "ok"])
async def test_7_4_3_a_greeting_is_not_looked_up(here: Talk, message: str) -> None:
    (await here.ask(message)).looked_for_nothing()


async def test_7_4_4_which_model_is_not_looked_up(here: Talk) -> None:
    (await here.ask("当前模型是什么")).looked_for_nothing()


async def test_7_4_5_a_reference_is_looked_up(here: Talk) -> None:
    said = await here.ask("[[wiki/x.md]] 说了啥")
    said.found()
    assert said.paths[0] == "wiki/x.md"


async def test_7_4_6_a_summary_is_looked_up(here: Talk) -> None:
    (await here.ask("总结一下")).found(least=2)


async def test_7_4_7_the_question_this_all_began_with_is_looked_up(here: Talk) -> None:
    (await here.ask("这是我自媒体创作的文章，总结一下")).found(least=2)


async def test_7_4_8_a_topic_is_looked_up(here: Talk) -> None:
    said = await here.ask("OpenClaw 相关页面讲了什么")
    said.found()
    assert said.paths[0] == OPENCLAW


async def test_7_4_9_one_character_is_not_looked_up(here: Talk) -> None:
    (await here.ask("嗯")).looked_for_nothing()
