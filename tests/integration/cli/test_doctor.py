"""Each fault that `devflow doctor` knows: produced, told with what to do, and mended by doing just that.

What it says of a damaged file and of an index: `test_command_line`. Of a full disk: `tests/integration/reliability`.
"""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from devflow.app import health
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.openai_server import OpenAIServer
from tests.integration.cli.conftest import Home
from tests.support.commands import ROOT, environment

CHECKS = {
    *("versions", "permissions", "disk", "locks", "database", "entries", "migrations", "index", "backups"),
    *("keys", "vectors", "providers"),
}


class Said(NamedTuple):
    code: int
    faults: dict[str, dict[str, str]]
    """What is not as it should be, by its check."""


@pytest.fixture
def doctor(run: Home) -> Callable[..., Said]:
    def examined(*words: str) -> Said:
        said = run("doctor", "--json", *words)
        checks: list[dict[str, str]] = said.value["checks"]
        assert said.value["ok"] is (said.code == 0)
        assert {check["check"] for check in checks} <= CHECKS
        assert all(bool(check["hint"]) == (check["state"] != "ok") for check in checks), "what is wrong can be mended"
        return Said(said.code, {check["check"]: check for check in checks if check["state"] != "ok"})

    return examined


Doctor = Callable[..., Said]


@pytest.fixture
def backup(run: Home) -> str:
    run.add("Kept")
    copy: str = run("backup", "--json").value["backup"]
    return copy


# the database -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check,says,statements",
    [
        (
            "database",
            "1 rows refer to rows that are gone",
            ("PRAGMA foreign_keys=0", "UPDATE entries SET project_id = 'nowhere'"),
        ),
        ("database", "is damaged: tables are missing", ("PRAGMA foreign_keys=0", "DROP TABLE entries")),
        ("migrations", "The tables differ", ("ALTER TABLE entries ADD COLUMN colour TEXT",)),
        ("entries", "do not hold what entries hold", ("UPDATE entries SET title = ''",)),
    ],
)
def test_what_is_wrong_inside_is_mended_by_restoring_the_backup_that_it_names(
    run: Home, doctor: Doctor, backup: str, check: str, says: str, statements: tuple[str, ...]
) -> None:
    _change(run, *statements)
    said = doctor()
    assert said.code == 1
    assert says in said.faults[check]["message"]
    assert "estore" in said.faults[check]["hint"]
    listed = run("doctor", "--json").value["checks"]
    assert backup in next(one["message"] for one in listed if one["check"] == "backups")
    assert run("restore", backup).code == 0
    assert doctor() == (0, {})


def test_an_entry_that_breaks_the_rules_is_mended_by_editing_it(run: Home, doctor: Doctor) -> None:
    id = run.add()
    _change(run, "UPDATE entries SET title = ''")
    assert id in doctor().faults["entries"]["message"]
    assert run("knowledge", "edit", id, "--title", "A title again").code == 0
    assert doctor() == (0, {})


def test_a_database_of_a_newer_devflow_is_told_and_left_as_it_is(run: Home, doctor: Doctor) -> None:
    run.add()
    _change(run, "UPDATE alembic_version SET version_num = '9999'")
    before = (run.path / "devflow.db").read_bytes()
    said = doctor("--mend")
    assert said.code == 1
    assert "newer DevFlow (revision 9999)" in said.faults["database"]["message"]
    assert said.faults["database"]["hint"].startswith("Update DevFlow")
    assert (run.path / "devflow.db").read_bytes() == before
    elsewhere = run.path.with_name("elsewhere")  # the other thing that it says
    assert run("--home", str(elsewhere), "doctor").code == 0


