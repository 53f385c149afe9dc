"""Tool calls in a run. The rules of approvals have `test_approval_rules.py`."""

import pytest

from devflow.agent.turns import Decision
from devflow.domain.run import CallState, RunState
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench

ALLOW = Decision(True)


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
