"""Every released schema's database, with data, upgraded to the newest and taken back down (spec 07)."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from devflow.app.paths import AppPaths, app_paths
from devflow.domain.events import Hub
from devflow.domain.health import Health
from devflow.store import health
from devflow.store.database import open_engine
from devflow.store.migrate import downgrade, newest_revision, open_database, pending_changes, revisions, upgrade
from tests.migrations.make import DATABASES
from tests.support.commands import devflow

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
RELEASED = sorted(DATABASES.glob("*.db"))


@pytest.fixture(params=RELEASED, ids=[file.stem for file in RELEASED])
def released(request: pytest.FixtureRequest, home: Path) -> AppPaths:
    """A home that holds the database as that release left it."""
    paths = app_paths(home)
    shutil.copyfile(request.param, paths.database)
    return paths


def test_every_revision_has_its_database() -> None:
    assert [file.stem for file in RELEASED] == list(revisions(MIGRATIONS))


def test_a_released_database_opens_with_all_its_rows(released: AppPaths) -> None:
    before = dump(released.database)
    open_database(released, Hub()).close()
    after = dump(released.database)
    for table, rows in before.items():
        if table == "alembic_version" or table.startswith(("search_", "sqlite_")):
            continue
        for row, now in zip(rows, after[table], strict=True):
            assert {name: now[name] for name in row if name in now} == row, table


def test_a_released_database_is_what_the_models_expect_and_sound(released: AppPaths) -> None:
    database = open_database(released, Hub())
    differing = pending_changes(database.engine)
    database.close()
    assert differing == []
    assert {finding.health for finding in health.examine(released)} == {Health.OK}


def test_a_released_database_answers_the_commands(released: AppPaths) -> None:
    found = devflow(released.home, "knowledge", "search", "先取锁", "--json")
    assert [hit["title"] for hit in found.value] == ["改过的标题"]
    config = devflow(released.home, "config", "get", "min_messages")
    assert config.out == "7\n"


def test_each_migration_goes_down_and_up_again_with_the_data(released: AppPaths) -> None:
    open_database(released, Hub()).close()
    before = dump(released.database)
    for revision in reversed(revisions(MIGRATIONS)[:-1]):
        run(released, downgrade, revision)
        # A table that the older revision does not know goes with its rows, and with its row in `sqlite_sequence`.
        kept = dump(released.database).keys() - {"sqlite_sequence"}
        run(released, upgrade, newest_revision(MIGRATIONS))
        after = dump(released.database)
        assert after.keys() == before.keys()
        assert {table: len(after[table]) for table in kept} == {table: len(before[table]) for table in kept}
    open_database(released, Hub()).close()


def test_an_ollama_of_the_first_release_is_spoken_to_in_its_own_protocol(home: Path) -> None:
    paths = app_paths(home)
    shutil.copyfile(DATABASES / "0001.db", paths.database)
    with closing(sqlite3.connect(paths.database)) as connection, connection:
        connection.execute("UPDATE providers SET preset = 'ollama', base_url = 'http://127.0.0.1:11434/v1'")
    run(paths, upgrade, "0002")
    assert [row["adapter"] for row in dump(paths.database)["providers"]] == ["ollama"]
    run(paths, downgrade, "0001")
    assert [row["adapter"] for row in dump(paths.database)["providers"]] == ["openai_compat"]


def test_below_the_first_migration_nothing_is_left(released: AppPaths) -> None:
    open_database(released, Hub()).close()
    run(released, downgrade, "base")
    assert [name for name in dump(released.database) if not name.startswith(("sqlite_", "alembic"))] == []
    run(released, upgrade, newest_revision(MIGRATIONS))
    database = open_database(released, Hub())
    assert pending_changes(database.engine) == []
    database.close()


def run(paths: AppPaths, migrate: Any, target: str) -> None:
    engine = open_engine(paths.database)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.rollback()
        connection.execution_options(devflow_begin="IMMEDIATE")
        with connection.begin():
            migrate(connection, MIGRATIONS, target)
    engine.dispose()


def dump(file: Path) -> dict[str, list[dict[str, Any]]]:
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        tables = [row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        shadow = ("_data", "_idx", "_docsize", "_config", "_content")
        return {
            table: [dict(row) for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY 1')]
            for table in tables
            if not table.endswith(shadow) and not table.startswith("search_")
        }
