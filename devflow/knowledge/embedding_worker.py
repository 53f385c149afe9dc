"""Makes the vectors of published entries in the background, one batch at a time (KP-6).

What failed is noted on its entry, tried again with growing pauses, and after every start. Whatever is cut off is simply
still due.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from devflow.domain.errors import DatabaseProblem, UserFacing
from devflow.knowledge.embedding_state import NOTHING, EmbeddingModel, EmbeddingSource, EmbeddingState, Phase, Vector
from devflow.knowledge.embedding_text import has_han, parts_of
from devflow.knowledge.scales import Scales
from devflow.knowledge.settings import Settings
from devflow.store import vectors
from devflow.store.database import Database, Unit
from devflow.store.vectors import Packed, Progress, Text

log = logging.getLogger(__name__)

GROUP = "embedding"
"""Settings group: `daily_texts` (a cap), `used` (day and texts), `stopped` (a model's key), `order`."""

ENTRIES_AT_ONCE = 8
PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1))
"""After the first, second, … failure in a row; the last one from then on."""
OF_ONE_TEXT = frozenset({"bad_request", "context_overflow"})
"""Failures that may be one text's alone: the others of its batch are asked for by themselves."""


class Clock(Protocol):
    def now(self) -> datetime: ...
    def call_at(self, when: datetime, call: Callable[[], None]) -> Callable[[], None]: ...


