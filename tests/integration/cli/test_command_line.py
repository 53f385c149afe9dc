"""What holds for every command: global options, streams, settings, backup, restore, doctor (spec 06)."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import certifi
import pytest

from devflow import __version__
from tests.fakes.openai_server import OpenAIServer
from tests.integration.cli.conftest import Home
from tests.support.commands import ROOT, environment, finished, start


def test_the_version_is_printed(run: Home) -> None:
    said = run("--version")
    assert (said.code, said.out, said.err) == (0, f"devflow {__version__}\n", "")


@pytest.mark.parametrize("words", [["--help"], ["knowledge", "--help"], ["config", "set", "--help"]])
def test_help_is_not_an_error(run: Home, words: list[str]) -> None:
    said = run(*words)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("usage: devflow")


def test_global_options_are_accepted_before_and_after_the_command(home: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "devflow", *words]
        return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)

    where = str(home)
    for words in (
        ["--json", "--home", where, "knowledge", "list"],
        ["knowledge", "--json", "--home", where, "list"],
        ["knowledge", "list", "--home", where, "--json"],
        ["--home", where, "knowledge", "list", "--json"],
    ):
        assert run(*words).stdout == "[]\n"
    assert (home / "devflow.db").exists()


def test_the_home_may_be_named_by_the_environment(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    command = [sys.executable, "-m", "devflow", "config", "get", "min_messages"]
    env = environment({"DEVFLOW_HOME": str(other)})
    said = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert said.stdout == "4\n"
    assert (other / "devflow.db").exists()


def test_two_dashes_end_the_options(run: Home) -> None:
    id = run("knowledge", "add", "--kind", "pitfall", "--title", "T", "--content", "use --json always").out.strip()
    found = run("knowledge", "search", "--all", "--", "--json")
    assert found.out.startswith(id)


def test_output_is_utf8_whatever_the_locale(home: Path) -> None:
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    add = start(home, "knowledge", "add", "--kind", "pitfall", "--title", "先取锁 🔒", "--content", "说明", env=env)
    added = finished(add)
    assert (added.code, added.err) == (0, "")
    listed = finished(start(home, "knowledge", "inbox", env=env))
    assert "先取锁 🔒" in listed.out


def test_a_reader_that_stops_reading_is_no_error(run: Home) -> None:
    content = "x" * 19_000
    for number in range(12):
        run.add(f"Long {number}", content)
    with start(run.path, "knowledge", "inbox", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_json_stays_english_whatever_the_users_language(run: Home) -> None:
    as_json = run("knowledge", "get", "nope", "--json", LANGUAGE="zh_CN")
    assert as_json.error["message"] == "No entry has the id nope."


def test_with_json_nothing_but_one_value_is_on_standard_output(run: Home) -> None:
    id = run.add()
    for words in (
        ["knowledge", "list"],
        ["knowledge", "get", id],
        ["knowledge", "stats"],
        ["knowledge", "timeline", id],
        ["config", "get"],
        ["doctor"],
        ["backup"],
    ):
        assert run(*words, "--json", "-v").value is not None


def test_settings_are_read_and_changed_by_bare_keys(run: Home) -> None:
    everything = run("config", "get", "--json").value
    assert everything["knowledge_config"] == {
        "auto_extract": True,
        "trigger_mode": "on_complete",
        "min_messages": 4,
        "idle_timeout_ms": 30000,
        "auto_inject": True,
        "vector_enabled": False,
        "embedding_provider_id": None,
        "embedding_model": None,
    }
    assert everything["appearance"] == {"theme": "system", "language": "system"}
    changed = {
        "auto_extract": ("off", "false"),
        "trigger_mode": ("on_idle", "on_idle"),
        "min_messages": ("2", "2"),
        "embedding_model": ("7", "7"),
        "theme": ("dark", "dark"),
        "language": ("zh_CN", "zh_CN"),
    }
    for key, (given, shown) in changed.items():
        assert run("config", "set", key, given).out == f"{shown}\n"
        assert run("config", "get", key).out == f"{shown}\n"
    assert run("config", "get", "min_messages", "--json").value == {"min_messages": 2}
    assert run("config", "set", "embedding_model", "null", "--json").value == {"embedding_model": None}


def test_the_other_settings_are_read_and_changed_by_bare_keys_too(run: Home, tmp_path: Path) -> None:
    provider = run(
        "provider", "add", "--name", "Local", "--address", "http://127.0.0.1:9", "--model", "a/b"
    ).out.strip()
    certificate = tmp_path / "ca.pem"
    certificate.write_bytes(Path(certifi.where()).read_bytes())
    for key, given, shown in (
        ("main_model", "Local/a/b", {"provider_id": provider, "model": "a/b"}),
        ("digest_model", f"{provider}/c", {"provider_id": provider, "model": "c"}),
        ("extraction_model", "offline", {"provider_id": "offline", "model": "offline"}),
        ("main_model", "none", None),
        ("proxy_url", "127.0.0.1:7890", "http://127.0.0.1:7890"),
        ("proxy", "manual", "manual"),
        ("ca_file", str(certificate), str(certificate)),
        ("ca_file", "none", ""),
        ("daily_calls", "0", 0),
    ):
        assert run("config", "set", key, given, "--json").value == {key: shown}
        assert run("config", "get", key, "--json").value == {key: shown}
    everything = run("config", "get", "--json").value
    assert everything["roles"]["digest"] == {"provider_id": provider, "model": "c"}
    assert everything["network"] == {"proxy": "manual", "proxy_url": "http://127.0.0.1:7890", "ca_file": ""}
    assert run("config", "set", "digest_model", "null").out == "null\n"


def test_the_agents_children_change_none_of_the_settings(run: Home) -> None:
    for key, value in (("main_model", "offline"), ("proxy", "none"), ("daily_calls", "5"), ("theme", "dark")):
        refused = run("config", "set", key, value, "--json", DEVFLOW_AGENT_CHILD="1")
        assert refused.error["code"] == "human_only"


@pytest.mark.parametrize(
    "key,value",
    [
        ("main_model", "Nobody/model"),
        ("main_model", "/"),
        ("proxy", "sometimes"),
        ("proxy", "manual"),
        ("proxy_url", "not an address"),
        ("proxy_url", "http://user:secret@127.0.0.1:1"),
        ("ca_file", "/no/such/file.pem"),
        ("daily_calls", "-1"),
        ("daily_calls", "9" * 5_000),
        ("min_messages", "0"),
        ("min_messages", "many"),
        ("auto_extract", "perhaps"),
        ("trigger_mode", "never"),
        ("theme", "blue"),
        ("no_such_key", "1"),
    ],
)
def test_a_bad_setting_is_refused_and_says_what_would_do(run: Home, key: str, value: str) -> None:
    refused = run("config", "set", key, value, "--json")
    assert (refused.code, refused.error["code"]) == (1, "invalid_input")
    assert refused.error["hint"]


def test_a_backup_is_a_whole_library_of_its_own(run: Home, tmp_path: Path) -> None:
    run.add("Kept")
    file = tmp_path / "copy.db"
    assert run("backup", str(file)).out == f"{file}\n"
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT title FROM entries").fetchall() == [("Kept",)]
    assert run("backup", str(file), "--json").error["code"] == "invalid_input"
    in_home = run("backup", "--json").value["backup"]
    assert Path(in_home).parent == run.path / "backups"


def test_a_restored_backup_takes_the_databases_place_and_the_old_one_stays_beside_it(run: Home, tmp_path: Path) -> None:
    run.add("Old")
    file = tmp_path / "copy.db"
    run("backup", str(file))
    run.add("New")
    restored = run("restore", str(file), "--json").value
    assert [entry["title"] for entry in run("knowledge", "inbox", "--json").value] == ["Old"]
    with closing(sqlite3.connect(restored["before"])) as connection:
        assert {title for (title,) in connection.execute("SELECT title FROM entries")} == {"Old", "New"}


def test_what_is_no_backup_is_not_restored(run: Home, tmp_path: Path) -> None:
    run.add("Old")
    file = tmp_path / "notes.txt"
    file.write_text("not a database")
    assert run("restore", str(file), "--json").error["code"] == "invalid_input"
    missing = tmp_path / "missing.db"
    assert run("restore", str(missing), "--json").error["message"] == f"There is no file {missing}."
    assert [entry["title"] for entry in run("knowledge", "inbox", "--json").value] == ["Old"]


def test_nothing_is_restored_under_an_open_database(run: Home, tmp_path: Path) -> None:
    run.add("Old")
    file = tmp_path / "copy.db"
    run("backup", str(file))
    with closing(sqlite3.connect(run.path / "devflow.db")) as window:
        window.execute("SELECT count(*) FROM entries").fetchone()
        assert run("restore", str(file), "--json").error["code"] == "database"


def test_a_healthy_home_passes_the_doctor(run: Home) -> None:
    run.add()
    said = run("doctor", "--json")
    assert said.code == 0
    assert said.value["ok"] is True
    checks = {check["check"]: check["state"] for check in said.value["checks"]}
    expected = {"versions", "database", "migrations", "index", "backups"} | (
        {"permissions"} if os.name == "posix" else set()
    )
    assert expected <= set(checks)
    assert set(checks.values()) == {"ok"}
    assert list(said.value["checks"][0]) == ["check", "state", "message", "hint"]


def test_the_doctor_finds_an_index_that_disagrees_and_mends_it(run: Home) -> None:
    id = run.add("Lock")
    with closing(sqlite3.connect(run.path / "devflow.db")) as connection:
        connection.execute("DELETE FROM search_docs")
        connection.commit()
    sick = run("doctor", "--json")
    assert sick.code == 1
    (index,) = [check for check in sick.value["checks"] if check["check"] == "index"]
    assert index["state"] == "failed"
    assert "--mend" in index["hint"]
    assert run("doctor", "--mend").code == 0
    assert [hit["id"] for hit in run("knowledge", "search", "lock", "--all", "--json").value] == [id]


@pytest.mark.parametrize("damage", [b"garbage" * 1000, None])
def test_the_doctor_names_the_newest_good_backup_of_a_broken_database(run: Home, damage: bytes | None) -> None:
    run.add("Kept")
    backup = run("backup", "--json").value["backup"]
    database = run.path / "devflow.db"
    data = database.read_bytes()
    database.write_bytes(damage if damage is not None else data[:4096] + os.urandom(len(data) - 4096))
    sick = run("doctor", "--json")
    assert sick.code == 1
    (found,) = [check for check in sick.value["checks"] if check["check"] == "database"]
    assert found["state"] == "failed"
    assert backup in found["hint"]
    assert run("restore", backup).code == 0
    assert [entry["title"] for entry in run("knowledge", "inbox", "--json").value] == ["Kept"]


def test_the_doctor_asks_each_model_server(run: Home) -> None:
    def servers() -> dict[str, str]:
        checks = run("doctor", "--json").value["checks"]
        return {check["state"]: check["message"] + check["hint"] for check in checks if check["check"] == "providers"}

    assert list(servers()) == ["ok"]
    with OpenAIServer() as server:
        run("provider", "add", "--name", "Fake", "--address", server.base_url, "--model", "small")
        server.script("ok", "ok")  # a question, and whether it can call tools
        assert servers() == {"ok": "Fake answers."}
    gone = servers()
    assert list(gone) == ["failed"]
    assert "Fake" in gone["failed"]
    assert "devflow provider list" in gone["failed"]


def test_the_doctor_finds_files_that_others_can_read(run: Home) -> None:
    run.add()
    (run.path / "devflow.db").chmod(0o644)
    said = run("doctor", "--json")
    found = [check for check in said.value["checks"] if check["check"] == "permissions"]
    if os.name == "posix":
        assert [check["state"] for check in found] == ["warning"]
        run("doctor", "--mend")
        assert (run.path / "devflow.db").stat().st_mode & 0o777 == 0o600
    else:
        assert found == []


@pytest.mark.expects_log
def test_the_log_is_a_private_file_in_the_home(run: Home) -> None:
    run.add()
    with closing(sqlite3.connect(run.path / "devflow.db")) as connection:
        connection.execute(
            "INSERT INTO app_settings VALUES ('knowledge_config', '{\"min_messages\": \"x\"}', '2026-01-01')"
        )
        connection.commit()
    said = run("config", "get", "min_messages")
    assert (said.out, said.err) == ("4\n", "")
    log = run.path / "logs" / "devflow.log"
    assert "min_messages" in log.read_text(encoding="utf-8")
    if os.name == "posix":
        assert log.stat().st_mode & 0o777 == 0o600
    assert "min_messages" in run("config", "get", "-v").err
