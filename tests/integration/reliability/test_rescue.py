"""Getting one's data out of a bad disk, and back in."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from devflow.app.paths import app_paths
from devflow.store import backup
from tests.support.commands import ROOT, devflow, environment

ADD = ("knowledge", "add", "--kind", "pitfall", "--content", "C", "--title")


@pytest.fixture
def filled(home: Path) -> Path:
    assert devflow(home, *ADD, "Kept").code == 0
    return home


def test_a_restore_that_the_disk_refuses_leaves_the_database_where_it_was(filled: Path, tmp_path: Path) -> None:
    copy = backup.back_up(app_paths(filled).database, tmp_path / "copy.db")
    limited = f"ulimit -f 20; {sys.executable} -m devflow --home {filled} restore {copy}"
    said = subprocess.run(["bash", "-c", limited], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert (said.returncode, said.stderr.count("\n")) == (1, 1)
    assert "Kept" in devflow(filled, "knowledge", "inbox").out
    assert not list(filled.glob("*.before-restore-*"))
    assert not list(filled.glob(".*"))


def test_the_backup_before_a_migration_is_kept_whatever_the_clock_says(filled: Path) -> None:
    paths = app_paths(filled)
    at = datetime(2026, 11, 30, tzinfo=UTC)
    for day in range(6):
        backup.back_up_before(paths.database, paths.backups, "9001", at + timedelta(days=day))
    made = backup.back_up_before(paths.database, paths.backups, "9001", datetime(1970, 1, 1, tzinfo=UTC))
    assert made.exists()
    assert len(list(paths.backups.glob("*.db"))) == backup.KEPT


def test_a_database_whose_tables_are_gone_is_refused_and_not_touched(home: Path) -> None:
    database = app_paths(home).database
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
        connection.commit()
    before = database.read_bytes()
    said = devflow(home, "knowledge", "list")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "tables are missing" in said.err
    assert database.read_bytes() == before
    assert devflow(home, "doctor").code == 1


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_garbage_in_the_files_beside_the_database_is_set_right(filled: Path, ending: str) -> None:
    database = app_paths(filled).database
    database.with_name(database.name + ending).write_bytes(os.urandom(100_000))
    assert "Kept" in devflow(filled, "knowledge", "inbox").out
    assert devflow(filled, "doctor", "--mend").code == 0
