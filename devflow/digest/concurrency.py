"""Many things at once, but never more than so many."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    value: R


@dataclass(frozen=True, slots=True)
class Broken:
    error: Exception


async def map_with_concurrency_limit(
    items: Sequence[T], limit: int, work: Callable[[T], Awaitable[R]]
) -> list[Done[R] | Broken]:
    """What `work` made of each item, in the order of the items; at most `limit` are at work at a time.

    One that raises stops none of the others. Raises ValueError for a limit that is no whole number above 0.
    Cancelling it cancels what is at work and begins nothing more.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"the limit must be a whole number above 0, not {limit!r}")
    results: list[Done[R] | Broken | None] = [None] * len(items)
    places = iter(range(len(items)))

    async def worker() -> None:
        for place in places:  # shared: each place is taken once
            try:
                results[place] = Done(await work(items[place]))
            except Exception as error:  # noqa: BLE001 - the caller is told of every one
                results[place] = Broken(error)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(limit, len(items))):
            group.create_task(worker())
    return [result for result in results if result is not None]