def test_a_database_of_an_older_devflow_is_brought_up_to_date_by_the_next_start(run: Home, doctor: Doctor) -> None:
    old = ROOT / "tests" / "migrations" / "databases"
    run.path.mkdir(mode=0o700)
    shutil.copy(min(old.glob("*.db")), run.path / "devflow.db")
    (run.path / "devflow.db").chmod(0o600)
    found = health.examine(_paths(run))  # the command itself opens the database in the end, and that is a start
    (told,) = [finding for finding in found if finding.check == "migrations"]
    assert (told.health, "next start backs it up" in told.hint) == (health.warning("x", "", "").health, True)
    assert run("knowledge", "stats").code == 0
    assert "migrations" not in doctor().faults
    assert list((run.path / "backups").glob("*-before-*.db"))


def test_another_programs_database_is_told_and_left_alone(run: Home, doctor: Doctor) -> None:
    run.path.mkdir()
    with closing(sqlite3.connect(run.path / "devflow.db")) as other:
        other.execute("CREATE TABLE songs (title TEXT)")
    said = doctor()
    assert "not one of DevFlow's" in said.faults["database"]["message"]
    assert "--home" in said.faults["database"]["hint"]
    (run.path / "devflow.db").rename(run.path / "songs.db")
    assert doctor().code == 0


def test_a_folder_in_the_databases_place_is_told(run: Home, doctor: Doctor) -> None:
    (run.path / "devflow.db").mkdir(parents=True)
    said = doctor()
    assert said.faults["database"]["hint"].startswith("Move away what stands there")
    (run.path / "devflow.db").rmdir()
    assert doctor().code == 0


def test_backups_that_are_none_are_mended_by_making_one(run: Home, doctor: Doctor, backup: str) -> None:
    Path(backup).write_bytes(b"gone" * 1000)
    said = doctor()
    assert (said.code, said.faults["backups"]["hint"]) == (0, "Run `devflow backup` to make one.")
    assert run("backup").code == 0
    assert doctor() == (0, {})


# keys, servers, vectors ---------------------------------------------------------------------------------------------


def test_a_key_that_is_gone_is_told(run: Home, doctor: Doctor) -> None:
    with OpenAIServer(key="sk-right") as server:
        add = (
            "provider",
            "add",
            "--preset",
            "openai",
            "--address",
            server.base_url,
            "--model",
            "m",
            "--key-env",
            "KEY",
        )
        assert run(*add, KEY="sk-right").code == 0
        server.script("ok", "ok")
        assert doctor() == (0, {})
        (run.path / "keys.json").unlink()
        said = doctor()
        assert (said.code, said.faults["keys"]["message"]) == (1, "OpenAI needs a key, and there is none.")
        assert run("provider", "remove", "OpenAI").code == 0
        assert run(*add, KEY="sk-right").code == 0
        server.script("ok", "ok")
        assert doctor() == (0, {})


def test_a_file_of_keys_that_is_damaged_is_told(run: Home, doctor: Doctor) -> None:
    with OpenAIServer(key="sk-right") as server:
        add = ("provider", "add", "--name", "Fake", "--address", server.base_url, "--model", "m", "--key-env", "KEY")
        run(*add, KEY="sk-right")
        keys = run.path / "keys.json"
        whole = keys.read_text(encoding="utf-8")
        keys.write_text("{", encoding="utf-8")
        said = doctor()
        assert said.code == 1
        assert said.faults["keys"]["hint"].startswith("Mend or remove it")
        keys.write_text(whole, encoding="utf-8")
        server.script("ok", "ok")
        assert doctor() == (0, {})


def test_a_server_that_does_not_answer_is_told_by_name(run: Home, doctor: Doctor) -> None:
    with OpenAIServer() as server:
        run("provider", "add", "--name", "Fake", "--address", server.base_url, "--model", "small")
    said = doctor()
    assert said.code == 1
    assert said.faults["providers"]["message"].startswith("Fake does not work: ")
    assert "devflow provider list" in said.faults["providers"]["hint"]
    run("provider", "remove", "Fake")
    assert doctor() == (0, {})


