"""Making the search index anew without keeping anybody waiting (spec 04, Speed and size).

A new index begins empty, with a list of what is missing; entries are added to it a few at a time, each few in a
transaction of their own, the last changed ones first. Until it is full a search finds what is there, and says that this
is not all. Whatever process is open goes on with it, and two may do so at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from devflow.store import search_index
from devflow.store.database import Database, Unit

AT_ONCE_S = 0.03
"""So long one transaction goes on adding: others wait for it."""
PAUSE_S = 0.02
"""Between two of them, so that what the window asks is answered at once."""
STEP = 500
"""Entries between two reports."""


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
    search_index.drop(connection)
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


async def keep_filling(db: Database, report: Callable[[Filling], None]) -> None:
    """Fill the index to its end, in short transactions; `report` hears of the begin, of every step, and of the end."""
    at = await db.read(filling)
    if at.is_full:
        return
    report(at)
    said = at.done
    while not at.is_full:
        at = await db.write(lambda unit: fill(unit, seconds=AT_ONCE_S))
        if at.is_full or at.done >= said + STEP:
            report(at)
            said = at.done
        await asyncio.sleep(PAUSE_S)
