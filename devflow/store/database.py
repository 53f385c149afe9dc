"""One SQLite file, one thread, short transactions.

Work is a plain function of a session; it runs on the store's thread inside one transaction, so no `await` can stand
inside and none stays open while a model streams. Writes begin IMMEDIATE: a deferred transaction that upgrades gets
SQLITE_BUSY at once, whatever the busy timeout.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Engine, create_engine, event, select, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session as Session  # other rooms name the type, and may not import SQLAlchemy
from sqlalchemy.pool import StaticPool

from devflow.domain.errors import DatabaseProblem, InvalidInput
from devflow.domain.events import Change, Changes, Hub
from devflow.domain.ids import now
from devflow.domain.messages import N_
from devflow.store import tolerant
from devflow.store.schema import ChangeRow

T = TypeVar("T")

BUSY_TIMEOUT_MS = 15_000
KEPT_CHANGES = 10_000


@dataclass(slots=True)
class Unit:
    """One write transaction: its session, its instant, and the changes it reports."""

    session: Session
    origin: str
    at: datetime
    _changed: dict[tuple[str, str], None] = field(default_factory=dict)

    def changed(self, aggregate: str, id: str) -> None:
        """Report a changed row; it reaches subscribers and other processes when the transaction has committed."""
        self._changed[(aggregate, id)] = None

    def flush_changes(self) -> Changes:
        """Append the reported changes to `changes` within the transaction."""
        self.session.flush()
        rows = [
            ChangeRow(aggregate=aggregate, id=id, origin=self.origin, at=self.at) for aggregate, id in self._changed
        ]
        self.session.add_all(rows)
        self.session.flush()
        return Changes(tuple(Change(row.seq, row.aggregate, row.id) for row in rows))


class Database:
    """An open database. `write` and `read` are coroutines; `run_write` and `run_read` are for code without a loop.

    Cancelling a coroutine never cancels a transaction that has begun: it commits, and its changes are published.
    """

    def __init__(self, path: Path, hub: Hub) -> None:
        self.path = path
        self.hub = hub
        self.origin = uuid.uuid4().hex
        self.engine = open_engine(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._seen = 0
        self._data_version: int | None = None
        self._thread.submit(self._prepare).result()

    async def write(self, work: Callable[[Unit], T]) -> T:
        """Run `work` in one immediate transaction; commit if it returns, roll back if it raises."""
        loop = asyncio.get_running_loop()
        future = self._thread.submit(self._write, work)
        future.add_done_callback(lambda done: _publish_from(loop, self.hub, done))
        result, _ = await _outcome(future)
        return result

    async def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` on one consistent snapshot."""
        return await _outcome(self._thread.submit(self._read, work))

    def run_write(self, work: Callable[[Unit], T]) -> T:
        """`write` for callers without an event loop; publishes on the calling thread."""
        result, changes = self._thread.submit(self._write, work).result()
        if changes.items:
            self.hub.publish(changes)
        return result

    def run_read(self, work: Callable[[Session], T]) -> T:
        """`read` for callers without an event loop."""
        return self._thread.submit(self._read, work).result()

    async def foreign_changes(self) -> Changes | None:
        """What other processes have committed since the last call, or None. Costs one pragma when nothing has."""
        return await _outcome(self._thread.submit(self._foreign))

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the file and empty it, as far as other processes' readers allow."""
        await _outcome(self._thread.submit(self._checkpoint))

    def close(self) -> None:
        """Finish what was submitted, fold the WAL back in, and let go of the file."""
        self._thread.submit(self.engine.dispose).result()
        self._thread.shutdown(wait=True)

    # on the store's thread -----------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        with self.engine.connect() as connection:
            self._data_version = _data_version(connection)
            exists = connection.execute(
                text("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'changes'")
            ).scalar()
            if exists:
                self._seen = connection.execute(text("SELECT coalesce(max(seq), 0) FROM changes")).scalar_one()

    def _write(self, work: Callable[[Unit], T]) -> tuple[T, Changes]:
        with (
            refusals(),
            self.engine.connect().execution_options(devflow_begin="IMMEDIATE") as connection,
            Session(connection, expire_on_commit=False) as session,
            session.begin(),
        ):
            session.connection()  # begins now, so that the instant is taken under the lock and never runs backwards
            unit = Unit(session, self.origin, now())
            result = work(unit)
            changes = unit.flush_changes()
        return result, changes

    def _read(self, work: Callable[[Session], T]) -> T:
        with refusals(), self.engine.connect() as connection, Session(connection, expire_on_commit=False) as session:
            return work(session)

    def _checkpoint(self) -> None:
        with contextlib.closing(self.engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _foreign(self) -> Changes | None:
        with refusals(), self.engine.connect() as connection:
            version = _data_version(connection)
            if version == self._data_version:
                return None
            rows = connection.execute(
                select(ChangeRow.seq, ChangeRow.aggregate, ChangeRow.id)
                .where(ChangeRow.seq > self._seen, ChangeRow.origin != self.origin)
                .order_by(ChangeRow.seq)
            ).all()
        self._data_version = version  # not before they were read: what cannot be read now is told next time
        if not rows:
            return None
        self._seen = rows[-1].seq
        return Changes(tuple(Change(row.seq, row.aggregate, row.id) for row in rows), foreign=True)


async def _outcome(future: Future[T]) -> T:
    """Wait for what the store's thread does; cancelling the wait does not cancel the work."""
    outcome = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(outcome)
    except asyncio.CancelledError:
        # Should the work fail later, nobody is there to hear of it, and asyncio would log it as forgotten.
        outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


def open_engine(path: Path) -> Engine:
    """An engine with one connection, WAL, full synchronisation and explicit BEGINs."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": 15},
        json_deserializer=tolerant.json_value,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: DBAPIConnection, _record: Any) -> None:
        connection.isolation_level = None  # we emit BEGIN ourselves
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "temp_store=MEMORY",
            "secure_delete=ON",  # what an edit takes out must not be left for an erase that comes later
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Any) -> None:
        mode = connection.get_execution_options().get("devflow_begin", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")

    return engine


WHAT_THE_DISK_SAYS = {
    sqlite3.SQLITE_FULL: N_("Free some space, then try again; nothing was half written."),
    sqlite3.SQLITE_IOERR: N_("Check the disk; `devflow doctor` checks the database."),
    sqlite3.SQLITE_READONLY: N_("Make the database's file and folder writable for you."),
    sqlite3.SQLITE_CANTOPEN: N_("Check that its folder exists and that you may write there."),
    sqlite3.SQLITE_BUSY: N_("Another program has held it for too long; close that program, then try again."),
    sqlite3.SQLITE_CORRUPT: N_("Run `devflow doctor`: it names the newest good backup."),
    sqlite3.SQLITE_NOTADB: N_("Run `devflow doctor`: it names the newest good backup."),
}
"""What a user can do, by SQLite's primary result code. Every other code is a bug of ours."""


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Turn what the disk refuses into `DatabaseProblem`; what our SQL does wrong stays an exception of its own.

    Half of a surrogate pair can be looked up as little as it can be stored: `InvalidInput`.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        if error.reason != "surrogates not allowed":
            raise
        raise InvalidInput(
            "text",
            N_("The text holds a character that cannot be stored (half of a surrogate pair)."),
            N_("Remove it; it is often left by a broken copy or a binary file."),
        ) from error
    except (DatabaseError, sqlite3.DatabaseError) as error:
        cause = error.orig if isinstance(error, DatabaseError) else error
        hint = WHAT_THE_DISK_SAYS.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
        if hint is None and str(cause).startswith(("Could not decode to UTF-8", "malformed JSON", "integer overflow")):
            hint = WHAT_THE_DISK_SAYS[sqlite3.SQLITE_CORRUPT]  # of a row that was edited by hand
        if hint is None:
            raise
        raise DatabaseProblem(N_("The database cannot be used: {reason}."), hint, reason=cause) from error


def prune_changes(unit: Unit) -> None:
    """Keep the newest changes; a process that slept through more than that reloads everything it shows."""
    newest = unit.session.execute(text("SELECT coalesce(max(seq), 0) FROM changes")).scalar_one()
    unit.session.execute(text("DELETE FROM changes WHERE seq <= :old"), {"old": newest - KEPT_CHANGES})


def _data_version(connection: Any) -> int:
    return int(connection.exec_driver_sql("PRAGMA data_version").scalar_one())


def _publish_from(loop: asyncio.AbstractEventLoop, hub: Hub, done: Future[tuple[Any, Changes]]) -> None:
    """Publish on the loop's thread, before the waiting coroutine goes on (callbacks run in order of registration)."""
    if done.cancelled() or done.exception() is not None:
        return
    changes = done.result()[1]
    if changes.items:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens any more
            loop.call_soon_threadsafe(hub.publish, changes)
