"""What one call works with: the open core, the library as the caller sees it, and who the caller is."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from devflow.app.paths import AppPaths
from devflow.domain.rights import Visitor

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.knowledge.visiting import VisitedLibrary

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Room:
    core: Core
    library: VisitedLibrary
    visitor: Visitor
    working: set[asyncio.Task[Any]]

    async def cancelled_once(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work that cleans up when it is cancelled.

        The SDK cancels a call again at every point where it waits, until it is over; a clean-up that waits would never
        get through. A task of its own is cancelled once.
        """
        task = asyncio.create_task(work)
        self.working.add(task)
        task.add_done_callback(self.working.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise


class Opening:
    """The core, opened when it is first needed: a client that only greets the server does not wait for a database.

    What cannot be opened is tried again at the next call; the user may have mended it.
    """

    def __init__(self, paths: AppPaths) -> None:
        self._paths = paths
        self._open: asyncio.Task[Core] | None = None
        self._working: set[asyncio.Task[Any]] = set()
        self._kept: set[asyncio.Task[Any]] = set()
        self._closed = False

    def begin(self) -> None:
        """Open it, without waiting."""
        if self._closed:
            return
        if self._open is None or (self._open.done() and self._failed(self._open)):
            self._open = asyncio.create_task(_core(self._paths), name="open the core")

    async def room(self, visitor: Visitor) -> Room:
        """What one call works with; what other processes changed since the last one is heard first.

        Between calls nothing watches, but for a client that wants to be told (`announcing`). Raises DatabaseProblem.
        """
        self.begin()
        assert self._open is not None
        core = await asyncio.shield(self._open)
        from devflow.knowledge.visiting import VisitedLibrary  # loaded beside the core, on its thread

        if (changes := await core.db.foreign_changes()) is not None:
            core.hub.publish(changes)
        return Room(core, VisitedLibrary(core.db, core.knowledge), visitor, self._working)

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Work that goes on until the opening closes."""
        self._kept.add(task)

    async def close(self) -> None:
        self._closed = True
        for task in self._kept:
            task.cancel()
        await asyncio.gather(*self._kept, return_exceptions=True)
        if self._open is None:
            return
        await asyncio.wait([self._open])
        await asyncio.gather(*self._working, return_exceptions=True)
        if not self._failed(self._open):
            from devflow.app.core import close_core

            await close_core(self._open.result())

    @staticmethod
    def _failed(opening: asyncio.Task[Core]) -> bool:
        return opening.cancelled() or opening.exception() is not None


async def _core(paths: AppPaths) -> Core:
    await asyncio.to_thread(importlib.import_module, "devflow.app.core")  # half a second, in which the loop lives
    await asyncio.to_thread(importlib.import_module, "devflow.knowledge.visiting")
    from devflow.app.core import open_core

    return await open_core(paths, background=False)
