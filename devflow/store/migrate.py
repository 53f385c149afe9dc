"""Open the database: make it, bring it up to date after a backup, or refuse it untouched (spec 07, Wrong database).

Start-up matters: where the stored revision is the newest, alembic is not even imported.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlalchemy.exc import OperationalError

from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Hub
from devflow.domain.messages import N_
from devflow.store import search_fill, search_index
from devflow.store.backup import back_up_before, make_private, newest_good, reader
from devflow.store.database import BUSY_TIMEOUT_MS, Database, Unit, open_engine, refusals
from devflow.store.schema import Base

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

T = TypeVar("T")

BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class Places(Protocol):
    """What is needed of the application's paths."""

    @property
    def database(self) -> Path: ...
    @property
    def backups(self) -> Path: ...
    @property
    def migrations(self) -> Path: ...


def open_database(paths: Places, hub: Hub) -> Database:
    """Open `paths.database` at the newest revision.

    Raises DatabaseProblem, with the file untouched, for a newer, a foreign or a corrupt one.
    """
    with refusals():
        if stored_revision(paths) != newest_revision(paths.migrations):
            _upgrade(paths)
        database = Database(paths.database, hub)
        if not database.run_read(search_index.is_current):
            database.run_write(_begin_index_if_needed)
        return database


def _begin_index_if_needed(unit: Unit) -> None:
    """Under the write lock: another process may have been faster. The index of a large library is filled later."""
    if not search_index.is_current(unit.session):
        search_fill.begin(unit)
        search_fill.fill(unit, most=INDEXED_WHEN_OPENING)


INDEXED_WHEN_OPENING = 50
"""Entries: as many as take no time that anybody notices."""
LATER = frozenset({"digest_batches", "digest_files", "entry_vectors", "entry_dismissals"})
"""Tables that the first revision did not have: a file that is older than this program may lack them."""


def stored_revision(paths: Places) -> str | None:
    """The revision the file is at; None if there is no file yet, or an empty one. Reads only, and little.

    Raises DatabaseProblem if the file is newer than this program, not DevFlow's, or visibly damaged.
    """
    if not paths.database.exists():
        return None
    if not paths.database.is_file():
        raise DatabaseProblem(
            N_("The database {path} is no file."),
            N_("Move away what stands there, or name another data directory with --home DIR."),
            path=paths.database,
        )
    if paths.database.stat().st_size == 0:
        return None
    try:
        revision, tables = _retry_locked(lambda: _read_revision(paths.database))
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in BROKEN:
            raise corrupt(paths, str(error)) from error
        raise
    if revision is not None and revision not in revisions(paths.migrations):
        raise DatabaseProblem(
            N_("The database {path} was written by a newer DevFlow (revision {revision})."),
            N_("Update DevFlow, or start it with another data directory: --home DIR. The file was not touched."),
            path=paths.database,
            revision=revision,
        )
    needed = Base.metadata.tables.keys() - (set() if revision == newest_revision(paths.migrations) else LATER)
    if revision is not None and (missing := needed - tables):
        raise corrupt(paths, f"tables are missing ({', '.join(sorted(missing))})")
    return revision


def revisions(migrations: Path) -> tuple[str, ...]:
    """The known revisions, oldest first: each migration's file begins with its own."""
    return tuple(sorted(file.name.partition("_")[0] for file in (migrations / "versions").glob("[0-9]*_*.py")))


def newest_revision(migrations: Path) -> str:
    return revisions(migrations)[-1]


def corrupt(paths: Places, reason: str) -> DatabaseProblem:
    """The refusal of a damaged file; names the newest good backup."""
    good = newest_good(paths.backups)
    hint = (
        N_("The newest good backup is {backup}. Run `devflow restore` with it; the damaged file is kept.")
        if good
        else N_("There is no good backup in {backups}. Keep the damaged file; a new one is made once it is moved away.")
    )
    return DatabaseProblem(
        N_("The database {path} is damaged: {reason}. It was not touched."),
        hint,
        path=paths.database,
        reason=reason,
        backup=good,
        backups=paths.backups,
    )


def pending_changes(engine: Engine) -> list[Any]:
    """What differs between the database and the schema's models; empty when the migrations say all of it."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def belongs(name: str | None, kind: str, _parents: Any) -> bool:
        return kind != "table" or not (name or "").startswith("search_")

    with engine.connect() as connection:
        options = {"include_name": belongs, "compare_type": True}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata))


def upgrade(connection: Connection, migrations: Path, target: str) -> None:
    """Run the migrations up to `target` on a connection whose transaction the caller holds."""
    from alembic import command

    command.upgrade(_configuration(connection, migrations), target)


def downgrade(connection: Connection, migrations: Path, target: str) -> None:
    """Run the migrations back down to `target` (`base`: before the first), in the caller's transaction."""
    from alembic import command

    command.downgrade(_configuration(connection, migrations), target)


def _upgrade(paths: Places) -> None:
    """Under the write lock: look again (another process may have been faster), back up, upgrade, commit."""
    make_private(paths.database)
    engine = _retry_locked(lambda: _connected(paths.database))
    try:
        with engine.connect() as connection:
            # Recreating a table must not take the rows that refer to it along; only effective outside a transaction.
            connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
            connection.rollback()
            connection.execution_options(devflow_begin="IMMEDIATE")
            with connection.begin():
                stored = stored_revision(paths)
                newest = newest_revision(paths.migrations)
                if stored == newest:
                    return
                if stored is not None:
                    back_up_before(paths.database, paths.backups, newest)
                upgrade(connection, paths.migrations, newest)
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                if broken:
                    raise AssertionError(f"the migration left rows that refer to nothing: {broken[:5]}")
    finally:
        engine.dispose()


def _connected(database: Path) -> Engine:
    engine = open_engine(database)
    try:
        engine.connect().close()
    except BaseException:
        engine.dispose()
        raise
    return engine


def _configuration(connection: Connection, migrations: Path) -> Any:
    from alembic.config import Config

    configuration = Config(attributes={"connection": connection})
    configuration.set_main_option("script_location", str(migrations).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    return configuration


def _read_revision(database: Path) -> tuple[str | None, frozenset[str]]:
    with closing(reader(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None, frozenset()
        if "alembic_version" not in tables:
            raise DatabaseProblem(
                N_("The file {path} is a database, but not one of DevFlow's."),
                N_("Name another data directory with --home DIR. The file was not touched."),
                path=database,
            )
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        for table in tables:
            connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()  # noqa: S608  # its own names
    return None if row is None else str(row[0]), frozenset(tables)


def _retry_locked(act: Callable[[], T]) -> T:
    """Switching a new file to WAL does not wait for another process that does the same; so we do."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            return act()
        except (sqlite3.OperationalError, OperationalError) as error:
            cause = error.orig if isinstance(error, OperationalError) else error
            if getattr(cause, "sqlite_errorcode", 0) & 0xFF not in LOCKED or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
