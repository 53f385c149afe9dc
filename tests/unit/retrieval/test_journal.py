"""The log of lookups: a line each, complete when its answer is."""

import json
import time
from datetime import datetime
from pathlib import Path

import pytest

from devflow.retrieval.answers import asks_back, named_pages, unverified_pages
from devflow.retrieval.journal import Journal

TS = 1_796_000_000_000


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]


def test_a_line_is_written_once_with_what_its_answer_did(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin("run", {"ts": TS, "triggered": True})
    assert lines(tmp_path) == []
    journal.end("run", cited=["wiki/a.md"])
    journal.end("run", cited=["again"])
    assert lines(tmp_path) == [{"ts": TS, "triggered": True, "cited": ["wiki/a.md"]}]


def test_a_second_lookup_of_a_run_closes_the_first_and_closing_writes_what_is_open(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin("run", {"ts": TS, "phase": "turn"})
    journal.begin("run", {"ts": TS, "phase": "resume"})
    journal.close()
    assert [line["phase"] for line in lines(tmp_path)] == ["turn", "resume"]


def test_the_file_is_named_by_the_local_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        journal = Journal(tmp_path)
        journal.begin("run", {"ts": datetime.fromisoformat("2026-11-29T23:00:00+00:00").timestamp() * 1_000})
        journal.close()
        assert [file.name for file in tmp_path.iterdir()] == ["2026-11-30.jsonl"]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_files_older_than_thirty_days_go(tmp_path: Path) -> None:
    for name in ("2000-01-01.jsonl", "notes.jsonl", "9999-01-01.jsonl"):
        (tmp_path / name).touch()
    journal = Journal(tmp_path)
    journal.begin("run", {"ts": TS})
    journal.close()
    assert {file.name for file in tmp_path.iterdir()} >= {"notes.jsonl", "9999-01-01.jsonl"}
    assert not (tmp_path / "2000-01-01.jsonl").exists()


def test_pages_are_named_in_links_in_lists_and_in_prose() -> None:
    article = "wiki/synthesis/sessions/文章 一.md"
    answer = f"见 [[wiki/a.md]]，`wiki/code.md`。\n- 《标题》：{article}\n- [x](wiki/b.md)、purpose.md"
    assert set(named_pages(answer)) == {"wiki/a.md", article, "wiki/b.md", "purpose.md"}
    assert unverified_pages(answer, ["wiki/a.md", "purpose.md", "wiki/b.md"]) == (article,)


@pytest.mark.parametrize(
    "answer", ["请提供文章的内容。", "能否把原文发给我？", "请您先贴出文章正文", "Could you share the articles?"]
)
def test_asking_for_the_articles_is_noticed(answer: str) -> None:
    assert asks_back(answer)


@pytest.mark.parametrize("answer", ["这些文章讲了提示词。", "当前知识库未找到相关内容。", "They share one idea."])
def test_an_answer_is_no_question_back(answer: str) -> None:
    assert not asks_back(answer)
