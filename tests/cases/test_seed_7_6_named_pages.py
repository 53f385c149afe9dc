"""The seed's §7.6, line by line (§7.1). That `@` inserts `[[wiki/….md]] ` is shown by the composer's own tests."""

from pathlib import Path

import pytest

from tests.cases.asking import FX1, GUIDE, OPENCLAW
from tests.cases.conftest import Talk


@pytest.fixture
async def here(talk: Talk, tmp_path: Path) -> Talk:
    await talk.open(tmp_path / "kb", FX1)
    return talk


async def test_7_6_1_the_page_that_was_chosen_is_the_first_result(here: Talk) -> None:
    said = await here.ask(f"[[{GUIDE}]] ")
    said.found()
    assert (said.pages[0].path, said.pages[0].reason) == (GUIDE, "explicit")
    assert "示例写作方法" in said.answer


async def test_7_6_2_two_chosen_pages_are_the_first_two(here: Talk) -> None:
    said = await here.ask(f"[[{OPENCLAW}]] [[{GUIDE}]] 对比")
    said.found(least=2)
    assert said.paths[:2] == [OPENCLAW, GUIDE]
    assert [page.reason for page in said.pages[:2]] == ["explicit", "explicit"]


async def test_7_6_3_the_rest_of_the_base_adds_to_it(here: Talk) -> None:
    said = await here.ask(f"[[{GUIDE}]] 再结合全库看看自媒体文章")
    said.found(least=2)
    assert said.paths[0] == GUIDE
    assert OPENCLAW in said.paths[1:]
    assert "explicit" not in {page.reason for page in said.pages[1:]}


async def test_7_6_4_a_page_that_is_not_there_is_said_to_be_missing(here: Talk) -> None:
    said = await here.ask("[[wiki/不存在.md]] 说了啥")
    assert said.sent.rstrip().endswith("用户引用了 wiki/不存在.md，但该页面不存在")
    assert "wiki/不存在.md" not in [result["path"] for result in said.line["results"]]
    assert said.line["explicitRefs"] == ["wiki/不存在.md"]
    assert "wiki/不存在.md：没有这一页" in said.answer
    assert said.line["askedBack"] is False
