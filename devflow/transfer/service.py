"""`Transfer`: the library out and in, for the window and the command line alike.

Reading and writing files happens on threads, a copy of the library is read through a connection of its own, and entries
come in a few at a time: neither the window nor another process waits for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from devflow.domain.errors import Refused
from devflow.domain.events import IndexFilled
from devflow.domain.ids import new_id
from devflow.domain.knowledge import check_kind
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, require_human
from devflow.knowledge.submit import submit
from devflow.knowledge.undo import UNDOING
from devflow.store import entries, imports, library_copy, projects
from devflow.store.database import Database, Unit
from devflow.store.search_fill import fill, filling, keep_filling
from devflow.transfer import export, preview, reading
from devflow.transfer.pieces import Piece
from devflow.transfer.preview import News, Preview, Row
from devflow.transfer.undoing import check_untouched, put_back

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""Hears what is being done (a stable word), how many of how many; on the event loop's thread."""
READING, COMPARING, WRITING, INDEXING = "reading", "comparing", "writing", "indexing"
RESTORING = N_("Restoring a library publishes its entries, and publishing is a human act.")
AT_ONCE = 20
"""Entries in one transaction; each takes a few milliseconds, and others wait for its end."""
UNDONE_AT_ONCE = 200
INDEX_S = 0.2


class Stopped(Exception):
    """The human would rather not."""


@dataclass(frozen=True, slots=True)
class Exported:
    target: Path
    entries: int


@dataclass(frozen=True, slots=True)
class Imported:
    """`operation` undoes the entries; with `restored` there is nothing to undo. `left`: so many chosen pieces were not
    written, because the human stopped."""

    operation: str
    entries: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    restored: int = 0
    left: int = 0

    @property
    def is_undoable(self) -> bool:
        return bool(self.entries or self.conversations)


