"""`devflow knowledge …` as a real process: shapes, exit codes, one-line errors (spec 06)."""

import re
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Home

ENTRY_FIELDS = [
    "id",
    "kind",
    "title",
    "content",
    "tags",
    "status",
    "confidence",
    "reuse_count",
    "project",
    "source_ref",
    "created_at",
    "updated_at",
    "published_at",
    "archived_at",
    "version",
    "evidence",
    "embedding",
]
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def test_an_entry_is_added_as_a_candidate_and_its_id_printed(run: Home) -> None:
    added = run(
        "knowledge", "add", "--kind", "pitfall", "--title", "锁", "--content", "先取锁", "--tag", "a", "--tag", "b"
    )
    assert (added.code, added.err) == (0, "")
    assert re.fullmatch(r"[0-9a-f-]{36}\n", added.out)
    got = run("knowledge", "get", added.out.strip(), "--json").value
    assert list(got) == ENTRY_FIELDS
    assert (got["title"], got["content"], got["tags"]) == ("锁", "先取锁", ["a", "b"])
    assert (got["status"], got["confidence"], got["source_ref"], got["version"]) == ("candidate", 1.0, "manual", 1)
    assert (got["project"], got["evidence"], got["published_at"], got["archived_at"]) == (None, None, None, None)
    assert got["embedding"] == {"status": "none", "model": None, "dimension": None, "error": None, "attempts": 0}
    assert INSTANT.fullmatch(got["created_at"])


def test_add_with_json_prints_the_new_entry(run: Home) -> None:
    added = run(
        "--json", "knowledge", "add", "--kind", "diagnosis", "--title", "T", "--content", "C", "--confidence", "0.5"
    )
    assert list(added.value) == ENTRY_FIELDS
    assert (added.value["kind"], added.value["confidence"]) == ("diagnosis", 0.5)


def test_the_text_may_come_from_a_file_or_from_standard_input_byte_for_byte(run: Home, tmp_path: Path) -> None:
    content = "line one\r\nline two\tcafe\u0301 🔒\n"
    file = tmp_path / "note.md"
    file.write_bytes(content.encode())
    by_file = run("knowledge", "add", "--kind", "pitfall", "--title", "F", "--file", str(file), "--json")
    by_stdin = run("knowledge", "add", "--kind", "pitfall", "--title", "S", "-", "--json", stdin=content.encode())
    assert by_file.value["content"] == by_stdin.value["content"] == content


@pytest.mark.parametrize(
    "words,stdin,code",
    [
        (["--file", "no such file"], b"", 1),
        (["-"], b"\xff\xfe not utf-8", 1),
        (["--content", "x", "-"], b"y", 2),
        ([], b"", 2),
    ],
)
def test_a_text_that_cannot_be_had_is_one_line_on_standard_error(
    run: Home, words: list[str], stdin: bytes, code: int
) -> None:
    refused = run("knowledge", "add", "--kind", "pitfall", "--title", "T", *words, stdin=stdin)
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith("devflow: ")
    assert refused.err.count("\n") == 1


def test_the_way_of_an_entry_from_the_terminal(run: Home) -> None:
    id = run.add()
    assert [entry["id"] for entry in run("knowledge", "inbox", "--json").value] == [id]
    assert run("knowledge", "list", "--json").value == []
    reviewed = run("knowledge", "status", id, "pending_review", "--json")
    assert reviewed.value["status"] == "pending_review"
    approved = run("knowledge", "approve", id, "--json")
    assert approved.value["status"] == "published"
    assert [entry["id"] for entry in run("knowledge", "list", "--json").value] == [id]
    assert run("knowledge", "reuse", id, "--json").value["reuse_count"] == 1
    edited = run("knowledge", "edit", id, "--title", "Better", "--tag", "sqlite", "--json")
    assert (edited.value["title"], edited.value["tags"], edited.value["version"]) == ("Better", ["sqlite"], 4)
    assert run("knowledge", "archive", id, "--reason", "outdated", "--json").value["status"] == "archived"
    assert [entry["id"] for entry in run("knowledge", "list", "--status", "archived", "--json").value] == [id]
    assert run("knowledge", "restore", id, "--json").value["status"] == "candidate"
    events = run("knowledge", "timeline", id, "--json").value
    assert [event["event"] for event in events] == [
        "restored",
        "status_changed",
        "updated",
        "reused",
        "status_changed",
        "status_changed",
        "created",
    ]
    assert list(events[2]) == ["id", "entry_id", "event", "actor", "at", "operation", "changes", "detail"]
    assert events[2]["changes"] == {"title": ["Take the lock first", "Better"], "tags": [[], ["sqlite"]]}
    assert events[1]["detail"]["reason"] == "outdated"
    assert run("knowledge", "erase", id, "--json").value == {"id": id, "erased": True}
    assert run("knowledge", "get", id).code == 1


def test_several_entries_change_together_or_not_at_all(run: Home) -> None:
    one, two = run.add("One"), run.add("Two")
    both = run("knowledge", "approve", one, two, "--json")
    assert [entry["status"] for entry in both.value] == ["published", "published"]
    refused = run("knowledge", "archive", one, "no-such-id")
    assert refused.code == 1
    assert run("knowledge", "get", one, "--json").value["status"] == "published"


