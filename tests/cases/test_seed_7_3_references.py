"""The seed's §7.3, line by line, each through a turn (§7.1)."""

from pathlib import Path

import pytest

from tests.cases.conftest import Talk

X, A, B = "wiki/synthesis/sessions/x.md", "wiki/a.md", "wiki/b.md"
PAGES = {X: "# 某次整理\n\n整理了三件事。", A: "# 甲页\n\n甲的正文。", B: "# 乙页\n\n乙的正文。"}


@pytest.fixture
async def here(talk: Talk, tmp_path: Path) -> Talk:
    await talk.open(tmp_path / "kb", PAGES)
    return talk


async def test_7_3_1_a_reference_behind_a_chinese_sentence(here: Talk) -> None:
    said = await here.ask(f"这是什么 [[{X}]]")
    said.found()
    assert said.line["explicitRefs"] == [X]
    assert said.paths == [X]
    assert "整理了三件事" in said.answer


async def test_7_3_2_two_references(here: Talk) -> None:
    said = await here.ask(f"[[{A}]] 和 [[{B}]]")
    said.found()
    assert said.line["explicitRefs"] == [A, B]
    assert said.paths == [A, B]


async def test_7_3_3_a_repeated_reference_counts_once(here: Talk) -> None:
    said = await here.ask(f"[[{A}]] [[{A}]]")
    said.found()
    assert said.line["explicitRefs"] == [A]
    assert said.paths == [A]


async def test_7_3_4_plain_text_names_no_page(here: Talk) -> None:
    said = await here.ask("普通文本无引用")
    assert said.line["explicitRefs"] == []
    assert "explicit" not in {page.reason for page in said.pages}
    said.found_nothing()


async def test_7_3_5_a_reference_begins_with_wiki(here: Talk) -> None:
    said = await here.ask("[[notwiki.md]]")
    assert said.line["explicitRefs"] == []
    said.found_nothing()
