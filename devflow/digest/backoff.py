"""How a batch waits: all of it after a rate limit, one file after another passing failure."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from devflow.domain.errors import ProviderFailed

PASSING = frozenset(
    {"unreachable", "server_error", "stream_cut", "silent", "no_finish", "cut_arguments", "not_an_answer"}
)
"""Codes of failures after which the very same request may well work; a refused key or a missing model stays."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds and counts: the n-th rate limit in a row pauses the batch for `base * 2**n`, at most `cap`.

    The provider has tried three times by itself before it tells of one. `longest` is the longest pause that a server
    may ask for.
    """

    base: float = 4.0
    cap: float = 120.0
    longest: float = 600.0
    tries_limited: int = 8
    tries_failed: int = 3
    jitter: Callable[[], float] = random.random


class Backoff:
    """Shared by the workers of a batch: after a rate limit nobody asks until the pause is over."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._until = 0.0
        self._set_at = 0.0
        self._in_a_row = 0

    @property
    def left(self) -> float:
        """Seconds until the pause is over."""
        return max(0.0, self._until - time.monotonic())

    async def turn(self) -> float:
        """Wait for the end of the pause; returns the instant at which the request begins."""
        if self.left > 0:
            await asyncio.sleep(self.left)
            return await self.turn()  # another request may have been told to wait meanwhile
        return time.monotonic()

    def passed(self) -> None:
        self._in_a_row = 0

    def limited(self, began: float, asked: float | None) -> None:
        """A request that began at `began` was told to wait, by a server that asks for `asked` seconds.

        Requests that were under way when the pause was set make it no longer.
        """
        if began >= self._set_at:
            self._in_a_row += 1
            self._set_at = time.monotonic()
        self._until = max(self._until, time.monotonic() + max(self._pause(self._in_a_row), asked or 0.0))

    async def rest(self, failed: int) -> None:
        """Before the next try of one file after `failed` failed ones."""
        await asyncio.sleep(self._pause(failed))

    def again(self, failure: ProviderFailed, limited: int, failed: int) -> bool:
        """Whether the file is tried once more after that many rate limits and other failures."""
        if failure.code == "rate_limited":
            return limited < self.pace.tries_limited and (asked_for(failure) or 0.0) <= self.pace.longest
        return failure.code in PASSING and failed < self.pace.tries_failed

    def _pause(self, failed: int) -> float:
        return min(self.pace.cap, self.pace.base * 2.0 ** (failed - 1)) * (0.5 + self.pace.jitter() / 2)


def asked_for(failure: ProviderFailed) -> float | None:
    """Seconds that the server asked to wait."""
    found = getattr(failure, "retry_after", None)
    return float(found) if isinstance(found, int | float) else None