def test_vectors_that_failed_are_made_by_reembedding(run: Home, doctor: Doctor) -> None:
    with _embedding_server() as server:
        run("provider", "add", "--name", "Meaning", "--address", server.base_url, "--model", "embed-small")
        id = run("provider", "list", "--json").value[0]["id"]
        for key, value in (("embedding_provider_id", id), ("embedding_model", "embed-small"), ("vector_enabled", "on")):
            run("config", "set", key, value)
        run("knowledge", "approve", run.add())
        assert run("knowledge", "reembed").code == 0
        assert "vectors" not in doctor().faults
        _change(
            run, "UPDATE entries SET embedding_status = 'failed', embedding_error = 'no'", "DELETE FROM entry_vectors"
        )
        said = doctor()
        assert said.faults["vectors"]["state"] == "warning"
        assert "1 failed" in said.faults["vectors"]["message"]
        assert "devflow knowledge reembed" in said.faults["vectors"]["hint"]
        assert run("knowledge", "reembed", "--all").code == 0
        assert "vectors" not in doctor().faults


# the home -----------------------------------------------------------------------------------------------------------


def test_files_that_others_can_read_are_closed_by_mending(run: Home, doctor: Doctor, backup: str) -> None:
    places = {run.path: 0o700, run.path / "logs": 0o700, run.path / "devflow.db": 0o600, Path(backup): 0o600}
    for place in places:
        place.chmod(0o755)
    said = doctor()
    assert (said.code, said.faults["permissions"]["state"]) == (0, "warning")
    assert all(str(place) in said.faults["permissions"]["message"] for place in places)
    assert doctor("--mend") == (0, {})
    assert {place: place.stat().st_mode & 0o777 for place in places} == places


def test_the_lock_of_a_killed_program_is_told_and_removed_by_mending(run: Home, doctor: Doctor) -> None:
    run.add()
    program = (
        "import sys, pathlib; from devflow.store.lock import ProcessLock\n"
        "print(ProcessLock(pathlib.Path(sys.argv[1])).id, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(run.path / "locks")]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        assert "locks" not in doctor().faults, "a lock that is held is no fault"
        os.kill(other.pid, signal.SIGKILL)
        other.communicate()
    said = doctor()
    assert (said.code, said.faults["locks"]["state"]) == (0, "warning")
    assert said.faults["locks"]["message"].endswith("left: 1.")
    assert doctor("--mend") == (0, {})
    assert not list((run.path / "locks").glob("*.lock"))


@pytest.mark.parametrize("free,code,state", [(150_000_000, 0, "warning"), (5_000_000, 1, "failed")])
def test_a_disk_that_fills_up_is_told_in_time(
    run: Home, doctor: Doctor, monkeypatch: pytest.MonkeyPatch, free: int, code: int, state: str
) -> None:
    usage = shutil.disk_usage(run.path.parent)._replace(free=free)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        said = doctor()
    assert (said.code, said.faults["disk"]["state"]) == (code, state)
    assert "Free some space" in said.faults["disk"]["hint"]
    assert doctor() == (0, {})


def test_a_library_that_is_not_installed_is_told(run: Home, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(health, "PACKAGES", ("SQLAlchemy", "no-such-package"))
        said = doctor()
    assert (said.code, said.faults["versions"]["message"]) == (1, "no-such-package is not installed.")
    assert doctor() == (0, {})


def test_the_page_of_shapes_names_every_check() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith("| `checks[].check` |")]
    assert {word.strip("`") for word in row.split(" | ", 2)[2].strip("| ").split()} == CHECKS


@contextmanager
def _embedding_server() -> Iterator[EmbeddingServer]:
    """On a loop of its own, for the commands have theirs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = EmbeddingServer()
    try:
        yield asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def _change(run: Home, *statements: str) -> None:
    with closing(sqlite3.connect(run.path / "devflow.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def _paths(run: Home) -> Any:
    from devflow.app.paths import app_paths

    return app_paths(run.path)
