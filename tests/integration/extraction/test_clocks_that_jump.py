"""A clock that is set back, or ran ahead, neither hides a conversation nor keeps it waiting for days (spec 07)."""

from datetime import timedelta

import pytest

from devflow.extraction import clock as clocks
from devflow.extraction.clock import SystemClock
from devflow.store import extraction_jobs, settings
from devflow.store.extraction_jobs import STATE_GROUP
from tests.integration.extraction.bench import Bench, item, items


async def test_a_clock_set_back_while_a_conversation_is_quiet_does_not_put_it_off_for_days(bench: Bench) -> None:
    await bench.configure(trigger_mode="on_idle", idle_timeout_ms=1_500)
    bench.answer(items(item()))
    await bench.talk()
    await bench.settled()
    bench.clock.advance(days=-3)
    bench.extraction._worker.wake()
    await bench.settled()
    bench.clock.advance(ms=1_500)
    await bench.settled()
    assert len(await bench.candidates()) == 1


@pytest.mark.parametrize("seen", ["garbage", "2020-01-01T00:00:00", 5, None, ["x"], "9999-12-31T23:59:59+00:00"])
async def test_a_mark_that_cannot_be_read_stops_no_start(bench: Bench, seen: object) -> None:
    await bench.db.write(lambda unit: settings.put(unit, STATE_GROUP, {"seen_until": seen, "calls": "x", "day": 5}))
    await bench.restart()
    bench.answer(items(item()))
    await bench.talk()
    await bench.settled()
    assert len(await bench.candidates()) == 1


async def test_what_ended_after_a_clock_was_set_right_is_noticed_after_a_kill(bench: Bench) -> None:
    """The clock ran a year ahead once; the mark it left must not outlive it."""
    ahead = bench.clock.now() + timedelta(days=365)
    await bench.db.write(lambda unit: extraction_jobs.see(unit, ahead))
    await bench.talk()
    await bench.settled()
    seen = await bench.db.read(extraction_jobs.seen_until)
    assert seen is not None
    assert seen < ahead


async def test_the_alarm_looks_up_when_the_clock_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    real = clocks.ids.now
    monkeypatch.setattr(clocks, "LONGEST_NAP", 0.01)
    rung = asyncio.Event()
    SystemClock().call_at(real() + timedelta(hours=1), rung.set)
    monkeypatch.setattr(clocks.ids, "now", lambda: real() - timedelta(days=3))
    await asyncio.wait_for(rung.wait(), 5)
