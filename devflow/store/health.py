"""The database's part of `devflow doctor`: file, integrity, migrations, search index, backups."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import Hub
from devflow.domain.health import Finding, failed, of_problem, ok, warning
from devflow.domain.messages import N_
from devflow.store import rules, search_index
from devflow.store.backup import is_good, newest_first, reader
from devflow.store.database import Database, refusals
from devflow.store.migrate import Places, corrupt, newest_revision, pending_changes, stored_revision


def sqlite_version() -> str:
    return sqlite3.sqlite_version


def examine(paths: Places) -> tuple[Finding, ...]:
    """Look at the database without changing it; stops at the first thing that makes the rest pointless."""
    try:
        with refusals():
            revision = stored_revision(paths)
    except DatabaseProblem as problem:
        return (of_problem("database", problem), _backups(paths))
    if revision is None:
        return (ok("database", N_("There is no database yet; the first start makes it."), path=paths.database),)
    found = [_integrity(paths)]
    if revision == newest_revision(paths.migrations):
        found.append(ok("migrations", N_("The database is at revision {revision}, the newest."), revision=revision))
        try:
            with refusals():
                found += _opened(paths)
        except DatabaseProblem as problem:  # a full disk, or one that has become read-only
            found.append(of_problem("database", problem))
    else:
        found.append(
            warning(
                "migrations",
                N_("The database is at revision {revision}; the newest is {newest}."),
                N_("The next start backs it up and brings it up to date."),
                revision=revision,
                newest=newest_revision(paths.migrations),
            )
        )
    return (*found, _backups(paths))


def rebuild_index(paths: Places, progress: Callable[[int, int], None] | None = None) -> int:
    """Make the search index anew; returns the number of entries."""
    database = Database(paths.database, Hub())
    try:
        return database.run_write(lambda unit: search_index.rebuild(unit, progress))
    finally:
        database.close()


def _integrity(paths: Places) -> Finding:
    try:
        with closing(reader(paths.database)) as connection:
            said = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
            astray = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        said, astray = [str(error)], []
    if said != ["ok"]:
        return of_problem("database", corrupt(paths, "; ".join(said)))
    if astray:
        return failed(
            "database",
            N_("{count} rows refer to rows that are gone."),
            N_("Restore a backup, or report this with the log."),
            count=len(astray),
        )
    size = paths.database.stat().st_size / 1_000_000
    return ok("database", N_("{path} is sound ({size} MB)."), path=paths.database, size=f"{size:.1f}")


def _opened(paths: Places) -> list[Finding]:
    database = Database(paths.database, Hub())
    try:
        differing = pending_changes(database.engine)
        wrong = database.run_read(search_index.check)
        broken = database.run_read(rules.broken_entries)
    finally:
        database.close()
    found = []
    if broken:
        found.append(
            failed(
                "entries",
                N_("Entries do not hold what entries hold: {ids}."),
                N_("Edit each and save it, or restore a backup."),
                ids=", ".join(broken),
            )
        )
    if differing:
        found.append(
            failed(
                "migrations",
                N_("The tables differ from what this version expects: {differences}"),
                N_("Restore a backup, or report this with the log."),
                differences="; ".join(map(str, differing))[:300],
            )
        )
    if wrong:
        found.append(
            failed(
                "index",
                "{problems}",
                N_("Run `devflow doctor --mend`: it makes the index anew."),
                problems=" ".join(wrong),
            )
        )
    else:
        found.append(ok("index", N_("The search index agrees with the entries.")))
    return found


def _backups(paths: Places) -> Finding:
    files = list(newest_first(paths.backups))
    if not files:
        return ok("backups", N_("There are no backups yet; `devflow backup` makes one."))
    good = next((file for file in files if is_good(file)), None)
    if good is None:
        return warning(
            "backups",
            N_("None of the {count} backups is good."),
            N_("Run `devflow backup` to make one."),
            count=len(files),
        )
    return ok("backups", N_("The newest good backup is {path} (backups in all: {count})."), count=len(files), path=good)
