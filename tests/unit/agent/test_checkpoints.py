"""Stopping a run at the worst moment: just as its stream has ended and its last words are being written."""

import asyncio
from typing import Any

import pytest

from devflow.agent.reply import _Answer


async def test_a_stop_is_heard_while_the_last_checkpoint_is_waited_for() -> None:
    nothing: Any = None
    answer = _Answer(nothing, nothing, nothing)

    async def streamed_to_its_end() -> None:
        async with answer.checkpoints():
            pass
        await asyncio.Event().wait()  # what a run does next

    run = asyncio.create_task(streamed_to_its_end())
    await asyncio.sleep(0)  # now it waits for the writer to end
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run, 5)
