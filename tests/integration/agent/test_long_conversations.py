"""Long conversations: what is sent fits, what was left out is known, and a server that says "too long" is answered."""

import json
from typing import Any

import pytest

from devflow.domain.run import RunState
from devflow.domain.tokens import estimate_tokens
from devflow.models.calibration import GROUP, Calibration
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench

QUESTION = "What is the name of the harbour of our project?"
LONG = "The harbour of our project has a lighthouse, and the lighthouse has a keeper. " * 40


def overflow(window: int | None = None, sent: int | None = None) -> Turn:
    words = "The context length was exceeded."
    if window is not None:
        words = f"This model's maximum context length is {window} tokens."
    if sent is not None:
        words += f" However, your messages resulted in {sent} tokens."
    return Turn(status=400, error=words)


async def talk(bench: Bench, server: OpenAIServer, turns: int) -> str:
    conversation = await bench.conversation()
    for number in range(turns):
        server.script(Turn(f"Answer {number}. {LONG}", usage=None))
        await bench.ask(conversation, f"Question {number}? What is the name of the harbour? {LONG}")
    return conversation.id


async def test_a_long_conversation_is_sent_without_its_oldest_turns_and_the_run_says_how_many(
    bench: Bench, server: OpenAIServer
) -> None:
    server.context_window = 8_192
    entry = await bench.publish("The name of the harbour", "The harbour of our project is called Tangerine Bay.")
    id = await talk(bench, server, 6)
    runs = await bench.core.conversations.runs(id)
    measures = [run.measure for run in runs if run.measure is not None]
    assert [measure.trimmed for measure in measures] == sorted(measure.trimmed for measure in measures)
    assert measures[-1].trimmed > 0
    for request, measure in zip(server.kept("chat"), measures, strict=True):
        assert measure.system + measure.knowledge + measure.pages + measure.history <= 8_192 - 2_048
        assert entry.content in request.system
    newest = server.kept("chat")[-1]
    assert newest.last_user.startswith("Question 5?")
    assert len(newest.messages) - 1 == 11 - measures[-1].trimmed
    assert "Question 0?" not in json.dumps(newest.body)


async def test_a_message_that_is_too_long_is_refused_before_it_is_sent_and_the_next_one_is_answered(
    bench: Bench, server: OpenAIServer
) -> None:
    server.context_window = 4_096
    conversation = await bench.conversation()
    run = await bench.ask(conversation, LONG * 8)
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert run.problem.code == "too_long"
    assert run.problem.hint.startswith("Shorten it")
    assert server.kept("chat") == []
    server.script("It is called Tangerine Bay.")
    assert (await bench.ask(conversation, "What is its name?")).state is RunState.COMPLETED
    (request,) = server.kept("chat")
    assert request.last_user == "What is its name?"


async def test_an_output_that_is_too_long_is_cut_in_the_middle_and_the_model_is_told(
    bench: Bench, server: OpenAIServer
) -> None:
    server.context_window = 8_192
    (bench.workspace / "log.txt").write_text("START\n" + "another line of the log\n" * 2_000 + "END\n")
    conversation = await bench.conversation(project=True)
    server.script(Turn(calls=[Call("read_file", {"path": "log.txt"})]), "It is long.")
    run = await bench.ask(conversation, "What is in log.txt?")
    assert run.state is RunState.COMPLETED
    (result,) = server.kept("chat")[1].tool_results
    assert "A part was left out here" in result
    assert "START" in result
    assert result.count("<<<") == 2
    assert run.measure is not None
    assert run.measure.shortened == 1


async def test_a_run_of_many_steps_never_outgrows_the_window_and_every_call_has_its_result(
    bench: Bench, server: OpenAIServer
) -> None:
    server.context_window = 8_192
    (bench.workspace / "log.txt").write_text("another line of the log\n" * 300)
    entry = await bench.publish("The name of the harbour", "The harbour of our project is called Tangerine Bay.")
    conversation = await bench.conversation(project=True)
    steps = 12
    server.script(*(Turn(calls=[Call("read_file", {"path": "log.txt", "start_line": n + 1})]) for n in range(steps)))
    server.script("It is called Tangerine Bay.")
    run = await bench.ask(conversation, QUESTION)
    assert run.state is RunState.COMPLETED
    requests = server.kept("chat")
    assert len(requests) == steps + 1
    for request in requests:
        assert size_of(request.body) <= 8_192 - 2_048
        assert request.last_user == QUESTION
        assert entry.content in request.system
        asked = [call["id"] for message in request.messages for call in message.get("tool_calls", ())]
        assert [message["tool_call_id"] for message in request.messages if message["role"] == "tool"] == asked
        newest = [result for result in request.tool_results[-1:] if "another line" not in result]
        assert newest == [], "the newest output is there"
    assert run.measure is not None
    assert run.measure.shortened + run.measure.trimmed > 0


