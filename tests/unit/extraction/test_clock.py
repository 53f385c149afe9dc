"""The machine's clock: instants are waited for by the wall clock, in naps."""

import asyncio
from datetime import timedelta

import pytest

from devflow.domain.ids import now
from devflow.extraction import clock
from devflow.extraction.clock import SystemClock


async def rings(after: timedelta) -> asyncio.Future[None]:
    rung: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    SystemClock().call_at(now() + after, lambda: rung.set_result(None))
    return rung


async def test_an_instant_that_has_passed_rings_at_once() -> None:
    await asyncio.wait_for(await rings(timedelta(hours=-1)), 5)


async def test_an_alarm_never_rings_early_however_short_the_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "LONGEST_NAP", 0.005)
    when = now() + timedelta(milliseconds=40)
    rung: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    SystemClock().call_at(when, lambda: rung.set_result(None))
    await asyncio.wait_for(rung, 5)
    assert now() >= when


async def test_a_cancelled_alarm_stays_silent() -> None:
    heard: list[str] = []
    cancel = SystemClock().call_at(now() + timedelta(milliseconds=5), lambda: heard.append("cancelled"))
    cancel()
    await asyncio.wait_for(await rings(timedelta(milliseconds=20)), 5)
    assert heard == []
