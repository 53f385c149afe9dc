"""Reading again when something changed: one reading at a time, and one more if it was asked for meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject

from devflow.ui.tasks import TaskOwner


class Refresher(QObject):
    """`ask()` as often as you like; `read` is awaited again until nobody has asked since it began."""

    def __init__(self, tasks: TaskOwner, read: Callable[[], Awaitable[None]], what: str, parent: QObject) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._read = read
        self._what = what
        self._asked = False
        self._task: asyncio.Task[None] | None = None

    def ask(self) -> asyncio.Task[None]:
        """The task that is done when a reading that began after this call is done."""
        self._asked = True
        if self._task is None or self._task.done():
            self._task = self._tasks.launch(self._run(), what=self._what, owner=self)
        return self._task

    async def _run(self) -> None:
        while self._asked:
            self._asked = False
            await self._read()
