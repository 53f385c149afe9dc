"""Time, so that tests can turn it: what is waited for is an instant of the wall clock, which survives a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from devflow.domain import ids

SET_BACK = 1.0  # seconds that a clock may be corrected by without anybody looking
LONGEST_NAP = 30.0  # seconds; a clock that was set, or a machine that slept, is noticed within it


class Clock(Protocol):
    def now(self) -> datetime:
        """The present, aware UTC."""
        ...

    def call_at(self, when: datetime, call: Callable[[], None]) -> Callable[[], None]:
        """Call once when it is `when`, on the loop; at once where that has passed. The result cancels it.

        Called earlier where the clock was set back meanwhile.
        """
        ...


class SystemClock:
    """The machine's clock on the running loop."""

    def now(self) -> datetime:
        return ids.now()

    def call_at(self, when: datetime, call: Callable[[], None]) -> Callable[[], None]:
        return _Alarm(when, call).cancel


class _Alarm:
    def __init__(self, when: datetime, call: Callable[[], None]) -> None:
        self._when, self._call = when, call
        self._handle: asyncio.TimerHandle | None = None
        self._set()

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _set(self) -> None:
        left = (self._when - ids.now()).total_seconds()
        loop = asyncio.get_running_loop()
        self._set_at = (ids.now(), loop.time())
        self._handle = loop.call_later(min(max(left, 0.0), LONGEST_NAP), self._ring)

    def _ring(self) -> None:
        if ids.now() < self._when and not self._was_set_back():
            self._set()
        else:
            self._handle = None
            self._call()

    def _was_set_back(self) -> bool:
        """Then `when` may be long off, though little time is left: whoever waits looks again."""
        at, ticks = self._set_at
        passed = asyncio.get_running_loop().time() - ticks
        return (ids.now() - at).total_seconds() < passed - SET_BACK
