"""The seed's §7.8, line by line: whatever fails, the answer comes (§7.1)."""

from pathlib import Path
from typing import Any

import pytest

from devflow.domain.request import LookupFailed
from devflow.domain.run import RunState
from devflow.prompt import page_lookup
from tests.cases.asking import FX1, SESSIONS
from tests.cases.conftest import Talk


@pytest.mark.expects_log
async def test_7_8_1_a_folder_that_cannot_be_read_is_told_and_logged(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", FX1)
    (tmp_path / "kb").rename(tmp_path / "elsewhere")
    said = await talk.ask("总结一下")
    assert said.state is RunState.COMPLETED
    assert said.sent == "总结一下"
    assert said.events[:3] == ("start", "error", "text")
    assert said.answer
    assert (said.line["triggered"], said.line["results"]) == (True, [])
    assert said.line["error"].startswith("Traceback (most recent call last):")
    assert "FileNotFoundError" in said.line["error"]
    (tmp_path / "elsewhere").rename(tmp_path / "kb")
    (await talk.ask("总结一下")).found()


async def test_7_8_2_what_is_too_much_is_cut_to_the_budget(talk: Talk, tmp_path: Path) -> None:
    await talk.open(tmp_path / "kb", {f"{SESSIONS}/{n}.md": f"# 第 {n} 篇\n\n" + "长。" * 99_000 for n in range(6)})
    async with talk.window(8_192):
        said = await talk.ask("总结一下")
    said.found()
    assert said.state is RunState.COMPLETED
    assert len(said.sent) - len(said.question) - 2 <= 8_192 * 0.2
    assert "…" in said.pages[0].text


@pytest.mark.expects_log
async def test_7_8_3_a_decision_that_fails_leaves_the_bare_message(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk.open(tmp_path / "kb", FX1)

    def broken(*_: Any, **__: Any) -> bool:
        raise ValueError("no decision")

    monkeypatch.setattr(page_lookup, "should_use_knowledge_base", broken)
    said = await talk.ask("总结一下")
    assert said.state is RunState.COMPLETED
    assert said.sent == "总结一下"
    assert said.answer
    assert isinstance(said.receipt.pages, LookupFailed)
    assert "ValueError: no decision" in said.line["error"]