def test_a_hit_is_the_entrys_fields_plus_score_and_match(run: Home) -> None:
    id = run.add("Take the write lock first", "SQLite waits for nobody.")
    assert run("knowledge", "search", "lock", "--json").value == []
    (hit,) = run("knowledge", "search", "write lock", "--all", "--json").value
    assert list(hit) == [*ENTRY_FIELDS, "score", "match"]
    assert (hit["id"], hit["score"]) == (id, 1.0)
    assert hit["match"] == {
        "tier": "like",
        "terms": ["write lock"],
        "fields": ["title"],
        "places": {"title": ["write lock"]},
        "similarity": None,
    }
    run("knowledge", "approve", id)
    assert [hit["id"] for hit in run("knowledge", "search", "怎么 lock", "--json").value] == [id]
    run("knowledge", "archive", id)
    assert run("knowledge", "search", "lock", "--all", "--json").value == []


def test_kp9_the_search_honours_limits_above_three(run: Home) -> None:
    ids = [run.add(f"Lock {number}") for number in range(5)]
    run("knowledge", "approve", *ids)
    assert len(run("knowledge", "search", "lock", "--json").value) == 3
    assert len(run("knowledge", "search", "lock", "--limit", "10", "--json").value) == 5


def test_lists_are_filtered_and_paged(run: Home) -> None:
    ids = [run.add(f"Number {number}") for number in range(3)]
    other = run("knowledge", "add", "--kind", "diagnosis", "--title", "D", "--content", "C", "--tag", "Wal").out.strip()

    def listed(*words: str) -> list[str]:
        return [entry["id"] for entry in run("knowledge", "list", "--status", "candidate", "--json", *words).value]

    assert listed("--kind", "diagnosis") == listed("--tag", "wal") == [other]
    assert listed("--limit", "2") == [other, ids[2]]
    assert listed("--limit", "2", "--offset", "2") == [ids[1], ids[0]]


def test_an_entry_may_hold_for_a_project_folder(run: Home, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    add = ("knowledge", "add", "--kind", "pitfall", "--title", "T", "--content", "C", "--json")
    first = run(*add, "--project", str(folder)).value
    assert (first["project"]["name"], first["project"]["path"]) == ("shop", str(folder.resolve()))
    assert run(*add, "--project", "shop").value["project"] == first["project"]
    assert run(*add, "--project", "nowhere").code == 1
    assert run("knowledge", "edit", first["id"], "--everywhere", "--json").value["project"] is None


def test_stats_count_everything(run: Home) -> None:
    run.add()
    assert run("knowledge", "stats", "--json").value == {
        "total": 1,
        "inbox": 1,
        "reused": 0,
        "statuses": {"candidate": 1, "pending_review": 0, "published": 0, "archived": 0},
        "kinds": {
            "pitfall": 1,
            "review_rule": 0,
            "prompt_template": 0,
            "architecture_pattern": 0,
            "diagnosis": 0,
            "deployment_note": 0,
            "workflow_optimization": 0,
        },
        "sources": {"manual": 1},
    }


def test_text_output_is_one_line_an_entry(run: Home) -> None:
    id = run.add("锁要先取")
    listed = run("knowledge", "inbox")
    assert listed.out == f"{id}  candidate       pitfall                锁要先取\n"
    shown = run("knowledge", "get", id).out
    assert shown.startswith("锁要先取\n")
    assert shown.endswith("\nUse BEGIN IMMEDIATE.\n")
    assert "candidate" in shown
    assert run("knowledge", "similar", id).code == 0
    assert run("knowledge", "list").err == "No entries.\n"


def test_refusals_are_exit_code_1_with_one_line_that_says_what_and_what_to_do(run: Home) -> None:
    id = run.add()
    refused = run("knowledge", "status", id, "published")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "devflow: An entry that is candidate cannot become published. "
        "Allowed: candidate → pending_review → published → archived, and each of them → archived.\n"
    )
    as_json = run("--json", "knowledge", "status", id, "published")
    assert as_json.out == ""
    assert as_json.error == {
        "code": "invalid_transition",
        "message": "An entry that is candidate cannot become published.",
        "hint": "Allowed: candidate → pending_review → published → archived, and each of them → archived.",
    }
    codes = {
        ("get", "no-such-id"): "not_found",
        ("list", "--status", "gone"): "invalid_input",
        ("list", "--limit", "-1"): "invalid_input",
        ("reuse", id): "refused",
    }
    for words, code in codes.items():
        assert run("knowledge", *words, "--json").error["code"] == code


@pytest.mark.parametrize(
    "words",
    [
        ["knowledge"],
        ["knowledge", "sing"],
        ["knowledge", "get"],
        ["knowledge", "list", "--limit", "many"],
        ["knowledge", "list", "--no-such-option"],
        ["knowledge", "edit", "some-id"],
        ["sing"],
    ],
)
def test_wrong_usage_is_exit_code_2_with_one_line(run: Home, words: list[str]) -> None:
    wrong = run(*words)
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("devflow: ")
    assert wrong.err.count("\n") == 1
    assert run(*words, "--json").error["code"] == "usage"


def test_the_agents_children_may_propose_but_not_publish_erase_or_configure(run: Home) -> None:
    id = run.add()
    marked = {"DEVFLOW_AGENT_CHILD": "1"}
    for words in (
        ["knowledge", "approve", id],
        ["knowledge", "erase", id],
        ["config", "set", "auto_inject", "false"],
        ["config", "set", "theme", "dark"],
    ):
        assert run(*words, "--json", **marked).error["code"] == "human_only"
    run("knowledge", "status", id, "pending_review")
    assert run("knowledge", "status", id, "published", "--json", **marked).error["code"] == "human_only"
    added = run("knowledge", "add", "--kind", "pitfall", "--title", "P", "--content", "C", **marked)
    event = run("knowledge", "timeline", added.out.strip(), "--json").value[0]
    assert (event["event"], event["actor"]) == ("created", "ai")
