"""The Qt loop of a test: what is due between a test's phases waits for the next one.

pytest-qt lets Qt process its events after setup, call and teardown, when no asyncio loop runs. qasync's timers fire
then too, and a task that is stepped finds no running loop.

Blocking calls run in Python's threads, as in the application (`devflow/app/desktop_run.py`). qasync would start ten
QThreads for every loop, so for every test, and a process that has ended many of those is known to crash later
(qasync's issue 154).
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from qasync import QEventLoop


class PatientLoop(QEventLoop):  # type: ignore[misc]
    """Runs callbacks only while it runs."""

    def __init__(self, app: Any) -> None:
        self._waiting: list[asyncio.Handle] = []
        super().__init__(app)
        self.set_default_executor(ThreadPoolExecutor(max_workers=4, thread_name_prefix="asyncio"))

    def run_forever(self) -> None:
        waiting, self._waiting = self._waiting, []
        for handle in waiting:
            self._add_callback(handle)
        super().run_forever()

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        super()._add_callback(_WhileRunning(handle, self), delay)
        return handle

    def keep(self, handle: asyncio.Handle) -> None:
        self._waiting.append(handle)


class _WhileRunning:
    """Stands in for a handle in qasync's table of timers."""

    def __init__(self, handle: asyncio.Handle, loop: PatientLoop) -> None:
        self._handle = handle
        self._loop = loop

    @property
    def _cancelled(self) -> bool:
        return self._handle.cancelled()

    def _run(self) -> None:
        if self._loop.is_running():
            self._handle._run()
        else:
            self._loop.keep(self._handle)
