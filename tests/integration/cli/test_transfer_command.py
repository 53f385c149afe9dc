"""`devflow export` and `devflow import`, as they are typed."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Home

NOTE = "---\ntitle: Locks\nkind: pitfall\n---\nTake the lock before the first read.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "locks.md").write_text(NOTE)
    return folder


def test_a_library_goes_out_and_comes_back_in_another_home(
    run: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("knowledge", "approve", run.add("Take the lock first"))
    said = run("export", str(tmp_path / "one.zip"))
    assert (said.code, said.err) == (0, "")
    assert said.out == f"1 entry is in {tmp_path / 'one.zip'}\n"
    other = Home(tmp_path / "other", monkeypatch)
    came = other("import", str(tmp_path / "one.zip"))
    assert (came.code, came.out.splitlines()[-1]) == (0, "1 entry is restored.")
    assert [hit["title"] for hit in other("knowledge", "search", "lock", "--json").value] == ["Take the lock first"]
    other("export", str(tmp_path / "two.zip"))
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    again = other("import", str(tmp_path / "one.zip"))
    assert (again.code, again.err) == (0, "Nothing new.\n")


def test_a_dry_run_says_what_is_new_and_writes_nothing(run: Home, notes: Path) -> None:
    said = run("import", "--dry-run", str(notes))
    assert (said.code, said.out) == (0, "new       [pitfall] Locks  (locks.md:1)\n")
    assert run("knowledge", "inbox", "--json").value == []


def test_candidates_come_in_once_and_are_never_published(run: Home, notes: Path) -> None:
    assert run("import", str(notes)).out.splitlines()[-1] == "1 candidate is in the inbox."
    assert run("import", str(notes)).out == "known     [pitfall] Locks  (locks.md:1)\n"
    (entry,) = run("knowledge", "inbox", "--json").value
    assert (entry["status"], entry["source_ref"]) == ("candidate", "import:markdown/locks.md")


def test_a_bad_file_is_named_with_its_line_and_the_rest_comes_in(run: Home, notes: Path) -> None:
    (notes / "bad.md").write_text("---\ntags: [a\n---\nx\n")
    said = run("import", str(notes))
    assert said.code == 1
    assert said.err.startswith("devflow: bad.md:3: the lines between the dashes cannot be read as YAML")
    assert said.out.splitlines()[-1] == "1 candidate is in the inbox."


def test_json_tells_what_was_found_and_what_was_done(run: Home, notes: Path) -> None:
    (notes / "memory.jsonl").write_text('{"type":"entity","name":"Ledger","entityType":"service","observations":[]}\n{')
    said = run("import", "--json", str(notes))
    value = json.loads(said.out)
    assert [found["title"] for found in value["found"]] == ["Locks"]
    assert len(value["entries"]) == 1
    assert [(bad["file"], bad["line"]) for bad in value["refused"]] == [("memory.jsonl", 2)]


def test_the_kind_and_the_project_are_those_that_are_named(run: Home, notes: Path, tmp_path: Path) -> None:
    run("import", "--kind", "diagnosis", "--project", str(tmp_path), str(notes))
    (entry,) = run("knowledge", "inbox", "--json").value
    assert (entry["kind"], entry["project"]["name"]) == ("diagnosis", tmp_path.name)


def test_an_export_overwrites_nothing_of_others(run: Home, tmp_path: Path) -> None:
    (tmp_path / "mine.zip").write_text("mine")
    said = run("export", str(tmp_path / "mine.zip"))
    assert (said.code, said.out) == (1, "")
    assert (
        said.err
        == f"devflow: {tmp_path / 'mine.zip'} is there already, and is no exported library. Choose another name.\n"
    )
    assert (tmp_path / "mine.zip").read_text() == "mine"


def test_what_is_not_there_is_said(run: Home, tmp_path: Path) -> None:
    said = run("import", str(tmp_path / "nowhere"))
    assert said.code == 1
    assert "devflow: nowhere: there is no such file." in said.err


def test_the_agent_restores_nothing(run: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("knowledge", "approve", run.add())
    run("export", str(tmp_path / "one.zip"))
    other = Home(tmp_path / "other", monkeypatch)
    other("import", str(tmp_path / "one.zip"), DEVFLOW_AGENT_CHILD="1")
    (entry,) = other("knowledge", "inbox", "--json").value
    assert entry["status"] == "candidate"
