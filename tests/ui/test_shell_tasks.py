"""Owned tasks and the bridge: nothing is lost, nothing is told twice."""

import asyncio

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from devflow.domain.errors import Refused, UserFacing
from devflow.domain.events import Aggregate, Change, Changes, ExtractionChanged, Hub
from devflow.ui.bridge import Events
from devflow.ui.crash import CrashReporter
from devflow.ui.tasks import TaskOwner
from tests.ui.conftest import Look, ScriptedDialogs


@pytest.mark.expects_log
async def test_a_bug_reaches_the_crash_reporter_with_what_was_being_done() -> None:
    crashed: list[tuple[str, BaseException]] = []
    owner = TaskOwner(crash=lambda what, error: crashed.append((what, error)))

    async def fail() -> None:
        raise ZeroDivisionError

    await asyncio.wait({owner.launch(fail(), what="count")})
    assert [(what, type(error)) for what, error in crashed] == [("count", ZeroDivisionError)]
    assert owner.running == 0


async def test_a_refusal_is_shown_where_the_act_was_and_is_no_crash() -> None:
    shown: list[UserFacing] = []
    general: list[UserFacing] = []
    owner = TaskOwner(crash=lambda what, error: pytest.fail("a refusal is no bug"), refused=general.append)

    async def refuse() -> None:
        raise Refused("No.")

    await asyncio.wait({owner.launch(refuse(), refused=shown.append), owner.launch(refuse())})
    assert len(shown) == len(general) == 1


async def test_a_task_dies_with_the_widget_that_started_it(qapp: QApplication) -> None:
    owner, widget = TaskOwner(), QObject()
    never = asyncio.Event()
    task = owner.launch(_wait(never), owner=widget)
    started = asyncio.Event()
    owner.launch(_set(started))
    await started.wait()
    widget.deleteLater()
    await asyncio.wait({task}, timeout=5)
    assert task.cancelled()


async def test_closing_cancels_what_runs_and_waits_for_its_end() -> None:
    owner = TaskOwner()
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tidied")

    running = asyncio.Event()
    owner.launch(work())
    owner.launch(_set(running))
    await running.wait()
    await owner.close()
    assert ended == ["tidied"]
    assert owner.running == 0


def test_events_become_signals_and_rows_become_ids(qapp: QApplication) -> None:
    hub = Hub()
    events = Events(hub)
    entries: list[frozenset[str]] = []
    told: list[ExtractionChanged] = []
    events.entries_changed.connect(entries.append)
    events.extraction_changed.connect(told.append)
    events.providers_changed.connect(lambda ids: pytest.fail("no provider changed"))

    hub.publish(Changes((Change(1, Aggregate.ENTRY, "a"), Change(2, Aggregate.ENTRY, "b")), foreign=True))
    hub.publish(ExtractionChanged("c", "running"))
    events.close()
    hub.publish(ExtractionChanged("c", "done"))

    assert entries == [frozenset({"a", "b"})]
    assert [event.state for event in told] == ["running"]


async def test_one_crash_dialog_at_a_time(look: Look, dialogs: ScriptedDialogs) -> None:
    waiting: list[object] = []
    reporter = CrashReporter(look, dialogs, waiting.append)
    reporter.report("count", ValueError("one"))
    reporter.report("count", ValueError("two"))
    assert len(waiting) == 1
    await waiting.pop()  # type: ignore[misc]
    assert dialogs.asked == [("tell", "Something in DevFlow failed")]
    reporter.report("count", ValueError("three"))
    assert len(waiting) == 1
    await waiting.pop()  # type: ignore[misc]


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _set(event: asyncio.Event) -> None:
    event.set()
