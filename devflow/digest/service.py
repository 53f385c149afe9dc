"""`Digests`: starting, following, cancelling and resuming batch digests, for the window and the command line alike."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from devflow.digest.batch import Workbench, carry_out, validate_batch
from devflow.domain.conversation import ModelChoice
from devflow.domain.digest import DEFAULT_CONCURRENCY, BatchState, DigestBatch, DigestFile, FileState
from devflow.domain.errors import DatabaseProblem, Refused
from devflow.domain.events import DigestChanged
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.store import digests as rows
from devflow.store.database import Unit
from devflow.wiki.registry import KnowledgeBases

log = logging.getLogger(__name__)


class Digests:
    """A batch's task belongs to this process; its rows say what is left when the process is gone."""

    def __init__(self, bench: Workbench, bases: KnowledgeBases, is_alive: Callable[[str | None], bool]) -> None:
        self._bench = bench
        self._db = bench.db
        self._bases = bases
        self._is_alive = is_alive
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended_by: dict[str, DatabaseProblem] = {}
        self._taking: set[str] = set()

    async def start(
        self,
        kb_id: str,
        files: Sequence[Path],
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        force: bool = False,
    ) -> DigestBatch:
        """Digest the files (absolute paths) into the knowledge base; returns at once. `force`: digested ones, too.

        Raises `InvalidInput` for what no batch can be made of, and `Refused` without a model.
        """
        base = await self._bases.get(kb_id)
        checked = await asyncio.to_thread(validate_batch, Path(base.path), files, concurrency)
        choice = await self._choice()

        def work(unit: Unit) -> DigestBatch:
            paths = [str(file) for file in checked]
            owner = self._bench.owner
            return rows.add(unit, kb_id, paths, owner=owner, concurrency=concurrency, force=force, choice=choice)

        return self._launch(base, await self._db.write(work))

    async def resume(self, batch_id: str) -> DigestBatch:
        """Go on with a batch that was cut off or cancelled: what is finished is not sent again."""
        return await self._again(batch_id)

    async def retry_failed(self, batch_id: str) -> DigestBatch:
        """Try its failed files once more, and what was left undone."""
        return await self._again(batch_id, FileState.FAILED)

    async def retry(self, batch_id: str, file_ids: Collection[str]) -> DigestBatch:
        """Try these failed files once more. While the batch runs here they come after the others."""
        if batch_id in self._tasks:
            owner = self._bench.owner
            if await self._db.write(lambda unit: rows.wait_again(unit, batch_id, owner, file_ids)):
                for file_id in file_ids:
                    self._bench.hub.publish(DigestChanged(batch_id, FileState.WAITING, file_id))
                return await self.status(batch_id)
            await self.wait(batch_id)
        return await self._again(batch_id, FileState.FAILED, only=file_ids)

    async def cancel(self, batch_id: str) -> DigestBatch:
        """End it: finished pages stay, and there is no half page."""
        task = self._tasks.get(batch_id)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        batch = await self.status(batch_id)
        owner = batch.owner if self.is_cut_off(batch) else self._bench.owner
        return await self._ended(batch_id, BatchState.CANCELLED, owner)

    async def wait(self, batch_id: str) -> DigestBatch:
        """Until its task in this process is over; raises the trouble of the database that ended it early."""
        task = self._tasks.get(batch_id)
        if task is not None:
            await asyncio.wait({task})
        if (problem := self._ended_by.pop(batch_id, None)) is not None:
            raise problem
        return await self.status(batch_id)

    async def status(self, batch_id: str) -> DigestBatch:
        """The batch as it is now; raises `NotFound`."""
        return await self._db.read(lambda session: rows.get(session, batch_id))

    async def of_base(self, kb_id: str) -> tuple[DigestBatch, ...]:
        """The batches of a knowledge base, the newest first."""
        return await self._db.read(lambda session: rows.of_base(session, kb_id))

    async def running(self) -> tuple[DigestBatch, ...]:
        """Every batch that runs, in whatever process, or was cut off (`is_cut_off`); the newest first."""
        return await self._db.read(rows.running)

    async def files(self, ids: Collection[str]) -> tuple[DigestFile, ...]:
        """Some files as they are now; one that is gone is left out."""
        return await self._db.read(lambda session: rows.files(session, ids))

    def is_here(self, batch_id: str) -> bool:
        """Whether this process carries it out."""
        return batch_id in self._tasks

    def is_cut_off(self, batch: DigestBatch) -> bool:
        """Whether it ended with its process or by the database's trouble, and can be resumed."""
        return batch.state is BatchState.RUNNING and batch.id not in self._tasks and not self._is_at_it(batch.owner)

    def why_cut_off(self, batch_id: str) -> DatabaseProblem | None:
        """The trouble of the database that ended it in this process."""
        return self._ended_by.get(batch_id)

    async def close(self) -> None:
        """Stop what runs; the batches stay as ones that were cut off."""
        tasks = dict(self._tasks)
        for task in tasks.values():
            task.cancel()
        if tasks:
            await asyncio.wait(tasks.values())
        for batch_id in tasks:
            await self._db.write(functools.partial(rows.leave, id=batch_id, owner=self._bench.owner))

    # helpers -------------------------------------------------------------------------------------------------------

    def _is_at_it(self, owner: str | None) -> bool:
        """Whether another process that lives carries it out; what runs here is in `_tasks`."""
        return owner != self._bench.owner and self._is_alive(owner)

    async def _again(self, batch_id: str, *states: FileState, only: Collection[str] | None = None) -> DigestBatch:
        if batch_id in self._tasks or batch_id in self._taking:
            raise _runs_already()
        self._taking.add(batch_id)
        try:
            return await self._take(batch_id, states, only)
        finally:
            self._taking.discard(batch_id)

    async def _take(self, batch_id: str, states: Collection[FileState], only: Collection[str] | None) -> DigestBatch:
        before = await self.status(batch_id)
        base = await self._bases.get(before.kb_id)
        files = [Path(file.path) for file in before.files]
        await asyncio.to_thread(validate_batch, Path(base.path), files, before.concurrency)
        choice = await self._choice()
        batch = await self._db.write(
            lambda unit: rows.take(unit, batch_id, self._bench.owner, self._is_at_it, choice, states, only)
        )
        if batch is None:
            raise _runs_already()
        self._ended_by.pop(batch_id, None)
        return self._launch(base, batch)

    async def _choice(self) -> ModelChoice:
        choice = await self._bench.models.digest_choice()
        if choice is None:
            raise Refused(
                N_("There is no model to digest with: the offline assistant cannot write pages."),
                N_("Connect a model first: `devflow provider add`, or Settings."),
            )
        return choice

    def _launch(self, base: KnowledgeBase, batch: DigestBatch) -> DigestBatch:
        task = asyncio.create_task(self._run(base, batch), name=f"digest {batch.id}")
        self._tasks[batch.id] = task
        return batch

    async def _run(self, base: KnowledgeBase, batch: DigestBatch) -> None:
        task = asyncio.current_task()
        try:
            self._tell(batch)
            ended = None
            while ended is None:  # failed files may have been sent round once more
                await carry_out(self._bench, Path(base.path), batch)
                ended = await self._db.write(functools.partial(rows.finish, id=batch.id, owner=self._bench.owner))
                batch = await self.status(batch.id) if ended is None else ended
            self._tell(ended)
        except DatabaseProblem as problem:
            log.warning("digest %s was cut off: %s", batch.id, problem)
            self._ended_by[batch.id] = problem
            self._tasks.pop(batch.id, None)
            self._tell(batch)
        finally:
            if self._tasks.get(batch.id) is task:
                del self._tasks[batch.id]

    async def _ended(self, batch_id: str, state: BatchState, owner: str | None) -> DigestBatch:
        batch = await self._db.write(lambda unit: rows.end(unit, batch_id, owner, state))
        self._tell(batch)
        return batch

    def _tell(self, batch: DigestBatch) -> None:
        self._bench.hub.publish(DigestChanged(batch.id, batch.state))


def _runs_already() -> Refused:
    return Refused(N_("This digest is running already."), N_("Wait for its end, or cancel it first."))
