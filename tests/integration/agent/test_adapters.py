"""The whole agent over each adapter: a tool call, its result, the answer; and what a model wants back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devflow.agent.turns import Decision
from devflow.domain.conversation import MessageState, ModelChoice
from devflow.domain.provider import ProviderConfig, ProviderDraft
from devflow.domain.run import CallState, RunState
from tests.fakes.anthropic_server import SIGNATURE, AnthropicRequest, AnthropicServer
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes

SERVERS = {"openai_compat": OpenAIServer, "anthropic": AnthropicServer, "ollama": OllamaServer}
READ = Turn("I look.", calls=[Call("read_file", {"path": "a.txt"})])


async def added(bench: Bench, server: OpenAIServer, adapter: str) -> ProviderConfig:
    """The server as a provider of that adapter."""
    return await bench.core.models.add(ProviderDraft(adapter, server.base_url, "custom", adapter, ("scripted",)))


@pytest.fixture(params=SERVERS)
async def spoken(request: pytest.FixtureRequest, offline: Bench, workspace: Path) -> AsyncIterator[Bench]:
    """A core whose main model is a scripted server of each protocol."""
    (workspace / "a.txt").write_text("The harbour is Tangerine Bay.\n", encoding="utf-8")
    with SERVERS[request.param](models=("scripted",)) as server:
        offline.server = server
        await added(offline, server, request.param)
        yield offline


async def test_a_file_is_read_and_the_answer_comes_from_it(spoken: Bench) -> None:
    spoken.server.script(READ, "It is Tangerine Bay.")
    conversation = await spoken.conversation(project=True)
    run = await spoken.ask(conversation, "Which harbour?")
    assert run.state is RunState.COMPLETED
    (call,) = await spoken.calls(conversation)
    assert (call.tool, call.state) == ("read_file", CallState.DONE)
    answer = await spoken.answer(conversation)
    assert (answer.content, answer.state) == ("It is Tangerine Bay.", MessageState.COMPLETE)
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (100, 10)
    first, second = spoken.server.requests
    assert "read_file" in first.tools
    assert first.system
    assert second.system == first.system
    (result,) = second.tool_results
    assert "Tangerine Bay" in result


async def test_the_next_question_carries_the_tool_call_and_what_was_said(spoken: Bench) -> None:
    spoken.server.script(READ, "It is Tangerine Bay.", "Yes.")
    conversation = await spoken.conversation(project=True)
    await spoken.ask(conversation, "Which harbour?")
    run = await spoken.ask(conversation, "Are you sure?")
    assert run.state is RunState.COMPLETED
    third = spoken.server.requests[2]
    assert third.last_user == "Are you sure?"
    assert len(third.tool_results) == 1


async def test_a_stream_that_breaks_keeps_its_text_and_can_be_continued(spoken: Bench) -> None:
    spoken.server.script(Turn("Half an answer", cut=True), "and its end.")
    conversation = await spoken.conversation()
    run = await spoken.ask(conversation, "Why?")
    assert run.state is RunState.FAILED
    assert (await spoken.answer(conversation)).state is MessageState.PARTIAL
    again = await spoken.core.turns.continue_run(run.id)
    assert (await spoken.core.turns.wait(again.id)).state is RunState.COMPLETED


async def test_an_error_in_the_middle_is_told_in_the_servers_words(spoken: Bench) -> None:
    spoken.server.script(Turn("Half", break_with="the graphics card is on fire"))
    conversation = await spoken.conversation()
    run = await spoken.ask(conversation, "Why?")
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert run.problem.params["words"] == "the graphics card is on fire"


# what a model wants back -------------------------------------------------------------------------------------------


@pytest.fixture
def claude() -> Iterator[AnthropicServer]:
    with AnthropicServer(models=("scripted", "other")) as server:
        yield server


THINKING = {"type": "thinking", "thinking": "Let me look.", "signature": SIGNATURE}


def thoughts(request: AnthropicRequest) -> list[dict[str, str]]:
    return [block for block in request.blocks("assistant") if block["type"] == "thinking"]


async def test_signed_thinking_goes_back_with_the_tools_result(
    offline: Bench, claude: AnthropicServer, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("x", encoding="utf-8")
    await added(offline, claude, "anthropic")
    claude.script(Turn("I look.", calls=READ.calls, reasoning="Let me look."), "Done.")
    conversation = await offline.conversation(project=True)
    assert (await offline.ask(conversation, "Look.")).state is RunState.COMPLETED
    (message,) = [m for m in claude.requests[1].messages if m["role"] == "assistant"]
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["content"][0] == THINKING


async def test_signed_thinking_survives_a_restart(
    processes: Processes, claude: AnthropicServer, home: Path, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("x", encoding="utf-8")
    first = await processes.start()
    await added(first, claude, "anthropic")
    claude.script(
        Turn("I write.", calls=[Call("write_file", {"path": "b.txt", "content": "y"})], reasoning="Let me look.")
    )
    conversation = await first.conversation(project=True)
    run = await first.ask(conversation, "Write.")
    assert run.state is RunState.AWAITING_APPROVAL
    await processes.stop(first)

    second = await processes.start()
    claude.script("Denied, then.")
    (call,) = await second.calls(conversation)
    await second.core.turns.decide(call.id, Decision(allow=False, reason="No."))
    assert (await second.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert thoughts(claude.requests[1]) == [THINKING]


async def test_another_model_or_provider_never_gets_signed_thinking(
    offline: Bench, claude: AnthropicServer, server: OpenAIServer
) -> None:
    config = await added(offline, claude, "anthropic")
    elsewhere = await added(offline, server, "openai_compat")
    claude.script(Turn("One.", reasoning="Let me look."), "Two.", "Four.")
    server.script("Three.")
    conversation = await offline.conversation()
    await offline.ask(conversation, "1?")
    for choice in (
        ModelChoice(config.id, "other"),
        ModelChoice(elsewhere.id, "scripted"),
        ModelChoice(config.id, "scripted"),
    ):
        await offline.core.conversations.set_model(conversation.id, choice)
        assert (await offline.ask(conversation, "And?")).state is RunState.COMPLETED
    asked_other, asked_again = claude.requests[1:]
    assert thoughts(asked_other) == []
    assert "signature" not in str(server.requests[0].body)
    assert thoughts(asked_again) == [THINKING]


async def test_a_plain_answer_stores_nothing_to_send_back(offline: Bench, claude: AnthropicServer, home: Path) -> None:
    await added(offline, claude, "anthropic")
    claude.script("One.")
    await offline.ask(await offline.conversation(), "1?")
    with closing(sqlite3.connect(home / "devflow.db")) as connection:
        assert connection.execute("SELECT count(*) FROM messages WHERE replay IS NOT NULL").fetchone() == (0,)