class Transfer:
    """`agent_child`: this process was started by the agent's `run_command`; a restore, which publishes, is refused."""

    def __init__(self, db: Database, *, agent_child: bool = False) -> None:
        self._db = db
        self._agent_child = agent_child

    # out -----------------------------------------------------------------------------------------------------------

    async def check_target(self, target: Path) -> None:
        """Raise Refused for what an export would destroy."""
        await asyncio.to_thread(export.check_target, target)

    async def export(self, target: Path, progress: Progress = lambda _what, _done, _total: None) -> Exported:
        """Write the library as it is now; cancelled, it leaves what was there. Raises NotExported and Refused."""

        def work(report: reading.Report) -> int:
            export.check_target(target)
            copy = library_copy.snapshot(self._db.path, report)
            export.write(copy, target, report)
            return len(copy.entries)

        return Exported(target, await _on_thread(work, WRITING, progress))

    # in ------------------------------------------------------------------------------------------------------------

    async def preview(
        self,
        paths: Iterable[Path],
        *,
        kind: str | None = None,
        restore: bool = True,
        progress: Progress = lambda _what, _done, _total: None,
    ) -> Preview:
        """Read what the paths hold and compare it with what is here; writes nothing, and may be cancelled.

        `kind` is that of every candidate, instead of a guess. `restore` False: candidates, even where the library is
        empty.
        """
        wanted = tuple(paths)
        if kind is not None:
            check_kind(kind)
        read = await _on_thread(lambda report: reading.read(wanted, report), READING, progress)
        if restore and not self._agent_child and read.library is not None:
            restoring = await self._db.read(lambda session: preview.restoring(session, read))
            if restoring is not None:
                return restoring
        made = await _on_thread(lambda report: preview.redacted(read.pieces, kind, report), COMPARING, progress)
        found = await self._db.read(lambda session: preview.judge(session, read, made))
        return replace(found, rows=await self._compared(found.rows, progress))

    async def _compared(self, rows: tuple[Row, ...], progress: Progress) -> tuple[Row, ...]:
        done = list(rows)
        wanted = [at for at, row in enumerate(rows) if row.news is not News.KNOWN][: preview.SIMILAR_MAX]
        for count, at in enumerate(wanted):
            row = done[at]
            done[at] = await self._db.read(lambda session, row=row: preview.alike(session, row))  # type: ignore[misc]
            progress(COMPARING, count + 1, len(wanted))
        return tuple(done)

    async def take(
        self,
        seen: Preview,
        *,
        actor: Actor,
        keys: Collection[str] | None = None,
        conversations: Collection[str] | None = None,
        project_id: str | None = None,
        progress: Progress = lambda _what, _done, _total: None,
        stop: threading.Event | None = None,
    ) -> Imported:
        """Write what was seen: of the new pieces those with `keys`, of the conversations those with these ids; None is
        all of them. Everything comes in as a candidate, in one operation, which one undo takes back.

        An export of ours goes into an empty library as it was, in one transaction. `stop` ends it between two steps.
        """
        if seen.restored:
            return await self._restore(seen, actor, progress)
        operation = new_id()
        rows = [row for row in seen.new if keys is None or row.piece.key in keys]
        chats = [row for row in seen.new_chats if conversations is None or row.chat.conversation.id in conversations]
        created: list[str] = []
        talked: list[str] = []
        total = len(rows) + len(chats)
        done = 0
        if project_id is not None:
            await self._db.read(lambda session: projects.get(session, project_id))
        while done < total and not (stop is not None and stop.is_set()):
            some = rows[done : done + AT_ONCE]
            if some:
                created += await self._db.write(lambda unit, some=some: _submit(unit, some, operation, project_id))  # type: ignore[misc]
                done += len(some)
            else:
                own = chats[done - len(rows)].chat.conversation
                if await self._db.write(lambda unit, own=own: imports.take_conversation(unit, own)):  # type: ignore[misc]
                    talked.append(own.id)
                done += 1
            progress(WRITING, done, total)
        return Imported(operation, tuple(created), tuple(talked), left=total - done)

    async def undo(
        self, done: Imported, *, actor: Actor, progress: Progress = lambda _what, _done, _total: None
    ) -> None:
        """Take an import back: its entries are archived, its conversations deleted.

        Refused, and nothing done, where an entry has changed since. A large import goes in parts: one transaction of
        ten thousand entries would keep other processes waiting for longer than they do.
        """
        require_human(actor, UNDOING, agent_child=self._agent_child)
        act = actor.act()
        await self._db.read(lambda session: check_untouched(session, done.entries))
        for start in range(0, len(done.entries), UNDONE_AT_ONCE):
            some = done.entries[start : start + UNDONE_AT_ONCE]
            await self._db.write(lambda unit, some=some: put_back(unit, some, done.operation, act))  # type: ignore[misc]
            progress(WRITING, start + len(some), len(done.entries))
        await self._db.write(lambda unit: imports.put_away(unit, done.conversations))

    async def index(self, progress: Progress = lambda _what, _done, _total: None) -> None:
        """Make the search index of what was restored, where nobody else does it in the background."""
        at = await self._db.read(filling)
        while not at.is_full:
            at = await self._db.write(lambda unit: fill(unit, seconds=INDEX_S))
            progress(INDEXING, at.done, at.total)

    async def index_gently(self) -> None:
        """The same in short steps, for a window that goes on meanwhile; the hub hears of it."""
        await keep_filling(self._db, lambda at: self._db.hub.publish(IndexFilled(at.done, at.total)))

    async def _restore(self, seen: Preview, actor: Actor, progress: Progress) -> Imported:
        require_human(actor, RESTORING, agent_child=self._agent_child)
        copy = seen.read.library
        assert copy is not None

        def work(unit: Unit) -> tuple[str, ...]:
            if not library_copy.is_empty(unit.session):
                raise Refused(N_("The library is not empty any more."), N_("Look at what the import would do again."))
            return library_copy.restore(unit, copy)

        progress(WRITING, 0, len(copy.entries))
        restored = await self._db.write(work)
        progress(WRITING, len(restored), len(copy.entries))
        return Imported(new_id(), restored=len(restored))


def _submit(unit: Unit, rows: Iterable[Row], operation: str, project_id: str | None) -> list[str]:
    created: list[str] = []
    by_human_not_typed = Actor("user")  # so that secrets go: nobody has read these words yet
    for row in rows:
        piece = row.piece
        home = project_id or row.project_id or (projects.named(unit, piece.project).id if piece.project else None)
        draft = replace(piece.draft, project_id=home, source_ref=_source(piece))
        detail = {imports.DETAIL: {"key": piece.key, "hash": piece.hash}}
        done = submit(unit, [draft], actor=by_human_not_typed, detail=detail, operation=operation, compared=True)
        scores = {each.entry.id: each.score for each in row.alike or ()}
        there = entries.get_many(unit.session, scores)  # one may have been erased since it was looked at
        for entry in done.entries:
            for other in there:
                entries.link(unit, entry.id, other.id, "similar", scores[other.id])
        created += [entry.id for entry in done.entries]
    return created


def _source(piece: Piece) -> str:
    """`import:obsidian/notes/locks.md`."""
    return f"import:{piece.format}/{piece.file}"


async def _on_thread(work: Callable[[reading.Report], T], what: str, progress: Progress) -> T:
    """Run `work` on a thread; cancelling ends it at its next report. `progress` hears at most one report at a time."""
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def report(done: int, total: int) -> None:
        if stop.is_set():
            raise Stopped
        if done % 25 == 0 or done == total:
            loop.call_soon_threadsafe(progress, what, done, total)

    try:
        return await asyncio.to_thread(work, report)
    except Stopped:
        raise asyncio.CancelledError from None
    finally:
        stop.set()
