"""A thread with an asyncio loop of its own, for what must not run on the window's (decision 24)."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Begun with its first `run`. A daemon, so that a stuck server cannot keep the process alive."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the coroutine returns or raises. `make` is called there too; cancelled here, it is cancelled there.

        What is still running when the thread is closed is cancelled, and so is everything that comes after.
        """
        if self._closed:
            raise asyncio.CancelledError
        loop = self._running()

        async def work() -> T:
            return await make()

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), loop))

    async def close(self, seconds: float) -> None:
        """End the loop and wait for the thread, but not longer than that."""
        self._closed = True
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, seconds)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = self._loop = _new_loop()
            self._thread = threading.Thread(target=_work, args=(loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


def _new_loop() -> asyncio.AbstractEventLoop:
    """Not `asyncio.new_event_loop`: in the window's process that makes one of Qt's."""
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.SelectorEventLoop()


def _work(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(_wind_up(asyncio.all_tasks(loop)))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _wind_up(left: set[asyncio.Task[Any]]) -> None:
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
