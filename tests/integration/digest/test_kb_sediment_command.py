"""`devflow kb sediment CONVERSATION`, as a real process."""

from pathlib import Path

from tests.support.commands import devflow


def test_a_conversation_becomes_a_page_of_its_knowledge_base(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    folder.mkdir()
    assert devflow(home, "kb", "init", str(folder), "--purpose", "数据库的经验").code == 0
    (folder / "wiki/topics/wal.md").write_text("# WAL\n\n写锁要用 BEGIN IMMEDIATE 取。\n", encoding="utf-8")
    asked = devflow(home, "ask", "--kb", str(folder), "写锁怎么取？", "--json").value
    made = devflow(home, "kb", "sediment", asked["conversation_id"], "--json")
    assert made.code == 0
    assert (made.value["title"], made.value["model"], made.value["outcome"]) == ("写锁怎么取？", None, "written")
    assert made.value["kb"] == str(folder.resolve())
    assert "[[wiki/topics/wal.md]]" in (folder / made.value["path"]).read_text(encoding="utf-8")
    again = devflow(home, "kb", "sediment", asked["conversation_id"])
    assert again.out == f"{made.value['path']}\n"
    assert "Nothing was said since this page was written" in again.err
    found = devflow(home, "kb", "search", "写锁怎么取", "--json").value
    assert made.value["path"] in [hit["path"] for hit in found]


def test_a_conversation_without_a_knowledge_base_is_refused_in_a_sentence(home: Path) -> None:
    asked = devflow(home, "ask", "How does a lock work?", "--json").value
    refused = devflow(home, "kb", "sediment", asked["conversation_id"], "--json")
    assert refused.code == 1
    assert refused.error["message"] == (
        "This conversation belongs to no knowledge base that a page could be written to."
    )
