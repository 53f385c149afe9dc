"""Two processes on one run: what one stops, the other lets go of within a second."""

import asyncio
import time

from devflow.domain.conversation import MessageState
from devflow.domain.events import RunChanged, TextArrived
from devflow.domain.run import CallState, RunState
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes


async def test_a_run_stopped_by_another_process_lets_go_of_a_silent_server_within_a_second(
    bench: Bench, processes: Processes, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    other = await processes.start()
    assert (await other.core.turns.cancel(run.id)).state is RunState.CANCELLED
    stopped = time.monotonic()
    assert (await asyncio.wait_for(bench.core.turns.wait(run.id), 10)).state is RunState.CANCELLED
    assert time.monotonic() - stopped < 2
    assert server.requests[0].aborted.wait(2)
    gate.open()
    answer = await bench.answer(conversation)
    assert (answer.content, answer.state) == ("One", MessageState.PARTIAL)
    assert bench.of(RunChanged)[-1].state is RunState.CANCELLED


async def test_a_run_stopped_and_continued_by_another_process_is_left_to_it(
    bench: Bench, processes: Processes, server: OpenAIServer
) -> None:
    first, second = Gate(), Gate()
    server.script(Turn(["One", first, " lost."]), Turn([" two", second, " three."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    other = await processes.start()
    await other.core.turns.cancel(run.id)
    await other.core.turns.continue_run(run.id)
    await other.event(TextArrived)
    await asyncio.wait_for(bench.core.turns.wait(run.id), 10)
    second.open()
    assert (await other.core.turns.wait(run.id)).state is RunState.COMPLETED
    first.open()
    cut, whole = (await other.messages(conversation))[1:]
    assert (cut.content, cut.state) == ("One", MessageState.PARTIAL)
    assert (whole.content, whole.state) == (" two three.", MessageState.COMPLETE)


async def test_a_call_that_another_process_has_stopped_is_not_begun_here(
    bench: Bench, processes: Processes, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["Writing", gate], calls=[Call("list_dir", {"path": "."})]))
    conversation = await bench.conversation(project=True)
    run = await bench.core.turns.send(conversation.id, "List.")
    await bench.event(TextArrived)
    other = await processes.start()
    await other.core.turns.cancel(run.id)
    gate.open()
    assert (await asyncio.wait_for(bench.core.turns.wait(run.id), 10)).state is RunState.CANCELLED
    assert [call for call in await bench.calls(conversation) if call.state is not CallState.CANCELLED] == []
