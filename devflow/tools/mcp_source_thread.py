"""A thread with an asyncio loop of its own, for what must not run on the window's (decision 24)."""

from __future__ import annotations

import asyncio
import contextlib
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

    async def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the coroutine returns or raises. `make` is called there too; cancelled here, it is cancelled there."""
        loop = self._running()

        async def work() -> T:
            return await make()

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), loop))

    async def close(self, seconds: float) -> None:
        """End the loop and wait for the thread, but not longer than that."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, seconds)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_work, args=(loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


def _work(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
