"""Quitting in mid-stream leaves no task, socket or process (500 by hand: `python -m tests.conformance quits 500`)."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path

import pytest

from devflow.agent.turns import CLOSE_S
from devflow.app.core import close_core, open_core
from devflow.app.paths import app_paths
from devflow.domain.conversation import MessageState
from devflow.domain.events import TextArrived
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from tests.conformance.quits import Quits
from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.support.commands import devflow, start

QUITS = 50


async def test_fifty_quits_in_mid_stream_leave_nothing(home: Path, tmp_path: Path) -> None:
    quits = Quits(home, tmp_path / "project")
    await quits.run(QUITS)
    assert (quits.done, quits.left) == (QUITS, [])


async def test_a_quit_on_a_slow_disk_leaves_no_task_and_keeps_the_text(home: Path) -> None:
    tasks = asyncio.all_tasks()
    with OpenAIServer() as server:
        core = await open_core(app_paths(home), background=True)
        await core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
        server.script(Turn(["First words ", Gate()]))
        conversation = await core.conversations.create()
        arrived = asyncio.Event()
        core.hub.subscribe(lambda event: arrived.set() if isinstance(event, TextArrived) else None)
        await core.turns.send(conversation.id, "Go on.")
        await asyncio.wait_for(arrived.wait(), 10)
        disk = threading.Event()
        busy = asyncio.create_task(core.db.read(lambda session: disk.wait(10)))
        threading.Timer(CLOSE_S + 1.0, disk.set).start()
        await close_core(core)
        await busy
        assert asyncio.all_tasks() - tasks == set()
    core = await open_core(app_paths(home), background=True)
    try:
        *_, said = (await core.conversations.path(conversation.id)).messages
        assert (said.content, said.state) == ("First words ", MessageState.PARTIAL)
        assert [run.state for run in await core.conversations.runs(conversation.id)] == [RunState.INTERRUPTED]
    finally:
        await close_core(core)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_command_that_is_ended_in_mid_stream_is_gone_and_so_is_its_connection(
    home: Path, number: signal.Signals
) -> None:
    gate = Gate()
    with OpenAIServer() as server:
        server.script(Turn(["First words ", gate]), "All is well.")
        added = devflow(
            home, "provider", "add", "--name", "Scripted", "--address", server.base_url, "--model", "scripted"
        )
        assert added.code == 0, added.err
        process = start(home, "ask", "Go on.")
        gate.wait_reached(30)
        process.send_signal(number)
        process.communicate(timeout=10)
        assert server.requests[0].aborted.wait(5)
        assert process.returncode != 0
        assert devflow(home, "ask", "Is all well?").out.strip() == "All is well."
