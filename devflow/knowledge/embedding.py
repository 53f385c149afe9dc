"""`Embeddings`: the one object that the window, the command line and searches ask about vectors (KP-6).

Vectors are of exactly one model: after a change of model all are made anew, and search goes on with what is ready.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from devflow.domain.config import KEY as CONFIG
from devflow.domain.errors import UserFacing
from devflow.domain.events import Aggregate, Changes, EmbeddingChanged, Event, RunChanged
from devflow.domain.run import ACTIVE_STATES
from devflow.knowledge.embedding_state import EmbeddingModel, EmbeddingSource, EmbeddingState, Phase
from devflow.knowledge.embedding_text import is_han
from devflow.knowledge.embedding_worker import GROUP, Clock, EmbeddingWorker
from devflow.knowledge.query_vectors import PATIENCE_S, QueryVectors
from devflow.knowledge.scales import Scales
from devflow.knowledge.settings import Settings
from devflow.retrieval.meaning import Meaning
from devflow.retrieval.vectors import VectorIndex
from devflow.store import vectors
from devflow.store.database import Database

STRICT = "strict"
"""`order` in the settings group `embedding`: the seed's three groups one after the other."""


class Embeddings:
    """`start` only in a program that stays. `is_busy`: a run is being answered on this machine."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        source: EmbeddingSource,
        *,
        resources: Path,
        clock: Clock,
        is_busy: Callable[[], Awaitable[bool]],
        patience: float = PATIENCE_S,
    ) -> None:
        self._db = db
        self._settings = settings
        self._source = source
        self._patience = patience
        self._index = VectorIndex()
        self._scales = Scales(db, settings, resources)
        self._queries = QueryVectors(self._scales, self._tell)
        self._worker = EmbeddingWorker(
            db,
            settings,
            source,
            self._scales,
            clock=clock,
            is_busy=is_busy,
            made=self._take_in,
            told=self._tell,
        )
        self._task: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] | None = None

    async def start(self) -> None:
        self._unsubscribe = self._db.hub.subscribe(self._happened)
        self._task = asyncio.create_task(self._worker.run(), name="embedding")

    async def close(self) -> None:
        """Stop; what is cut off is still due."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._worker.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def settled(self) -> None:
        """Until nothing is left to do at this moment."""
        await self._worker.rest()

    # acts ----------------------------------------------------------------------------------------------------------

    async def again(self, entry_id: str | None = None) -> int:
        """Make the vectors of an entry (None: of every one) anew; of how many. Ends a pause and a stop."""
        if entry_id is None:
            await self._scales.forget()
        await self._settings.update(GROUP, stopped=None)
        count = await self._db.write(lambda unit: vectors.ask_again(unit, entry_id))
        self._queries.forget()
        self._worker.try_again()
        return count

    async def stop(self) -> None:
        """Cancel what is being made; search goes on with what is ready."""
        model = await self._source.current()
        if model is not None:
            await self._settings.update(GROUP, stopped=model.key)
            self._worker.interrupt()
            self._worker.wake()

    async def resume(self) -> None:
        """Go on after a stop, or at once after a failure."""
        await self._settings.update(GROUP, stopped=None)
        self._queries.forget()
        self._worker.try_again()

    @property
    def unheard(self) -> UserFacing | None:
        """Why the last query went by keywords alone."""
        return self._queries.unheard

    # looking -------------------------------------------------------------------------------------------------------

    async def state(self) -> EmbeddingState:
        """Where vectors stand, read anew; of a program that does not stay as well."""
        try:
            model = await self._source.current()
        except UserFacing as problem:
            return EmbeddingState(Phase.NO_MODEL, problem=problem)
        if model is None:
            return EmbeddingState(Phase.OFF)
        progress = await self._db.read(lambda session: vectors.progress(session, model.key))
        known = self._worker.state if self._worker.state.model == model.name else EmbeddingState(Phase.READY)
        phase = known.phase
        if phase is Phase.READY and progress.left and self._task is None:
            phase = Phase.WAITING
        if progress.left and (await self._settings.get(GROUP)).get("stopped") == model.key:
            phase = Phase.STOPPED
        return EmbeddingState(phase, model.name, progress, known.again_at, known.problem, self._queries.unheard)

    async def meaning(self, query: str) -> Meaning | None:
        """What a search by meaning needs; None: by keywords alone, and `state` says why (`unheard`)."""
        try:
            model = await self._source.current()
        except UserFacing:
            return None
        if model is None or not query.strip():
            return None
        scale = await self._scales.of(model)
        vector = None if scale is None else await self._queries.of(model, query, self._patience)
        if scale is None or vector is None:
            return None
        with contextlib.suppress(TimeoutError):  # a large library is still coming in: what is there is searched
            await asyncio.wait_for(self._take_in(model), self._patience)
        strict = (await self._settings.get(GROUP)).get("order") == STRICT
        return Meaning(self._index, scale.asked(vector, is_han=is_han(query)), strict)

    async def _take_in(self, model: EmbeddingModel) -> None:
        """The index takes in what is new, a part at a time: other reads come between."""
        while not await self._db.read(lambda session: self._index.take_in(session, model.key)):
            pass

    def _happened(self, event: Event) -> None:
        match event:
            case Changes():
                if event.of(Aggregate.SETTING) & {CONFIG, GROUP} or event.of(Aggregate.PROVIDER):
                    self._queries.forget()
                    self._worker.wake()
                elif event.of(Aggregate.ENTRY):
                    self._worker.wake()
            case RunChanged():
                if event.state in ACTIVE_STATES:
                    self._worker.make_way()
                else:
                    self._worker.wake()
            case _:
                pass

    def _tell(self) -> None:
        self._db.hub.publish(EmbeddingChanged(self._worker.state.phase))
