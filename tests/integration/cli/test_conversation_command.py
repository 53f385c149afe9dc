"""`devflow conversation`: which conversations there are, and one of them as a file."""

import json
from pathlib import Path

from tests.integration.cli.conftest import Home


def asked(run: Home, text: str) -> str:
    """A conversation of the offline assistant; its id."""
    run("ask", text)
    return str(json.loads(run("conversation", "list", "--json").out)[0]["id"])


def test_conversations_are_listed_newest_first_and_searched(run: Home) -> None:
    first = asked(run, "How do I take the write lock?")
    second = asked(run, "What is a page?")
    assert [row["id"] for row in json.loads(run("conversation", "list", "--json").out)] == [second, first]
    listed = run("conversation", "list", "write lock").out
    assert listed.startswith(first)
    assert second not in listed
    assert "No conversations." in run("conversation", "list", "nothing of the kind").err


def test_one_is_printed_as_markdown_or_html(run: Home) -> None:
    id = asked(run, "How do I take the write lock?")
    assert "## 1. Question" in run("conversation", "export", id).out
    assert run("conversation", "export", id, "--format", "html").out.startswith("<!DOCTYPE html>")
    told = json.loads(run("conversation", "export", id, "--json").out)
    assert [each["role"] for each in told["messages"]] == ["user", "assistant"]
    assert told["messages"][0]["text"] == "How do I take the write lock?"


def test_a_file_is_written_and_never_replaced_unasked(run: Home, tmp_path: Path) -> None:
    id, target = asked(run, "你好，世界"), tmp_path / "对话.html"
    assert run("conversation", "export", id, "--output", str(target)).out == f"{target}\n"
    assert "你好，世界" in target.read_text(encoding="utf-8")
    target.write_text("mine", encoding="utf-8")
    refused = run("conversation", "export", id, "--output", str(target))
    assert refused.code == 1
    assert "--overwrite" in refused.err
    assert target.read_text(encoding="utf-8") == "mine"
    assert run("conversation", "export", id, "-o", str(target), "--overwrite").code == 0
    assert run("conversation", "export", "nowhere").code == 1
