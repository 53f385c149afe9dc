"""Making the search index anew without keeping anybody waiting (spec 04, Speed and size).

A new index begins empty, with a list of what is missing; entries are added to it a few at a time, each few in a
transaction of their own, the last changed ones first. Until it is full a search finds what is there, and says that this
is not all. Whatever process is open goes on with it, and two may do so at once. The old index is put aside and taken
away in the same manner: dropping a large table at once takes seconds.
"""

# ruff: noqa: S608 - only names that stand in the database's own catalogue are put together; every value is bound

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from devflow.store import search_index
from devflow.store.database import Database, Unit

AT_ONCE_S = 0.02
"""So long one transaction goes on adding: others wait for it."""
PAUSE_S = 0.02
"""Between two of them, so that what the window asks is answered at once."""
STEP, STEP_S = 500, 2.0
"""Entries between two reports, and seconds: others' work may leave little time for it."""
ASIDE = "search_gone_"
FTS_RECORDS = 10
TAKEN_AT_ONCE = 250
"""Rows, or blocks of some four thousand bytes."""


@dataclass(frozen=True, slots=True)
class Filling:
    """How many of the entries that were there when it began are in the index."""

    done: int
    total: int

    @property
    def is_full(self) -> bool:
        return self.done >= self.total


def begin(unit: Unit) -> None:
    """Begin the index anew: empty, everything missing. What is written from now on is indexed with it."""
    connection = unit.session.connection()
    _put_aside(connection)
    search_index.create(connection)
    connection.exec_driver_sql(
        "INSERT INTO search_missing (entry_id) SELECT id FROM entries ORDER BY updated_at DESC, id"
    )
    connection.exec_driver_sql("INSERT INTO search_state SELECT 'to fill', count(*) FROM search_missing")


def filling(session: Session) -> Filling:
    """How far it is; an index that nobody began anew is full."""
    connection = session.connection()
    left = connection.exec_driver_sql("SELECT count(*) FROM search_missing").scalar_one()
    total = connection.exec_driver_sql("SELECT value FROM search_state WHERE key = 'to fill'").scalar() or 0
    return Filling(total - left, total) if left else Filling(total, total)


def fill(unit: Unit, *, most: int | None = None, seconds: float | None = None) -> Filling:
    """Add some of the missing entries, one at least."""
    connection = unit.session.connection()
    end = None if seconds is None else time.monotonic() + seconds
    added = 0
    while most is None or added < most:
        row = connection.exec_driver_sql(
            "DELETE FROM search_missing WHERE place = (SELECT min(place) FROM search_missing) RETURNING entry_id"
        ).first()
        if row is None:
            break
        search_index.put_again(connection, row[0])
        added += 1
        if end is not None and time.monotonic() >= end:
            break
    return filling(unit.session)


def take_away(unit: Unit) -> bool:
    """Take away a part of what was put aside; whether something is left."""
    connection = unit.session.connection()
    found = connection.exec_driver_sql(
        "SELECT name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type = 'table' AND name GLOB ? "
        "ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC, name",
        (f"{ASIDE}*",),
    ).first()
    if found is None:
        return False
    name, is_virtual = found
    # An FTS5 table opens only with its first blocks, which tell of the others.
    filled, first = (f"{name}_data", FTS_RECORDS) if is_virtual else (name, 0)
    if not name.endswith("_state"):  # a few rows, and none has a number
        some = f"SELECT rowid FROM {filled} WHERE rowid > {first} LIMIT {TAKEN_AT_ONCE}"
        statement = f"DELETE FROM {filled} WHERE rowid IN ({some})"
        if connection.exec_driver_sql(statement).rowcount == TAKEN_AT_ONCE:
            return True
    connection.exec_driver_sql(f"DROP TABLE {name}")
    return True


def _put_aside(connection: Connection) -> None:
    """Give the index's tables other names, which costs nothing, however large they are."""
    search_index.drop_triggers(connection)
    connection.exec_driver_sql("DROP INDEX IF EXISTS search_order")
    known = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())
    number = next(n for n in count() if not any(name.startswith(f"{ASIDE}{n}_") for name in known))
    for name in search_index.NAMES:
        if name in known:
            connection.exec_driver_sql(f"ALTER TABLE {name} RENAME TO {ASIDE}{number}_{name.removeprefix('search_')}")


async def keep_filling(db: Database, report: Callable[[Filling], None]) -> None:
    """Fill the index to its end, in short transactions, then take the old one away.

    `report` hears of the begin, of every step, and of the end, where there is anything to fill.
    """
    at = await db.read(filling)
    if not at.is_full:
        report(at)
        await _fill_all(db, at, report)
    left = await db.read(_is_something_aside)
    while left:
        left = await db.write(take_away)
        await asyncio.sleep(PAUSE_S)


def _is_something_aside(session: Session) -> bool:
    found = session.connection().exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name GLOB ?", (f"{ASIDE}*",))
    return found.first() is not None


async def _fill_all(db: Database, at: Filling, report: Callable[[Filling], None]) -> None:
    said, when = at.done, time.monotonic()
    while not at.is_full:
        at = await db.write(lambda unit: fill(unit, seconds=AT_ONCE_S))
        if at.is_full or at.done >= said + STEP or time.monotonic() >= when + STEP_S:
            report(at)
            said, when = at.done, time.monotonic()
        await asyncio.sleep(PAUSE_S)
