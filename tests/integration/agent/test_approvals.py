"""Tool calls and the human's word on them (spec 03, Runs and approvals: each rule a test)."""

import asyncio
import json

import pytest

from devflow.agent.turns import Decision
from devflow.domain.events import CallsChanged
from devflow.domain.run import CallState, RunState, arguments_hash
from devflow.tools.refusal import ToolRefused
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes

ALLOW, DENY = Decision(True), Decision(False)


def write(path: str = "a.txt", content: str = "new\n") -> Call:
    return Call("write_file", {"path": path, "content": content})


async def test_a_call_that_needs_no_approval_runs_and_its_result_reaches_the_model(
    bench: Bench, server: OpenAIServer
) -> None:
    (bench.workspace / "a.txt").write_text("the text of a\n")
    server.script(Turn("Let me look.", calls=[Call("read_file", {"path": "a.txt"})]), "It says the text of a.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "What does a.txt say?")
    assert run.state is RunState.COMPLETED
    (call,) = await bench.calls(conversation)
    assert (call.state, call.decided_by) == (CallState.DONE, None)
    assert call.duration_ms is not None
    assert "the text of a" in server.requests[1].tool_results[0]


async def test_a_write_pauses_the_run_on_a_card_with_its_diff_and_nothing_happens_before_the_yes(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn(calls=[write()]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    assert run.state is RunState.AWAITING_APPROVAL
    assert (await bench.core.conversations.get(conversation.id)).awaiting
    (call,) = await bench.calls(conversation)
    assert call.state is CallState.AWAITING
    assert call.preview is not None
    assert "+new" in call.preview["diff"]
    assert not (bench.workspace / "a.txt").exists()
    assert len(server.requests) == 1
    assert await bench.core.turns.decide(call.id, ALLOW)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert (bench.workspace / "a.txt").read_text() == "new\n"
    assert not (await bench.core.conversations.get(conversation.id)).awaiting


async def test_calls_are_on_disk_before_they_are_on_the_screen(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write()]))
    conversation = await bench.conversation(project=True)
    stored: list[int] = []

    def look(event: object) -> None:
        if isinstance(event, CallsChanged):
            stored.append(len(bench.core.db.run_read(lambda session: calls_of(session, event.message_id))))

    bench.core.hub.subscribe(look)
    await bench.ask(conversation, "Write a.txt.")
    assert stored == [1]


def calls_of(session, message_id):  # type: ignore[no-untyped-def]
    from devflow.store import runs

    return runs.calls_of(session, [message_id])[message_id]


async def test_of_two_pending_calls_no_model_is_called_until_both_are_decided(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn(calls=[write("a.txt"), write("b.txt")]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write both.")
    first, second = await bench.calls(conversation)
    await bench.core.turns.decide(second.id, ALLOW)
    assert (await bench.core.turns.wait(run.id)).state is RunState.AWAITING_APPROVAL
    assert len(server.requests) == 1
    assert (bench.workspace / "b.txt").exists()
    await bench.core.turns.decide(first.id, DENY)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert not (bench.workspace / "a.txt").exists()
    denied, done = server.requests[1].tool_results
    assert "denied" in denied
    assert "denied" not in done


async def test_a_call_that_needs_no_approval_runs_before_the_pause_for_another(
    bench: Bench, server: OpenAIServer
) -> None:
    (bench.workspace / "b.txt").write_text("b")
    server.script(Turn(calls=[write("a.txt"), Call("read_file", {"path": "b.txt"})]))
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Both.")
    assert run.state is RunState.AWAITING_APPROVAL
    assert [call.state for call in await bench.calls(conversation)] == [CallState.AWAITING, CallState.DONE]
    assert len(server.requests) == 1


async def test_a_denial_carries_the_users_words_to_the_model(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write()]), "Understood.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    await bench.core.turns.decide(call.id, Decision(False, reason="Put it into docs/ instead."))
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert "Put it into docs/ instead." in server.requests[1].tool_results[0]
    assert not (bench.workspace / "a.txt").exists()


async def test_of_two_clicks_the_first_counts_and_the_call_runs_once(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write()]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    counted = await asyncio.gather(*(bench.core.turns.decide(call.id, ALLOW) for _ in range(3)))
    assert sorted(counted) == [False, False, True]
    assert not await bench.core.turns.decide(call.id, DENY)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert len(server.requests) == 2
    assert (await bench.calls(conversation))[0].state is CallState.DONE


async def test_two_processes_that_decide_at_once_make_one_execution(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    server.script(Turn(calls=[write()]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    other = await processes.start(background=True)
    counted = await asyncio.gather(bench.core.turns.decide(call.id, ALLOW), other.core.turns.decide(call.id, ALLOW))
    assert sorted(counted) == [False, True]
    await asyncio.gather(bench.core.turns.wait(run.id), other.core.turns.wait(run.id))
    assert await bench.states(conversation) == [RunState.COMPLETED]
    assert len(server.requests) == 2


async def test_two_processes_that_decide_one_call_each_finish_the_run_together(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    server.script(Turn(calls=[write("a.txt"), write("b.txt")]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write both.")
    first, second = await bench.calls(conversation)
    other = await processes.start(background=True)
    await asyncio.gather(bench.core.turns.decide(first.id, ALLOW), other.core.turns.decide(second.id, ALLOW))
    await asyncio.gather(bench.core.turns.wait(run.id), other.core.turns.wait(run.id))
    assert await bench.states(conversation) == [RunState.COMPLETED]
    assert len(server.requests) == 2
    assert {file.name for file in bench.workspace.iterdir()} == {"a.txt", "b.txt"}


async def test_a_file_that_changed_after_its_diff_was_shown_voids_the_approval_and_shows_a_new_diff(
    bench: Bench, server: OpenAIServer
) -> None:
    target = bench.workspace / "a.txt"
    target.write_text("old\n")
    server.script(Turn(calls=[write()]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    target.write_text("changed by the user\n")
    await bench.core.turns.decide(call.id, ALLOW)
    assert (await bench.core.turns.wait(run.id)).state is RunState.AWAITING_APPROVAL
    assert target.read_text() == "changed by the user\n"
    (again,) = await bench.calls(conversation)
    assert (again.state, again.decided_by) == (CallState.AWAITING, None)
    assert again.preview is not None
    assert "-changed by the user" in again.preview["diff"]
    assert again.error
    await bench.core.turns.decide(call.id, ALLOW)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert target.read_text() == "new\n"


async def test_edited_arguments_are_shown_again_before_they_run_and_the_model_is_told(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn(calls=[write()]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    edited = json.dumps({"path": "a.txt", "content": "edited\n"})
    assert not await bench.core.turns.decide(call.id, Decision(True, arguments=edited))
    (shown,) = await bench.calls(conversation)
    assert (shown.state, shown.edited) == (CallState.AWAITING, True)
    assert shown.preview is not None
    assert "+edited" in shown.preview["diff"]
    assert shown.arguments_hash == arguments_hash("write_file", edited)
    assert await bench.core.turns.decide(call.id, Decision(True, arguments=edited))
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert (bench.workspace / "a.txt").read_text() == "edited\n"
    assert "edited" in server.requests[1].tool_results[0]


@pytest.mark.parametrize("arguments", ["not json", "[]", '{"path": "a.txt"}', '{"path": "../x", "content": "y"}'])
async def test_edited_arguments_that_cannot_work_are_refused_and_the_call_waits_as_it_was(
    bench: Bench, server: OpenAIServer, arguments: str
) -> None:
    server.script(Turn(calls=[write()]))
    conversation = await bench.conversation(project=True)
    await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    with pytest.raises(ToolRefused):
        await bench.core.turns.decide(call.id, Decision(True, arguments=arguments))
    assert await bench.calls(conversation) == [call]


async def test_what_runs_is_what_was_approved(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write()]))
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    await bench.core.db.write(lambda unit: tamper(unit, call.id))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("devflow.agent.turns.log.exception", lambda *_: None)
        await bench.core.turns.decide(call.id, ALLOW)
        assert (await bench.core.turns.wait(run.id)).state is RunState.FAILED
    assert list(bench.workspace.iterdir()) == []


def tamper(unit, call_id):  # type: ignore[no-untyped-def]
    """Change the arguments behind the approval's back."""
    from devflow.store.schema import ToolCallRow

    unit.session.get(ToolCallRow, call_id).arguments = '{"path": "other.txt", "content": "x"}'


@pytest.mark.parametrize(
    "call, told",
    [
        (Call("no_such_tool", {}), "no tool named"),
        (Call("read_file", {"path": 5}), "must be text"),
        (Call("read_file", {"path": "../../etc/passwd"}), ""),
        (Call("read_file", {"path": "missing.txt"}), ""),
    ],
)
async def test_a_call_that_cannot_work_is_answered_with_a_sentence_and_the_run_goes_on(
    bench: Bench, server: OpenAIServer, call: Call, told: str
) -> None:
    server.script(Turn(calls=[call]), "I see.")
    conversation = await bench.conversation(project=True)
    assert (await bench.ask(conversation, "Try.")).state is RunState.COMPLETED
    (row,) = await bench.calls(conversation)
    assert row.state is CallState.FAILED
    assert row.error
    assert told in server.requests[1].tool_results[0]


async def test_without_a_project_folder_there_are_no_file_tools(bench: Bench, server: OpenAIServer) -> None:
    server.script("Yes.", "Yes.")
    await bench.ask(await bench.conversation(), "Is it?")
    await bench.ask(await bench.conversation(project=True), "Is it?")
    assert not {"read_file", "write_file", "list_dir"} & set(server.requests[0].tools)
    assert {"read_file", "write_file", "list_dir", "knowledge_search"} <= set(server.requests[1].tools)


async def test_stopping_a_paused_run_settles_every_open_call(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write("a.txt"), write("b.txt")]), "All right.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write both.")
    assert (await bench.core.turns.cancel(run.id)).state is RunState.CANCELLED
    assert {call.state for call in await bench.calls(conversation)} == {CallState.CANCELLED}
    first = (await bench.calls(conversation))[0]
    assert not await bench.core.turns.decide(first.id, ALLOW)
    await bench.ask(conversation, "Leave it.")
    assert len(server.requests[1].tool_results) == 2
    assert list(bench.workspace.iterdir()) == []


async def test_a_message_typed_while_a_call_waits_is_queued_until_the_run_ends(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn(calls=[write()]), "Written.", "Next.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    await bench.core.turns.send(conversation.id, "And then?")
    assert len(server.requests) == 1
    (call,) = await bench.calls(conversation)
    await bench.core.turns.decide(call.id, ALLOW)
    await bench.core.turns.wait(run.id)
    second = (await bench.core.conversations.runs(conversation.id))[1]
    assert (await bench.core.turns.wait(second.id)).state is RunState.COMPLETED
    assert server.requests[2].last_user == "And then?"


async def test_a_yes_for_the_conversation_covers_the_same_call_there_and_nowhere_else(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn(calls=[write()]), "Written.", Turn(calls=[write(content="again\n")]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    await bench.core.turns.decide(call.id, Decision(True, scope="conversation"))
    await bench.core.turns.wait(run.id)
    assert (await bench.ask(conversation, "Again.")).state is RunState.COMPLETED
    assert (bench.workspace / "a.txt").read_text() == "again\n"
    server.script(Turn(calls=[write()]))
    assert (await bench.ask(await bench.conversation(project=True), "Write.")).state is RunState.AWAITING_APPROVAL


async def test_the_run_stops_with_a_clear_problem_when_the_model_repeats_itself_and_continue_goes_on(
    bench: Bench, server: OpenAIServer
) -> None:
    again = Turn(calls=[Call("list_dir", {"path": "."})])
    server.script(again, again, again, "I give up.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "List.")
    assert run.problem is not None
    assert (run.state, run.problem.code) == (RunState.FAILED, "repeated_calls")
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED


async def test_after_50_steps_the_run_stops_with_a_clear_problem_and_continue_goes_on(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(*(Turn(calls=[Call("knowledge_search", {"query": f"word{i}"})]) for i in range(50)), "At last.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Search.")
    assert run.problem is not None
    assert (run.state, run.problem.code, run.steps) == (RunState.FAILED, "step_limit", 50)
    assert len(server.requests) == 50
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
