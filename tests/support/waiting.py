"""Waiting for Qt inside an async test: a future on a signal, never a nested event loop, never a sleep."""

import asyncio
from collections.abc import Callable
from typing import Any


async def emission(signal: Any, act: Callable[[], object] | None = None, *, timeout: float = 5.0) -> tuple[Any, ...]:
    """Wait for the next emission of `signal` and return its arguments.

    `act` runs once the signal is connected, so that an emission it causes at once is not missed.
    Raises TimeoutError after `timeout` seconds.
    """
    future: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()

    def arrived(*arguments: Any) -> None:
        if not future.done():
            future.set_result(arguments)

    signal.connect(arrived)
    try:
        if act is not None:
            act()
        return await asyncio.wait_for(future, timeout)
    finally:
        signal.disconnect(arrived)


async def until(condition: Callable[[], bool], changed: Any, *, timeout: float = 5.0) -> None:
    """Wait until `condition()` holds, looking again at every emission of the signal `changed`.

    Raises TimeoutError after `timeout` seconds.
    """
    async with asyncio.timeout(timeout):
        while not condition():
            await emission(changed, timeout=timeout)
