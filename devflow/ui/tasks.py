"""Owned coroutines: a slot is one line that launches; the owner keeps the task and reports what goes wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject

from devflow.domain.errors import UserFacing

log = logging.getLogger(__name__)

Crash = Callable[[str, BaseException], None]
Refusal = Callable[[UserFacing], None]


class TaskOwner:
    """Keeps every launched task until it ends.

    A `UserFacing` failure goes to the launch's `refused`, else to the owner's (a message in the window); anything else
    is a bug: logged whole and given to the crash reporter once.
    """

    def __init__(self, crash: Crash | None = None, refused: Refusal | None = None) -> None:
        self.crash = crash
        self.refused = refused
        self._tasks: set[asyncio.Task[Any]] = set()

    def launch(
        self,
        work: Coroutine[Any, Any, Any],
        *,
        what: str = "",
        refused: Refusal | None = None,
        owner: QObject | None = None,
    ) -> asyncio.Task[Any]:
        """Start `work`; `what` names it in the log. With `owner`, the task dies with that object."""
        task = asyncio.get_running_loop().create_task(work, name=what or None)
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._ended(ended, what, refused))
        if owner is not None:
            owner.destroyed.connect(lambda _object=None: task.cancel())
        return task

    @property
    def running(self) -> int:
        return len(self._tasks)

    async def settled(self) -> None:
        """Until what runs has ended, what it launched meanwhile included."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def finish(self, begin: Callable[[], object]) -> None:
        """Call `begin` and wait for what it launched: the last writes of a page that closes are not cut."""
        before = frozenset(self._tasks)
        begin()
        if begun := self._tasks - before:
            await asyncio.wait(begun)

    async def close(self) -> None:
        """Cancel what still runs and wait for it to end."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any], what: str, refused: Refusal | None) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        show = refused or self.refused
        if isinstance(error, UserFacing) and show is not None:
            log.info("%s refused: %s", what or task.get_name(), error)
            show(error)
            return
        log.error("%s failed", what or task.get_name(), exc_info=error)
        if self.crash is not None:
            self.crash(what, error)
