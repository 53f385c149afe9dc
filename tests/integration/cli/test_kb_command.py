"""`devflow kb` and `devflow ask --kb`: knowledge bases from a terminal."""

import errno
import json
import os
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Home
from tests.support.pages import ARTICLES, write

OPENCLAW = "wiki/synthesis/sessions/openclaw.md"


def test_a_folder_is_opened_searched_and_asked(run: Home, tmp_path: Path) -> None:
    root = write(tmp_path / "writing", ARTICLES)
    opened = json.loads(run("kb", "open", str(root), "--json").out)
    assert (opened["name"], opened["path"]) == ("writing", str(root))
    (listed,) = json.loads(run("kb", "list", "--json").out)
    assert (listed["current"], listed["available"]) == (True, True)
    pages = json.loads(run("kb", "pages", "--json").out)
    assert {"path", "title", "mtime", "size", "skipped"} == set(pages[0])
    (hit,) = json.loads(run("kb", "search", "一人公司", "--json").out)
    assert set(hit) == {"path", "title", "snippet", "mtime", "hit_reason", "score", "match"}
    assert (hit["path"], hit["hit_reason"]) == (OPENCLAW, "body")
    assert hit["match"]["tier"] == "body"
    assert hit["match"]["fields"] == ["content"]
    assert hit["match"]["places"] == {"content": hit["match"]["terms"]}
    assert set(hit["match"]["terms"]) <= {"一人", "人公", "公司"}
    assert hit["match"]["terms"]
    told = json.loads(run("ask", "--kb", str(root), "--json", "多agent团队怎么分工").out)
    assert [(page["path"], page["cited"]) for page in told["pages"]] == [(OPENCLAW, True)]
    assert told["pages"][0]["match"]["tier"] == told["pages"][0]["hit_reason"]
    assert "agent" in told["pages"][0]["match"]["places"]["content"]
    assert [e["event"] for e in told["events"] if e["event"].startswith("knowledge_search")] == [
        "knowledge_search_start",
        "knowledge_search_done",
    ]


def test_a_named_page_comes_first_and_a_missing_one_is_told(run: Home, tmp_path: Path) -> None:
    root = write(tmp_path / "writing", ARTICLES)
    run("kb", "open", str(root))
    found = run("kb", "search", "提示词", "--ref", OPENCLAW, "--ref", "wiki/none.md")
    assert found.out.startswith("[1] OpenClaw 自媒体文章")
    assert "There is no page wiki/none.md." in found.err


def test_an_ordinary_folder_is_refused_until_it_is_initialised(run: Home, tmp_path: Path) -> None:
    folder = write(tmp_path / "articles", {"one.md": "# One"})
    refused = run("kb", "open", str(folder))
    assert refused.code == 1
    assert "no knowledge base" in refused.err
    assert run("kb", "init", str(folder), "--purpose", "research").code == 0
    assert run("kb", "open", str(folder)).code == 0
    assert "* articles" in run("kb", "list").out


def test_init_says_that_the_notes_of_a_folder_are_no_pages_yet(run: Home, tmp_path: Path) -> None:
    notes, empty = write(tmp_path / "notes", {"one.md": "# One"}), tmp_path / "empty"
    empty.mkdir()
    assert "move Markdown into its wiki folder" in run("kb", "init", str(notes), "--purpose", "research").err
    assert run("kb", "init", str(empty), "--purpose", "research").err == ""


def test_files_in_the_way_are_named_and_replaced_only_when_allowed(run: Home, tmp_path: Path) -> None:
    folder = write(tmp_path / "articles", {"index.md": "mine"})
    refused = run("kb", "init", str(folder), "--purpose", "research", "--json")
    assert (refused.code, json.loads(refused.err)["error"]["code"]) == (1, "would_overwrite")
    assert (folder / "index.md").read_text(encoding="utf-8") == "mine"
    assert run("kb", "init", str(folder), "--purpose", "research", "--overwrite").code == 0
    assert [file.read_text(encoding="utf-8") for file in folder.glob(".devflow-backup-*/index.md")] == ["mine"]


def test_a_folder_that_is_gone_is_still_listed(run: Home, tmp_path: Path) -> None:
    root = write(tmp_path / "writing", ARTICLES)
    run("kb", "open", str(root))
    root.rename(tmp_path / "elsewhere")
    (listed,) = json.loads(run("kb", "list", "--json").out)
    assert listed["available"] is False
    assert "the folder is gone" in run("kb", "list").out


def test_without_an_open_base_a_search_says_what_to_do(run: Home) -> None:
    refused = run("kb", "search", "anything")
    assert refused.code == 1
    assert "devflow kb open DIR" in refused.err


def test_a_limit_that_allows_no_page_is_refused_instead_of_finding_none(run: Home, tmp_path: Path) -> None:
    run("kb", "open", str(write(tmp_path / "writing", ARTICLES)))
    for limit in ("0", "-5"):
        refused = run("kb", "search", "一人公司", "--limit", limit)
        assert (refused.code, refused.out) == (1, "")
        assert f"A limit of {limit}" in refused.err


def test_a_folder_that_takes_no_file_is_told_in_a_line_and_left_as_it_was(
    run: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "articles", {"one.md": "# One"})

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    refused = run("kb", "init", str(folder), "--purpose", "research")
    assert refused.code == 1
    assert "cannot be made a knowledge base: No space left" in refused.err
    assert not (folder / "wiki").exists()


def test_a_purpose_and_a_folder_that_are_no_text_are_refused(run: Home, tmp_path: Path) -> None:
    folder = write(tmp_path / "articles", {"one.md": "# One"})
    refused = run("kb", "init", str(folder), "--purpose", "a\udcffb")
    assert "no text" in refused.err
    assert [file.name for file in folder.iterdir()] == ["one.md"]
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")
    Path(odd).mkdir()
    refused = run("kb", "init", odd, "--purpose", "research")
    assert (refused.code, "is no text" in refused.err) == (1, True)
