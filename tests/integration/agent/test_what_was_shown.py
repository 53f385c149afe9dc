"""A yes covers exactly what its decider saw, and never leaves a run half decided (spec 03, rules 2 to 4)."""

import json

import pytest

from devflow.agent.turns import Decision
from devflow.domain.errors import Refused
from devflow.domain.run import CallState, RunState, ToolCall
from devflow.tools.policy import BrokenRule, Rule
from devflow.tools.rules import GROUP, read_rules
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes


def write(path: str = "a.txt", content: str = "new\n") -> Call:
    return Call("write_file", {"path": path, "content": content})


async def one_call(bench: Bench, server: OpenAIServer, call: Call) -> tuple[str, str, ToolCall]:
    """A run that waits for its only call: (conversation id, run id, the call as it is shown)."""
    server.script(Turn(calls=[call]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write.")
    (shown,) = await bench.calls(conversation)
    assert run.state is RunState.AWAITING_APPROVAL
    return conversation.id, run.id, shown


async def test_a_yes_to_arguments_that_another_process_has_edited_meanwhile_is_refused(
    bench: Bench, processes: Processes, server: OpenAIServer
) -> None:
    _, run_id, shown = await one_call(bench, server, write())
    other = await processes.start()
    edited = json.dumps({"path": "a.txt", "content": "edited elsewhere\n"})
    await other.core.turns.decide(shown.id, Decision(True, arguments=edited, shown=shown.shown_hash))
    with pytest.raises(Refused, match="changed since it was shown"):
        await bench.core.turns.decide(shown.id, Decision(True, shown=shown.shown_hash))
    assert (await bench.core.turns.wait(run_id)).state is RunState.AWAITING_APPROVAL
    assert list(bench.workspace.iterdir()) == []


async def test_an_edit_of_arguments_that_another_process_has_edited_meanwhile_is_refused(
    bench: Bench, processes: Processes, server: OpenAIServer
) -> None:
    conversation_id, _, shown = await one_call(bench, server, write())
    other = await processes.start()
    theirs, ours = (json.dumps({"path": "a.txt", "content": text}) for text in ("theirs\n", "ours\n"))
    await other.core.turns.decide(shown.id, Decision(True, arguments=theirs, shown=shown.shown_hash))
    with pytest.raises(Refused):
        await bench.core.turns.decide(shown.id, Decision(True, arguments=ours, shown=shown.shown_hash))
    (now,) = await bench.calls(await bench.core.conversations.get(conversation_id))
    assert now.arguments == theirs


async def test_the_second_of_two_clicks_never_covers_a_diff_that_nobody_has_seen(
    bench: Bench, server: OpenAIServer
) -> None:
    """The first click finds the file changed and shows a new diff; the second belongs to the old one."""
    target = bench.workspace / "a.txt"
    target.write_text("old\n")
    _, run_id, shown = await one_call(bench, server, write())
    target.write_text("changed by the user\n")
    click = Decision(True, shown=shown.shown_hash)
    assert await bench.core.turns.decide(shown.id, click)
    assert (await bench.core.turns.wait(run_id)).state is RunState.AWAITING_APPROVAL
    with pytest.raises(Refused):
        await bench.core.turns.decide(shown.id, click)
    assert target.read_text() == "changed by the user\n"


async def test_a_no_holds_whatever_has_become_of_the_call(
    bench: Bench, processes: Processes, server: OpenAIServer
) -> None:
    _, run_id, shown = await one_call(bench, server, write())
    edited = json.dumps({"path": "b.txt", "content": "edited\n"})
    await bench.core.turns.decide(shown.id, Decision(True, arguments=edited))
    assert await bench.core.turns.decide(shown.id, Decision(False, shown=shown.shown_hash))
    assert (await bench.core.turns.wait(run_id)).state is RunState.COMPLETED
    assert list(bench.workspace.iterdir()) == []


async def test_a_wider_yes_whose_rule_cannot_be_made_decides_nothing(bench: Bench, server: OpenAIServer) -> None:
    """Without its folder the conversation has no such tool: a rule for it would name nothing."""
    conversation_id, _, shown = await one_call(bench, server, write())
    await bench.core.conversations.set_project(conversation_id, None)
    with pytest.raises(Refused, match="not available any more"):
        await bench.core.turns.decide(shown.id, Decision(True, scope="always"))
    (now,) = await bench.calls(await bench.core.conversations.get(conversation_id))
    assert now.state is CallState.AWAITING
    assert await read_rules(bench.core.settings) == ()


async def test_a_wider_yes_is_kept_with_its_decision_though_the_stored_rules_cannot_be_read(
    bench: Bench, server: OpenAIServer
) -> None:
    _, run_id, shown = await one_call(bench, server, write())
    await bench.core.settings.save(GROUP, {"rules": 5, "of a newer version": True})
    assert await bench.core.turns.decide(shown.id, Decision(True, scope="always", shown=shown.shown_hash))
    assert (await bench.core.turns.wait(run_id)).state is RunState.COMPLETED
    broken, rule = await read_rules(bench.core.settings)
    assert isinstance(broken, BrokenRule)
    assert isinstance(rule, Rule)
    assert (rule.tool, rule.pattern) == ("write_file", "a.txt")
    assert (await bench.core.settings.get(GROUP))["of a newer version"] is True


@pytest.mark.parametrize(
    "rules", ["x", 5, [[]], [{"effect": [], "tool": "t", "workspace": "w", "pattern": "p"}], {"a": 1}]
)
async def test_rules_edited_by_hand_into_nonsense_never_allow_and_the_call_asks(
    bench: Bench, server: OpenAIServer, rules: object
) -> None:
    await bench.core.settings.save(GROUP, {"rules": rules})
    _, _, shown = await one_call(bench, server, write())
    assert shown.state is CallState.AWAITING
