"""Quitting in mid-stream leaves no task, socket or process (500 by hand: `python -m tests.conformance quits 500`)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.conformance.quits import Quits
from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.support.commands import devflow, start

QUITS = 50


async def test_fifty_quits_in_mid_stream_leave_nothing(home: Path, tmp_path: Path) -> None:
    quits = Quits(home, tmp_path / "project")
    await quits.run(QUITS)
    assert (quits.done, quits.left) == (QUITS, [])


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
