"""Put a backup in the database's place; the old one stays beside it (spec 06, `devflow restore`)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from devflow.domain.errors import DatabaseProblem, InvalidInput
from devflow.domain.ids import now
from devflow.domain.messages import N_
from devflow.store.backup import back_up_or_refuse, is_good, not_written, reader, stamp
from devflow.store.migrate import LOCKED, Places, revisions


def restore(paths: Places, backup: Path) -> Path | None:
    """Replace the database by `backup`; returns where the old one now is, None if there was none.

    Raises InvalidInput for a file that is no good backup or newer than this program, and DatabaseProblem while another
    program has the database open, or where the disk refuses. Nothing is changed then: the copy is whole before the old
    one is moved.
    """
    _check(paths, backup)
    _refuse_in_use(paths.database)
    copy = back_up_or_refuse(backup, paths.database.with_name(f".{paths.database.name}.restored"))
    try:
        aside = _move_aside(paths.database)
        copy.replace(paths.database)
    except OSError as error:
        raise not_written(paths.database, error) from error
    finally:
        copy.unlink(missing_ok=True)
    return aside


def _move_aside(database: Path) -> Path | None:
    if not database.exists():
        return None
    aside = database.with_name(f"{database.name}.before-restore-{stamp(now())}")
    for ending in ("-wal", "-shm", ""):
        part = database.with_name(database.name + ending)
        if part.exists():
            part.replace(aside.with_name(aside.name + ending))
    return aside


def _check(paths: Places, backup: Path) -> None:
    if not _is_file(backup):
        raise InvalidInput(
            "file", N_("There is no file {path}."), N_("`devflow doctor` names the newest backup."), path=backup
        )
    if not is_good(backup):
        raise InvalidInput(
            "file",
            N_("{path} is not a good backup of DevFlow's."),
            N_("`devflow doctor` names the newest."),
            path=backup,
        )
    with closing(reader(backup)) as connection:
        revision = str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    if revision not in revisions(paths.migrations):
        raise InvalidInput(
            "file",
            N_("{path} was made by a newer DevFlow (revision {revision})."),
            N_("Update DevFlow first."),
            path=backup,
            revision=revision,
        )


def _is_file(path: Path) -> bool:
    """A name that no file can have (too long, a loop of links) is no file either."""
    try:
        return path.is_file()
    except OSError:
        return False


def _refuse_in_use(database: Path) -> None:
    """In WAL mode every open connection holds a shared lock: getting an exclusive one shows that there is none."""
    if not database.exists() or database.stat().st_size == 0:
        return
    try:
        with closing(sqlite3.connect(database, timeout=1, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in LOCKED:
            raise DatabaseProblem(
                N_("Another program has the database open."), N_("Close DevFlow's window, then restore.")
            ) from error