def size_of(body: dict[str, Any]) -> int:
    """Estimated tokens of the texts in a body as it was sent."""
    texts = [message.get("content") or "" for message in body["messages"]]
    calls = [call["function"]["arguments"] for message in body["messages"] for call in message.get("tool_calls", ())]
    tools = [json.dumps(tool["function"], ensure_ascii=False) for tool in body.get("tools", ())]
    return sum(estimate_tokens(text) for text in (*texts, *calls, *tools))


async def test_a_server_that_names_its_window_is_asked_once_more_within_it(bench: Bench, server: OpenAIServer) -> None:
    id = await talk(bench, server, 4)
    server.script(overflow(4_096), "In short: yes.")
    conversation = await bench.core.conversations.get(id)
    run = await bench.ask(conversation, "In short?")
    assert run.state is RunState.COMPLETED
    refused, answered = server.kept("chat")[-2:]
    assert len(answered.messages) < len(refused.messages)
    assert answered.last_user == "In short?"
    assert run.measure is not None
    assert (run.measure.window, run.measure.trimmed > 0) == (4_096, True)
    # and it is remembered: the next request is not refused first
    server.script("Yes.")
    await bench.ask(conversation, "Sure?")
    assert len(server.kept("chat")[-1].messages) <= len(answered.messages) + 2


async def test_a_server_that_counts_more_than_estimated_is_estimated_higher_from_then_on(
    bench: Bench, server: OpenAIServer
) -> None:
    server.context_window = 8_192
    id = await talk(bench, server, 4)
    server.script(overflow(8_192, 9_500), "In short: yes.")
    run = await bench.ask(await bench.core.conversations.get(id), "In short?")
    assert run.state is RunState.COMPLETED
    calibration = Calibration(bench.core.settings)
    assert await calibration.ratio(run.choice) > 1.3
    assert list(await bench.core.settings.get(GROUP)) == [f"{run.choice.provider_id}/scripted"]


async def test_a_server_that_names_no_number_gets_a_shorter_request_once(bench: Bench, server: OpenAIServer) -> None:
    id = await talk(bench, server, 4)
    conversation = await bench.core.conversations.get(id)
    server.script(overflow(), "In short: yes.")
    assert (await bench.ask(conversation, "In short?")).state is RunState.COMPLETED
    server.script(overflow(), overflow())
    run = await bench.ask(conversation, "Really?")
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert run.problem.code == "context_overflow"
    assert run.problem.hint
    assert [request.last_user for request in server.kept("chat")[-4:]] == ["In short?"] * 2 + ["Really?"] * 2


async def test_what_cannot_be_made_shorter_is_not_sent_again(bench: Bench, server: OpenAIServer) -> None:
    server.script(overflow(1_000))
    run = await bench.ask(await bench.conversation(), LONG * 3)
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert "maximum context length is 1000 tokens" in str(run.problem.params)
    assert len(server.kept("chat")) == 1


async def test_what_the_server_counts_is_learnt_from_every_answer(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn("Yes.", usage=(2_400, 5)))
    run = await bench.ask(await bench.conversation(), f"Is that so? {LONG}")
    ratio = await Calibration(bench.core.settings).ratio(run.choice)
    assert ratio != 1.0
    assert 0.5 <= ratio <= 2.0


@pytest.mark.parametrize("reply", ["cut", "error"])
async def test_an_overflow_after_the_first_token_is_never_replayed(
    bench: Bench, server: OpenAIServer, reply: str
) -> None:
    words = "context length exceeded"
    server.script(Turn(["The first words ", "and more"], break_with=words if reply == "error" else "", cut=True))
    run = await bench.ask(await bench.conversation(), "Why?")
    assert run.state is RunState.FAILED
    assert len(server.kept("chat")) == 1