class EmbeddingWorker:
    """`run` is the background task. `made` is called after every batch, `told` whenever `state` has changed."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        source: EmbeddingSource,
        scales: Scales,
        *,
        clock: Clock,
        is_busy: Callable[[], Awaitable[bool]],
        made: Callable[[EmbeddingModel], Awaitable[None]],
        told: Callable[[], None],
    ) -> None:
        self._db = db
        self._settings = settings
        self._source = source
        self._scales = scales
        self._clock = clock
        self._is_busy = is_busy
        self._made = made
        self._told = told
        self._wake = asyncio.Event()
        self._resting = asyncio.Event()
        self._asking: asyncio.Task[list[Vector]] | None = None
        self._is_local = False
        self._alarm: Callable[[], None] | None = None
        self._later: dict[str, datetime] = {}
        self._alone: set[str] = set()
        self._failures = 0
        self._paused_until: datetime | None = None
        self._problem: UserFacing | None = None
        self.state = EmbeddingState(Phase.OFF)

    async def run(self) -> None:
        """Make what is due, then sleep until something is; ends by cancellation."""
        while True:
            self._wake.clear()
            try:
                worked = await self._step()
            except Exception as error:  # whatever it was, the next batch is made all the same
                if isinstance(error, DatabaseProblem):
                    log.warning("embedding waits for the database: %s", error)
                else:
                    log.exception("embedding stopped at a bug, and goes on")
                worked = False
                self._look_again(self._clock.now() + PAUSES[0])
            if worked:
                continue
            if not self._wake.is_set():
                self._resting.set()
            await self._wake.wait()

    def wake(self) -> None:
        """Something changed: look again at what is due."""
        self._resting.clear()
        self._wake.set()

    async def rest(self) -> None:
        """Until there is nothing to do at this moment."""
        await self._resting.wait()

    def close(self) -> None:
        self._silence()

    def try_again(self) -> None:
        """A human asked: no pause counts any more."""
        self._later.clear()
        self._failures, self._paused_until = 0, None
        self.wake()

    def interrupt(self) -> None:
        """Leave what is being asked; it is still due."""
        if self._asking is not None:
            self._asking.cancel()

    def make_way(self) -> None:
        """A run begins: a server on this machine answers the chat first."""
        if self._is_local:
            self.interrupt()

    # helpers -------------------------------------------------------------------------------------------------------

    async def _step(self) -> bool:
        """Make one batch; False when none may be made now."""
        self._silence()
        try:
            model = await self._source.current()
        except UserFacing as problem:
            self._say(Phase.NO_MODEL, problem=problem)
            return False
        if model is None:
            self._say(Phase.OFF)
            return False
        now = self._clock.now()
        waiting = {id for id, at in self._later.items() if at > now}
        due = await self._db.read(
            lambda session: vectors.due(session, model.key, 1 if self._alone else ENTRIES_AT_ONCE, waiting)
        )
        progress = await self._db.read(lambda session: vectors.progress(session, model.key))
        if not due and await self._scales.of(model) is not None:
            await self._made(model)  # so that the first search need not wait for them
            if waiting:
                self._look_again(min(self._later[id] for id in waiting))
            paused = self._paused_until is not None and now < self._paused_until
            self._say(Phase.PAUSED if paused else Phase.READY, model, progress, self._problem if paused else None)
            return False
        held = await self._held(model, now)
        if held is not None:
            self._say(held, model, progress, self._problem if held is Phase.PAUSED else None)
            return False
        self._say(Phase.WORKING, model, progress)
        await self._make(model, due)
        return True

    async def _held(self, model: EmbeddingModel, now: datetime) -> Phase | None:
        """Why what is due has to wait."""
        stored = await self._settings.get(GROUP)
        if stored.get("stopped") == model.key:
            return Phase.STOPPED
        if self._paused_until is not None and now < self._paused_until:
            self._paused_until = min(self._paused_until, now + PAUSES[-1])  # the clock may have been set back
            self._look_again(self._paused_until)
            return Phase.PAUSED
        cap = stored.get("daily_texts")
        if isinstance(cap, int) and not isinstance(cap, bool) and _used(stored, _day(now)) >= cap:
            midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
            self._look_again(midnight + timedelta(days=1))
            return Phase.CAPPED
        self._is_local = model.is_local
        return Phase.WAITING if model.is_local and await self._is_busy() else None

    async def _make(self, model: EmbeddingModel, due: Sequence[Text]) -> None:
        try:
            if await self._scales.of(model) is None:
                await self._scales.measure(model, self._ask)
            made = await self._embed(model, due)
        except asyncio.CancelledError:
            if (ourselves := asyncio.current_task()) is not None and ourselves.cancelling():
                raise
            return  # the chat goes first, or someone cancelled it
        except UserFacing as failure:
            await self._failed(model, due, failure)
            return

        def work(unit: Unit) -> None:
            for text, packed in made:
                vectors.put(unit, text, model.key, packed)

        await self._db.write(work)
        self._failures, self._paused_until = 0, None
        for text in due:
            self._later.pop(text.entry_id, None)
            self._alone.discard(text.entry_id)
        await self._made(model)

    async def _embed(self, model: EmbeddingModel, due: Sequence[Text]) -> list[tuple[Text, list[Packed]]]:
        """Raises UserFacing where a batch of texts failed."""
        parts = [(text, part) for text in due for part in parts_of(text.title, text.content)]
        made: dict[str, list[Packed]] = {text.entry_id: [] for text in due}
        for start in range(0, len(parts), model.batch):
            some = parts[start : start + model.batch]
            found = await self._ask(model.texts([part for _, part in some]))
            await self._scales.check_dimension(model, found[0])
            await self._count(len(some))
            for (text, part), vector in zip(some, found, strict=True):
                made[text.entry_id].append(Packed(vectors.pack(vector), has_han(part)))
        return [(text, made[text.entry_id]) for text in due]

    async def _ask(self, asking: Coroutine[Any, Any, list[Vector]]) -> list[Vector]:
        """The one request under way, which a run may interrupt."""
        self._asking = asyncio.create_task(asking, name="embedding request")
        try:
            return await self._asking
        finally:
            if not self._asking.done():
                self._asking.cancel()
                with contextlib.suppress(asyncio.CancelledError, UserFacing):
                    await self._asking
            self._asking = None

    async def _failed(self, model: EmbeddingModel, due: Sequence[Text], failure: UserFacing) -> None:
        if len(due) > 1 and failure.code in OF_ONE_TEXT:
            self._alone = {text.entry_id for text in due}
            return
        self._failures += 1
        pause = PAUSES[min(self._failures, len(PAUSES)) - 1]
        now = self._clock.now()
        ids = [text.entry_id for text in due]
        log.info("embedding of %d entries failed: %s", len(ids), failure)
        if ids:
            await self._db.write(lambda unit: vectors.fail(unit, ids, model.key, str(failure)))
        for id in ids:
            self._alone.discard(id)
            self._later[id] = now + pause
        if failure.code not in OF_ONE_TEXT or not ids:
            self._paused_until = now + pause
        self._problem = failure

    async def _count(self, texts: int) -> None:
        """Only a cap needs counting."""
        stored = await self._settings.get(GROUP)
        if stored.get("daily_texts") is not None:
            day = _day(self._clock.now())
            await self._settings.update(GROUP, used={"day": day, "texts": _used(stored, day) + texts})

    def _look_again(self, at: datetime) -> None:
        self._silence()
        self._alarm = self._clock.call_at(at, self.wake)

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm()
            self._alarm = None

    def _say(
        self,
        phase: Phase,
        model: EmbeddingModel | None = None,
        progress: Progress = NOTHING,
        problem: UserFacing | None = None,
    ) -> None:
        again_at = self._paused_until if phase is Phase.PAUSED else None
        said = EmbeddingState(phase, model.name if model else "", progress, again_at, problem)
        if said != self.state:
            self.state = said
            self._told()


def _day(now: datetime) -> str:
    """The user's own day."""
    return now.astimezone().date().isoformat()


def _used(stored: dict[str, Any], day: str) -> int:
    used = stored.get("used")
    texts = used.get("texts") if isinstance(used, dict) and used.get("day") == day else 0
    return texts if isinstance(texts, int) else 0
