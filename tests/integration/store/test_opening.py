"""Opening the database: made, migrated after a backup, or refused untouched (spec 07, Wrong database)."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from devflow.app.paths import AppPaths, app_paths
from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Hub
from devflow.store import backup
from devflow.store.migrate import newest_revision, open_database, pending_changes, revisions, stored_revision
from tests.support.commands import devflow, finished, start

ADDS_A_TABLE = '''
"""A table of tomorrow."""
from alembic import op
import sqlalchemy as sa

revision = "9001"
down_revision = {down!r}
branch_labels = None
depends_on = None

def upgrade() -> None:
    op.create_table("tomorrow", sa.Column("id", sa.Integer, primary_key=True))
    {more}

def downgrade() -> None:
    op.drop_table("tomorrow")
'''


@pytest.fixture
def paths(home: Path) -> AppPaths:
    return app_paths(home)


@pytest.fixture
def filled(paths: AppPaths) -> AppPaths:
    """A closed database that holds a setting."""
    database = open_database(paths, Hub())
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute("INSERT INTO app_settings VALUES ('mark', '{}', '2026-01-01')")
        connection.commit()
    database.close()
    return paths


def tomorrow(paths: AppPaths, folder: Path, more: str = "") -> AppPaths:
    """The same home, opened by a program that has one migration more."""
    migrations = folder / "migrations"
    shutil.copytree(paths.migrations, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    source = ADDS_A_TABLE.format(down=newest_revision(paths.migrations), more=more)
    (migrations / "versions" / "9001_tomorrow.py").write_text(source, encoding="utf-8")
    return replace(paths, migrations=migrations)


def digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def test_a_new_database_agrees_with_the_models_to_the_letter(paths: AppPaths) -> None:
    database = open_database(paths, Hub())
    assert pending_changes(database.engine) == []
    assert stored_revision(paths) == newest_revision(paths.migrations)
    database.close()


def test_migrations_are_named_by_their_revision_in_order(paths: AppPaths) -> None:
    found = revisions(paths.migrations)
    assert found[0] == "0001"
    assert list(found) == sorted(found)
    for file in (paths.migrations / "versions").glob("[0-9]*.py"):
        assert f'revision = "{file.name[:4]}"' in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["devflow.db", "devflow.db-wal", "devflow.db-shm"])
def test_the_database_can_be_read_by_its_owner_alone(paths: AppPaths, name: str) -> None:
    database = open_database(paths, Hub())
    database.run_write(lambda unit: unit.changed("entry", "1"))
    assert (paths.home / name).stat().st_mode & 0o777 == (0o600 if os.name == "posix" else 0o666)
    database.close()


def test_an_up_to_date_database_opens_without_alembic(filled: AppPaths) -> None:
    program = (
        "import sys; from pathlib import Path; from devflow.app.paths import app_paths;"
        "from devflow.domain.events import Hub; from devflow.store.migrate import open_database;"
        f"open_database(app_paths(Path({str(filled.home)!r})), Hub()).close(); print('alembic' in sys.modules)"
    )
    import subprocess
    import sys

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_a_migration_backs_the_database_up_first(filled: AppPaths, tmp_path: Path) -> None:
    newer = tomorrow(filled, tmp_path)
    open_database(newer, Hub()).close()
    assert stored_revision(newer) == "9001"
    (kept,) = filled.backups.glob("*.db")
    assert backup.is_good(kept)
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("SELECT key FROM app_settings").fetchall() == [("mark",)]
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (
            newest_revision(filled.migrations),
        )


def test_the_last_five_backups_before_migrations_are_kept(filled: AppPaths) -> None:
    made = [backup.back_up_before(filled.database, filled.backups, "9001") for _ in range(7)]
    mine = backup.back_up(filled.database, filled.backups / "devflow-by-hand.db")
    assert sorted(filled.backups.iterdir()) == sorted([*made[-5:], mine])


def test_a_migration_that_fails_leaves_the_database_as_it_was(filled: AppPaths, tmp_path: Path) -> None:
    broken = tomorrow(filled, tmp_path, more='op.execute("INSERT INTO no_such_table VALUES (1)")')
    with pytest.raises(Exception, match="no_such_table"):
        open_database(broken, Hub())
    assert stored_revision(filled) == newest_revision(filled.migrations)
    with closing(sqlite3.connect(filled.database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        assert connection.execute("SELECT key FROM app_settings").fetchall() == [("mark",)]
    assert "tomorrow" not in tables
    open_database(filled, Hub()).close()


def test_a_newer_database_is_refused_and_stays_as_it_is_to_the_byte(filled: AppPaths, tmp_path: Path) -> None:
    open_database(tomorrow(filled, tmp_path), Hub()).close()
    before = digest(filled.database)
    with pytest.raises(DatabaseProblem) as refused:
        open_database(filled, Hub())
    assert "newer" in str(refused.value)
    assert digest(filled.database) == before
    said = devflow(filled.home, "knowledge", "list")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("devflow: The database ")
    assert said.err.count("\n") == 1
    assert digest(filled.database) == before


def test_another_programs_database_is_refused_untouched(paths: AppPaths) -> None:
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute("CREATE TABLE recipes (id INTEGER)")
        connection.commit()
    before = digest(paths.database)
    with pytest.raises(DatabaseProblem, match="not one of DevFlow's"):
        open_database(paths, Hub())
    assert digest(paths.database) == before


@pytest.mark.parametrize("damage", ["garbage", "truncated", "header"])
def test_a_corrupt_database_is_refused_untouched_and_the_newest_good_backup_named(
    filled: AppPaths, damage: str
) -> None:
    good = backup.back_up(filled.database, filled.backups / "devflow-1.db")
    bad = filled.backups / "devflow-2.db"
    bad.write_bytes(b"not a backup")
    data = filled.database.read_bytes()
    match damage:
        case "garbage":
            filled.database.write_bytes(os.urandom(8192))
        case "truncated":
            filled.database.write_bytes(data[: len(data) // 2])
        case "header":
            filled.database.write_bytes(b"\xff" * 200 + data[200:])
    before = digest(filled.database)
    with pytest.raises(DatabaseProblem) as refused:
        open_database(filled, Hub())
    assert refused.value.params["backup"] == good
    assert str(good) in refused.value.hint.format(**refused.value.params)
    assert digest(filled.database) == before


@pytest.mark.parametrize("name", ["a home", "主目录", "100%20", "what?#now"])
def test_the_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    if os.name != "posix" and "?" in name:
        name = name.replace("?", "")
    paths = app_paths(tmp_path / name)
    for _ in range(2):
        open_database(paths, Hub()).close()
    assert paths.database.stat().st_size > 0
    assert stored_revision(paths) == newest_revision(paths.migrations)
    kept = backup.back_up(paths.database, paths.backups / "devflow-1.db")
    assert backup.is_good(kept)


def test_an_empty_file_left_by_a_killed_first_start_is_filled(paths: AppPaths) -> None:
    paths.database.touch()
    open_database(paths, Hub()).close()
    assert stored_revision(paths) == newest_revision(paths.migrations)


def test_several_programs_that_start_at_once_on_an_empty_home_all_open_it(home: Path) -> None:
    started = [start(home, "knowledge", "stats", "--json") for _ in range(4)]
    results = [finished(process) for process in started]
    assert [(result.code, result.err) for result in results] == [(0, "")] * 4
    assert [result.value["total"] for result in results] == [0] * 4


def test_an_index_of_another_version_is_made_anew(filled: AppPaths) -> None:
    added = devflow(filled.home, "knowledge", "add", "--kind", "pitfall", "--title", "Lock", "--content", "first")
    with closing(sqlite3.connect(filled.database)) as connection:
        connection.execute("UPDATE search_state SET value = 0 WHERE key = 'version'")
        connection.execute("DELETE FROM search_docs")
        connection.commit()
    found = devflow(filled.home, "knowledge", "search", "lock", "--all", "--json")
    assert [hit["id"] for hit in found.value] == [added.out.strip()]
