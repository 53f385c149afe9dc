"""Copies of the database by SQLite's online backup: consistent while others write, one file each, mode 0600."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from devflow.domain.errors import DatabaseProblem
from devflow.domain.ids import now
from devflow.domain.messages import N_
from devflow.store.database import refusals

KEPT = 5
PREFIX = "devflow-"
BEFORE = "-before-"


def back_up(database: Path, target: Path) -> Path:
    """Copy the open or closed `database` to `target`, whole or not at all; a file that stands there is replaced.

    Raises `sqlite3.Error` or `OSError` when source or target cannot be used.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    make_private(partial)
    try:
        with closing(reader(database)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # a copy stands alone: no WAL beside it
        _sync(partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def back_up_or_refuse(database: Path, target: Path) -> Path:
    """`back_up` for a command: raises DatabaseProblem where the disk or the target refuses."""
    try:
        with refusals():
            return back_up(database, target)
    except OSError as error:
        raise not_written(target, error) from error


def not_written(target: Path, error: OSError) -> DatabaseProblem:
    return DatabaseProblem(
        N_("The backup {path} cannot be written: {reason}."),
        N_("Check the folder and the free space."),
        path=target,
        reason=error.strerror or error,
    )


def back_up_before(database: Path, backups: Path, revision: str, at: datetime | None = None) -> Path:
    """Back up before a migration to `revision`, and keep the newest five of these."""
    kept = back_up(database, backups / f"{PREFIX}{stamp(at or now())}{BEFORE}{revision}.db")
    others = sorted(set(backups.glob(f"{PREFIX}*{BEFORE}*.db")) - {kept})
    for old in others[: 1 - KEPT]:  # whatever the clock says: the one that was just made is kept
        old.unlink(missing_ok=True)
    return kept


def newest_good(backups: Path) -> Path | None:
    """The newest backup that passes SQLite's own check, or None."""
    return next((file for file in newest_first(backups) if is_good(file)), None)


def newest_first(backups: Path) -> Iterator[Path]:
    yield from sorted(backups.glob(f"{PREFIX}*.db"), key=_modified, reverse=True)


def _modified(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:  # taken away since it was listed
        return 0


def is_good(file: Path) -> bool:
    """Whether the file is a sound DevFlow database. Reads all of it."""
    try:
        if not file.is_file():  # a pipe would be waited for
            return False
        with closing(reader(file)) as connection:
            sound = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            return sound and connection.execute("SELECT version_num FROM alembic_version").fetchone() is not None
    except (sqlite3.Error, OSError):
        return False


def stamp(at: datetime) -> str:
    """An instant for a file's name; sorts by time."""
    return at.strftime("%Y%m%d-%H%M%S-%f")


def make_private(file: Path) -> None:
    """Make the file if it is missing, readable by its owner alone from its first moment."""
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))


def reader(file: Path) -> sqlite3.Connection:
    """A connection that only reads, on a disk that has become read-only too (but for a log that waits to be read)."""
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=15)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        log = file.with_name(f"{file.name}-wal")
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or (log.exists() and log.stat().st_size):
            return connection  # whoever uses it meets the error
        connection.close()
        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.DatabaseError:
        pass  # likewise
    return connection


def _sync(file: Path) -> None:
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
