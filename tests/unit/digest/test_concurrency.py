"""DIGEST-01 to DIGEST-03: many things at once, but never more than so many."""

import asyncio

import pytest

from devflow.digest.concurrency import Broken, Done, map_with_concurrency_limit


class Meter:
    """Counts how many are at work; each waits until as many as the limit have come, or none is left to come."""

    def __init__(self, limit: int, total: int) -> None:
        self.active = self.most = self.begun = 0
        self._limit, self._total = limit, total
        self._full = asyncio.Event()

    async def work(self, item: int) -> int:
        self.active += 1
        self.begun += 1
        self.most = max(self.most, self.active)
        if self.active == self._limit or self.begun == self._total:
            self._full.set()
        await self._full.wait()
        await asyncio.sleep(0)
        self.active -= 1
        return item * 10


async def test_ten_items_run_exactly_three_at_a_time_and_come_back_in_order() -> None:
    meter = Meter(3, 10)
    results = await map_with_concurrency_limit(range(10), 3, meter.work)
    assert meter.most == 3
    assert results == [Done(item * 10) for item in range(10)]


async def test_nothing_gives_nothing_and_fewer_items_than_the_limit_all_run() -> None:
    assert await map_with_concurrency_limit([], 3, Meter(3, 0).work) == []
    assert await map_with_concurrency_limit([1, 2], 5, Meter(5, 2).work) == [Done(10), Done(20)]


@pytest.mark.parametrize("limit", [0, -1, float("nan"), 2.5, True, "3", None])
async def test_a_limit_that_is_no_whole_number_above_0_is_an_error(limit: object) -> None:
    begun = []

    async def work(item: int) -> None:
        begun.append(item)

    with pytest.raises(ValueError, match="limit"):
        await map_with_concurrency_limit([1], limit, work)  # type: ignore[arg-type]
    assert begun == []


async def test_one_that_fails_stops_none_of_the_others() -> None:
    async def work(item: int) -> int:
        if item == 1:
            raise ValueError("one")
        return item

    zero, one, two = await map_with_concurrency_limit([0, 1, 2], 1, work)
    assert (zero, two) == (Done(0), Done(2))
    assert isinstance(one, Broken)
    assert str(one.error) == "one"


async def test_cancelling_ends_what_is_at_work_and_begins_nothing_more() -> None:
    begun: list[int] = []
    ended: list[int] = []
    full = asyncio.Event()

    async def work(item: int) -> None:
        begun.append(item)
        if len(begun) == 3:
            full.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(item)

    task = asyncio.create_task(map_with_concurrency_limit(range(10), 3, work))
    await full.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (begun, sorted(ended)) == ([0, 1, 2], [0, 1, 2])
