"""Waiting for a state of the window that several signals lead to."""

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication


async def eventually(condition: Callable[[], object], *, within: float = 5.0) -> None:
    """Return as soon as `condition()` holds; AssertionError when it does not within that many seconds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    while not condition():
        if loop.time() > end:
            raise AssertionError(f"this did not come true within {within} s")
        QCoreApplication.sendPostedEvents()
        await asyncio.sleep(0.002)
