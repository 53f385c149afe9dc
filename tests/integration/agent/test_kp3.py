"""KP-3 and killed processes: real child processes, ended without a chance to say goodbye, then started again."""

import asyncio
from typing import Any

from devflow.agent.turns import Decision
from devflow.domain.conversation import MessageState
from devflow.domain.events import RunChanged
from devflow.domain.receipt import Phase
from devflow.domain.request import Injected
from devflow.domain.run import CallState, RunState
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.integration.agent.children import Children
from tests.integration.agent.conftest import Bench, Processes

WRITE = Call("write_file", {"path": "lock.txt", "content": "BEGIN IMMEDIATE\n"})
QUESTION = "How should a sqlite transaction take the write lock?"


async def test_kp3_a_run_resumed_after_a_kill_carries_the_library_by_the_same_rule(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    """Pause for approval, SIGKILL, publish one entry and archive another, start again, approve."""
    old = await bench.publish("Sqlite write lock: first advice", "A sqlite transaction takes the write lock late.")
    server.script(Turn("I will write it down.", calls=[WRITE]), "Written.")
    conversation = await bench.conversation(project=True)

    first = children.start("ask", conversation.id, QUESTION)
    paused = first.read()
    assert paused["state"] == "awaiting_approval"
    assert old.title in server.requests[0].system
    first.kill()
    assert children.count() == 0

    new = await bench.publish("Sqlite write lock: better advice", "A sqlite transaction takes the write lock first.")
    await bench.archive(old)

    (call_id,) = paused["calls"]
    second = children.start("decide", call_id, "allow")
    resumed = second.read()
    second.finish()
    assert resumed["state"] == "completed"

    request = server.requests[1]
    assert len(server.requests) == 2
    assert new.title in request.system, "published during the pause"
    assert old.title not in request.system, "archived during the pause"
    assert (
        request.system.index(new.title) < request.system.index("\n\n---\n\n") < request.system.index("You are DevFlow")
    )
    assert children.count() == 1, "the tool ran exactly once"
    assert (bench.workspace / "lock.txt").read_text() == "BEGIN IMMEDIATE\n"

    turn, resume = await bench.receipts(conversation)
    assert (turn.phase, resume.phase) == (Phase.TURN, Phase.RESUME)
    assert isinstance(turn.library, Injected)
    assert isinstance(resume.library, Injected)
    assert [item.ref for item in turn.library.items] == [old.id]
    assert [item.ref for item in resume.library.items] == [new.id]
    assert resume.library.items[0].number == "K2", "K1 belongs to the archived entry for the whole conversation"


async def test_kp3_with_two_pending_calls_both_survive_the_kill_and_are_decided_apart(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    entry = await bench.publish("Sqlite write lock", "A sqlite transaction takes the write lock first.")
    other = Call("write_file", {"path": "other.txt", "content": "x\n"})
    server.script(Turn(calls=[WRITE, other]), "Done.")
    conversation = await bench.conversation(project=True)
    first = children.start("ask", conversation.id, QUESTION)
    paused = first.read()
    first.kill()
    allowed, denied = paused["calls"]

    second = children.start("decide", allowed, "allow")
    assert second.read()["state"] == "awaiting_approval"
    second.kill()
    assert len(server.requests) == 1
    assert children.count() == 1

    third = children.start("decide", denied, "deny", "Not that file.")
    assert third.read()["state"] == "completed"
    third.finish()
    assert entry.title in server.requests[1].system
    assert "Not that file." in server.requests[1].tool_results[1]
    assert children.count() == 1
    assert not (bench.workspace / "other.txt").exists()


async def test_a_process_killed_between_effect_and_result_repeats_nothing_and_tells_the_model(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    server.script(Turn(calls=[WRITE]), "I will check the file first.")
    conversation = await bench.conversation(project=True)
    first = children.start("ask", conversation.id, QUESTION)
    (call_id,) = first.read()["calls"]
    first.kill()

    second = children.start("decide", call_id, "allow", hang=True)
    assert second.read() == {"effect": "lock.txt"}
    second.kill()
    assert (await bench.calls(conversation))[0].state is CallState.EXECUTING

    await bench.core.turns.recover()
    assert (await bench.calls(conversation))[0].state is CallState.INTERRUPTED
    (run,) = await bench.core.conversations.runs(conversation.id)
    assert run.state is RunState.INTERRUPTED
    assert len(server.requests) == 1, "nothing goes on by itself"

    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert "effect is unverified" in server.requests[1].tool_results[0]
    assert children.count() == 1
    assert not await bench.core.turns.decide(call_id, Decision(True))
    assert children.count() == 1


async def test_killed_in_one_of_two_calls_the_other_still_waits_and_the_model_is_told_of_both(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    other = Call("write_file", {"path": "other.txt", "content": "x\n"})
    server.script(Turn(calls=[WRITE, other]), "I see.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, QUESTION)
    first, second = await bench.calls(conversation)
    child = children.start("decide", first.id, "allow", hang=True)
    assert child.read() == {"effect": "lock.txt"}
    child.kill()

    await bench.core.turns.recover()
    assert await bench.states(conversation) == [RunState.AWAITING_APPROVAL]
    states = [call.state for call in await bench.calls(conversation)]
    assert states == [CallState.INTERRUPTED, CallState.AWAITING]
    assert await bench.core.turns.decide(second.id, Decision(False))
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    interrupted, denied = server.requests[1].tool_results
    assert "effect is unverified" in interrupted
    assert "denied" in denied
    assert children.count() == 1


async def test_a_process_killed_after_the_decision_and_before_the_effect_runs_the_call_on_continue(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    server.script(Turn(calls=[WRITE]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, QUESTION)
    (call,) = await bench.calls(conversation)
    await bench.core.db.write(lambda unit: _approve_and_die(unit, call.id, run.id))
    await bench.core.turns.recover()
    assert await bench.states(conversation) == [RunState.INTERRUPTED]
    assert not (bench.workspace / "lock.txt").exists()
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert (bench.workspace / "lock.txt").exists()


def _approve_and_die(unit: Any, call_id: str, run_id: str) -> None:
    """The rows as a process leaves them that was killed right after recording the decision."""
    from devflow.store import runs

    runs.compare_and_set_call(unit, call_id, CallState.AWAITING, CallState.APPROVED, decided_by="user", decided_seq=99)
    runs.set_state(unit, run_id, RunState.AWAITING_APPROVAL, owner="a-process-that-is-gone")


async def test_text_that_had_arrived_is_kept_when_the_process_is_killed_mid_stream(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    gate = Gate()
    server.script(Turn(["Half of an ", "answer", gate, " never sent"]), ", and the rest.")
    conversation = await bench.conversation()
    first = children.start("ask", conversation.id, QUESTION)
    await server.arrival(1)
    await _until_stored(bench, conversation.id, "Half of an answer")
    first.kill()
    assert (await bench.answer(conversation)).state is MessageState.STREAMING

    second = children.start("recover")
    assert second.read() == {"ready": True}
    second.finish()
    answer = await bench.answer(conversation)
    assert (answer.content, answer.state) == ("Half of an answer", MessageState.PARTIAL)
    (run,) = await bench.core.conversations.runs(conversation.id)
    assert run.state is RunState.INTERRUPTED
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert [m.content for m in await bench.messages(conversation)][1:] == ["Half of an answer", ", and the rest."]


async def test_recovery_leaves_the_runs_of_living_processes_alone(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    conversation = await bench.conversation()
    first = children.start("ask", conversation.id, QUESTION)
    await server.arrival(1)
    await _until_stored(bench, conversation.id, "One")
    assert await bench.core.turns.recover() == ()
    assert await bench.states(conversation) == [RunState.CALLING_MODEL]
    gate.open()
    assert first.read()["state"] == "completed"
    first.finish()


async def test_a_run_whose_process_is_killed_is_offered_to_the_window_that_lives(
    bench: Bench, processes: Processes, server: OpenAIServer, children: Children
) -> None:
    window = await processes.start(background=True)
    server.script(Turn(["Half of it", Gate()]), ", and the rest.")
    conversation = await bench.conversation()
    other = children.start("ask", conversation.id, QUESTION)
    await server.arrival(1)
    await _until_stored(bench, conversation.id, "Half of it")
    (run,) = await window.core.conversations.runs(conversation.id)
    assert run.state is RunState.CALLING_MODEL
    other.kill()
    await window.event(RunChanged, run_id=run.id, state=RunState.INTERRUPTED)
    await window.core.turns.continue_run(run.id)
    assert (await window.core.turns.wait(run.id)).state is RunState.COMPLETED


async def test_a_waiting_card_is_still_there_after_a_kill(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    server.script(Turn(calls=[WRITE]))
    conversation = await bench.conversation(project=True)
    first = children.start("ask", conversation.id, QUESTION)
    first.read()
    first.kill()
    assert await bench.core.turns.recover() == ()
    assert await bench.states(conversation) == [RunState.AWAITING_APPROVAL]
    assert (await bench.core.conversations.get(conversation.id)).awaiting
    assert (await bench.calls(conversation))[0].preview is not None


async def _until_stored(bench: Bench, conversation_id: str, text: str) -> None:
    """Wait for another process's checkpoint: look again at each of its commits."""
    async with asyncio.timeout(20):
        while True:
            path = await bench.core.conversations.path(conversation_id)
            if path.messages and path.messages[-1].content == text:
                return
            await asyncio.sleep(0)
