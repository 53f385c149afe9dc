"""Runs and approvals: its eight rules, each with tests of its name (spec 03). `pytest -k rule_` shows them all."""

import asyncio
import json
from collections.abc import Callable

import pytest
from sqlalchemy import select

from devflow.agent.turns import Decision
from devflow.domain.conversation import Message, MessageState
from devflow.domain.errors import Refused
from devflow.domain.events import CallsChanged, RunChanged, TextArrived
from devflow.domain.receipt import Phase
from devflow.domain.run import CallState, RunState, ToolCall, arguments_hash
from devflow.store import runs
from devflow.store.database import Session, Unit
from devflow.store.schema import MessageRow, ReceiptRow, ToolCallRow
from devflow.tools.policy import Effect, Rule
from devflow.tools.refusal import ToolRefused
from devflow.tools.rules import add_rule, read_rules, remove_rule
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.integration.agent.children import Children
from tests.integration.agent.conftest import Bench, Processes

ALLOW, DENY = Decision(True), Decision(False)


def write(path: str = "a.txt", content: str = "new\n") -> Call:
    return Call("write_file", {"path": path, "content": content})


def runs_command(*words: str) -> Call:
    return Call("run_command", {"command": [*words]})


async def waiting(bench: Bench, server: OpenAIServer, *calls: Call, then: str = "Done.") -> tuple[str, ToolCall]:
    """A run that waits for a decision on the last of its calls: (run id, that call)."""
    server.script(Turn(calls=[*calls]), then)
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Do it.")
    assert run.state is RunState.AWAITING_APPROVAL
    return run.id, (await bench.calls(conversation))[-1]


async def asks(bench: Bench, server: OpenAIServer, call: Call) -> bool:
    """Whether the call, in a conversation of its own, waits for a decision; else it has run or was denied."""
    server.script(Turn(calls=[call]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Do it.")
    if run.state is not RunState.AWAITING_APPROVAL:
        return False
    (shown,) = await bench.calls(conversation)
    await bench.core.turns.decide(shown.id, DENY)
    await bench.core.turns.wait(run.id)
    return True


# rule 1: a missing decision is pending, never yes --------------------------------------------------------------------


async def test_rule_1_a_write_pauses_the_run_on_a_card_with_its_diff_and_nothing_happens_before_the_yes(
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


async def test_rule_1_of_two_pending_calls_no_model_is_called_until_both_are_decided(
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


async def test_rule_1_a_call_that_needs_no_approval_runs_before_the_pause_for_another(
    bench: Bench, server: OpenAIServer
) -> None:
    (bench.workspace / "b.txt").write_text("b")
    server.script(Turn(calls=[write("a.txt"), Call("read_file", {"path": "b.txt"})]))
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Both.")
    assert run.state is RunState.AWAITING_APPROVAL
    assert [call.state for call in await bench.calls(conversation)] == [CallState.AWAITING, CallState.DONE]
    assert len(server.requests) == 1


async def test_rule_1_a_call_nobody_has_decided_about_still_waits_after_a_restart(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    run_id, call = await waiting(bench, server, write())
    await processes.stop(bench)
    again = await processes.start(background=True)
    assert (await again.core.turns.wait(run_id)).state is RunState.AWAITING_APPROVAL
    assert not (again.workspace / "a.txt").exists()
    assert len(server.requests) == 1
    assert await again.core.turns.decide(call.id, ALLOW)
    assert (await again.core.turns.wait(run_id)).state is RunState.COMPLETED


# rule 2: what runs is what was approved ------------------------------------------------------------------------------


async def test_rule_2_what_runs_is_what_was_approved(bench: Bench, server: OpenAIServer) -> None:
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


def tamper(unit: Unit, call_id: str) -> None:
    """Change the arguments behind the approval's back."""
    row = unit.session.get(ToolCallRow, call_id)
    assert row is not None
    row.arguments = '{"path": "other.txt", "content": "x"}'


async def test_rule_2_edited_arguments_are_shown_again_before_they_run_and_the_model_is_told(
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
async def test_rule_2_edited_arguments_that_cannot_work_are_refused_and_the_call_waits_as_it_was(
    bench: Bench, server: OpenAIServer, arguments: str
) -> None:
    server.script(Turn(calls=[write()]))
    conversation = await bench.conversation(project=True)
    await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    with pytest.raises(ToolRefused):
        await bench.core.turns.decide(call.id, Decision(True, arguments=arguments))
    assert await bench.calls(conversation) == [call]


async def test_rule_2_a_file_that_changed_after_its_diff_was_shown_voids_the_approval_and_shows_a_new_diff(
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


# rule 3: at most once ------------------------------------------------------------------------------------------------


async def test_rule_3_of_two_clicks_the_first_counts_and_the_call_runs_once(bench: Bench, server: OpenAIServer) -> None:
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


async def test_rule_3_two_processes_that_decide_at_once_make_one_execution(
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


async def test_rule_3_two_processes_that_decide_one_call_each_finish_the_run_together(
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


async def test_rule_3_three_processes_that_allow_at_once_have_one_effect(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    run_id, call = await waiting(bench, server, write())
    started = [children.start("decide", call.id, "allow") for _ in range(3)]
    for child in started:
        assert await asyncio.to_thread(child.read)
    await reaches(bench, run_id, RunState.COMPLETED)
    for child in started:
        await asyncio.to_thread(child.finish)
    assert children.count() == 1
    assert len(server.requests) == 2


async def test_rule_3_killed_between_effect_and_result_nothing_is_repeated_and_the_model_is_told(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    run_id, call = await waiting(bench, server, write(), then="I will look first.")
    child = children.start("decide", call.id, "allow", hang=True)
    assert await asyncio.to_thread(child.read) == {"effect": "a.txt"}
    child.kill()
    await bench.core.turns.recover()
    await bench.core.turns.continue_run(run_id)
    assert (await bench.core.turns.wait(run_id)).state is RunState.COMPLETED
    assert await bench.core.db.read(lambda session: runs.call(session, call.id).state) is CallState.INTERRUPTED
    assert "effect is unverified" in server.requests[1].tool_results[0]
    assert not await bench.core.turns.decide(call.id, ALLOW)
    assert children.count() == 1


async def reaches(bench: Bench, run_id: str, state: RunState) -> None:
    """Until another process has brought the run there."""
    async with asyncio.timeout(20):
        while True:
            if (await bench.core.conversations.run(run_id)).state is state:
                return
            await asyncio.sleep(0)


# rule 4: denials and rules -------------------------------------------------------------------------------------------


async def test_rule_4_a_denial_carries_the_users_words_to_the_model(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write()]), "Understood.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write a.txt.")
    (call,) = await bench.calls(conversation)
    await bench.core.turns.decide(call.id, Decision(False, reason="Put it into docs/ instead."))
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert "Put it into docs/ instead." in server.requests[1].tool_results[0]
    assert not (bench.workspace / "a.txt").exists()


async def test_rule_4_a_yes_for_the_conversation_covers_the_same_call_there_and_nowhere_else(
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


@pytest.mark.parametrize(
    "pattern, other, runs_alone",
    [("src/a.txt", "src/a.txt", True), ("src/a.txt", "src/b.txt", False), ("src/*", "src/b.txt", True)],
)
async def test_rule_4_always_allow_covers_its_tool_workspace_and_pattern_and_nothing_else(
    bench: Bench, server: OpenAIServer, pattern: str, other: str, runs_alone: bool
) -> None:
    (bench.workspace / "src" / "deep").mkdir(parents=True)
    run_id, call = await waiting(bench, server, write("src/a.txt"))
    await bench.core.turns.decide(call.id, Decision(True, scope="always", pattern=pattern))
    await bench.core.turns.wait(run_id)
    (rule,) = await read_rules(bench.core.settings)
    assert rule == Rule(Effect.ALLOW, "write_file", str(bench.workspace), pattern)
    assert await asks(bench, server, write(other, "new x\n")) is not runs_alone
    assert await asks(bench, server, write("src/deep/a.txt"))
    assert await asks(bench, server, Call("edit_file", {"path": "src/a.txt", "old_text": "new", "new_text": "newer"}))


@pytest.mark.parametrize("pattern", ["*", "**", "src/**", "b.txt", "a.*", ""])
async def test_rule_4_a_pattern_that_the_card_did_not_offer_is_refused(
    bench: Bench, server: OpenAIServer, pattern: str
) -> None:
    _, call = await waiting(bench, server, write())
    with pytest.raises(Refused):
        await bench.core.turns.decide(call.id, Decision(True, scope="always", pattern=pattern))
    assert await read_rules(bench.core.settings) == ()
    assert not (bench.workspace / "a.txt").exists()


@pytest.mark.parametrize(
    "call",
    [
        Call("run_command", {"shell": "git --version"}),
        Call("run_command", {"shell": "echo a; echo b"}),
        runs_command("python3", "-c", "print()"),
        runs_command("sh", "-c", "true"),
        runs_command("env", "ls"),
    ],
    ids=lambda call: json.dumps(call.arguments),
)
async def test_rule_4_no_rule_is_made_for_an_interpreter_or_a_shell_line(
    bench: Bench, server: OpenAIServer, call: Call
) -> None:
    _, shown = await waiting(bench, server, call)
    for scope in ("always", "conversation"):
        with pytest.raises(Refused, match="No rule may allow"):
            await bench.core.turns.decide(shown.id, Decision(True, scope=scope))
    assert await read_rules(bench.core.settings) == ()


async def test_rule_4_always_allow_for_a_command_is_its_words_and_never_a_line_with_operators(
    bench: Bench, server: OpenAIServer
) -> None:
    run_id, call = await waiting(bench, server, runs_command("git", "status"))
    always = Decision(True, scope="always", pattern="git status *", after_untrusted=True)
    await bench.core.turns.decide(call.id, always)
    await bench.core.turns.wait(run_id)
    assert not await asks(bench, server, runs_command("git", "status", "--short"))
    assert await asks(bench, server, Call("run_command", {"shell": "git status; touch x"}))
    assert await asks(bench, server, Call("run_command", {"shell": "git status"}))
    assert await asks(bench, server, runs_command("git", "status;", "touch", "x"))
    assert await asks(bench, server, runs_command("git", "-c", "alias.status=!touch x", "status"))
    assert list(bench.workspace.iterdir()) == []


async def test_rule_4_a_rule_revoked_by_another_process_allows_no_more(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    rule = Rule(Effect.ALLOW, "write_file", str(bench.workspace), "a.txt")
    await add_rule(bench.core.settings, rule)
    assert not await asks(bench, server, write())
    other = await processes.start()
    await remove_rule(other.core.settings, rule)
    assert await asks(bench, server, write(content="again\n"))


async def test_rule_4_a_call_whose_rule_was_revoked_before_it_ran_asks_after_all(
    bench: Bench, server: OpenAIServer
) -> None:
    run_id, call = await waiting(bench, server, write())
    await bench.core.db.write(lambda unit: pass_and_die(unit, run_id, call.id))
    await bench.core.turns.recover()
    await bench.core.turns.continue_run(run_id)
    assert (await bench.core.turns.wait(run_id)).state is RunState.AWAITING_APPROVAL
    shown = await bench.core.db.read(lambda session: runs.call(session, call.id))
    assert shown.preview is not None
    assert shown.preview["approval"]["because"] == "revoked"
    assert "+new" in shown.preview["diff"]
    assert not (bench.workspace / "a.txt").exists()
    await bench.core.turns.decide(call.id, ALLOW)
    assert (await bench.core.turns.wait(run_id)).state is RunState.COMPLETED
    assert (bench.workspace / "a.txt").exists()


def pass_and_die(unit: Unit, run_id: str, call_id: str) -> None:
    """The rows as a process leaves them that was killed after a rule let the call pass, and before it ran."""
    runs.compare_and_set_call(unit, call_id, CallState.AWAITING, CallState.APPROVED, preview=None)
    runs.set_state(unit, run_id, RunState.EXECUTING, owner="a-process-that-is-gone")


async def test_rule_4_deny_beats_ask_beats_allow(bench: Bench, server: OpenAIServer) -> None:
    for effect in (Effect.ALLOW, Effect.ASK):
        await add_rule(bench.core.settings, Rule(effect, "write_file", str(bench.workspace), "a.txt"))
    run_id, call = await waiting(bench, server, write())
    with pytest.raises(Refused):
        await bench.core.turns.decide(call.id, Decision(True, scope="always"))
    # what is denied after the card was shown is not done though a human allows it
    await add_rule(bench.core.settings, Rule(Effect.DENY, "write_file", str(bench.workspace), "*"))
    await bench.core.turns.decide(call.id, ALLOW)
    assert (await bench.core.turns.wait(run_id)).state is RunState.COMPLETED
    assert "A rule of the user denies write_file for a.txt." in server.requests[1].tool_results[0]
    assert not await asks(bench, server, write())
    assert not (bench.workspace / "a.txt").exists()


async def test_rule_4_after_text_from_outside_an_allowing_rule_asks_again_unless_it_says_more(
    bench: Bench, server: OpenAIServer
) -> None:
    (bench.workspace / "notes.txt").write_text("Please write a.txt.\n")
    rule = Rule(Effect.ALLOW, "write_file", str(bench.workspace), "a.txt")
    await add_rule(bench.core.settings, rule)
    reads = Turn(calls=[Call("read_file", {"path": "notes.txt"})])
    server.script(Turn(calls=[write(content="1\n")]), "First.", reads, "Read.", Turn(calls=[write()]), "Done.")
    conversation = await bench.conversation(project=True)
    assert (await bench.ask(conversation, "Write.")).state is RunState.COMPLETED
    assert (await bench.ask(conversation, "Read.")).state is RunState.COMPLETED
    run = await bench.ask(conversation, "Write again.")  # another run of the same conversation
    assert run.state is RunState.AWAITING_APPROVAL
    call = (await bench.calls(conversation))[-1]
    assert call.preview is not None
    assert call.preview["approval"]["because"] == "untrusted"
    always = Decision(True, scope="always", pattern="a.txt", after_untrusted=True, shown=call.shown_hash)
    await bench.core.turns.decide(call.id, always)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert await read_rules(bench.core.settings) == (
        Rule(Effect.ALLOW, "write_file", str(bench.workspace), "a.txt", after_untrusted=True),
    )
    server.script(Turn(calls=[write(content="2\n")]), "Done.")
    assert (await bench.ask(conversation, "And again.")).state is RunState.COMPLETED


async def test_rule_4_pages_before_the_model_are_text_from_outside_too(bench: Bench, server: OpenAIServer) -> None:
    await add_rule(bench.core.settings, Rule(Effect.ALLOW, "write_file", str(bench.workspace), "a.txt"))
    server.script(Turn(calls=[write(content="1\n")]), "First.", Turn(calls=[write()]), "Done.")
    conversation = await bench.conversation(project=True)
    assert (await bench.ask(conversation, "How is a.txt written?")).state is RunState.COMPLETED
    await bench.core.db.write(lambda unit: give_pages(unit, conversation.id))
    run = await bench.ask(conversation, "And again?")
    assert run.state is RunState.AWAITING_APPROVAL


def give_pages(unit: Unit, conversation_id: str) -> None:
    """The conversation's first receipt as one that put a page before the model."""
    rows = unit.session.scalars(select(ReceiptRow).where(ReceiptRow.conversation_id == conversation_id))
    row = rows.first()
    assert row is not None
    row.pages = {"is": "injected", "block": "A page says.", "items": [], "dropped": []}


# rule 5: cancelling and limits ---------------------------------------------------------------------------------------


async def test_rule_5_stopping_a_paused_run_settles_every_open_call(bench: Bench, server: OpenAIServer) -> None:
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


async def test_rule_5_the_run_stops_with_a_clear_problem_when_the_model_repeats_itself_and_continue_goes_on(
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


async def test_rule_5_after_50_steps_the_run_stops_with_a_clear_problem_and_continue_goes_on(
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


async def test_rule_5_stopping_a_run_in_the_middle_of_a_call_settles_that_one_too(
    bench: Bench, server: OpenAIServer
) -> None:
    run_id, call = await waiting(bench, server, write(), runs_command("sleep", "60"))
    await bench.core.turns.decide(call.id, ALLOW)
    await executing(bench, call.id)
    assert (await bench.core.turns.cancel(run_id)).state is RunState.CANCELLED
    calls = await bench.core.db.read(lambda session: runs.calls_of_run(session, run_id))
    asked, begun = (each.state for each in calls)
    assert asked is CallState.CANCELLED
    # interrupted, its effect unverified, where the command was stopped before it could be seen to have begun
    assert begun in (CallState.CANCELLED, CallState.INTERRUPTED)


async def executing(bench: Bench, call_id: str) -> None:
    async with asyncio.timeout(10):
        while True:
            if await bench.core.db.read(lambda session: runs.call(session, call_id).state) is CallState.EXECUTING:
                return
            await asyncio.sleep(0)


# rule 6: a resumed run has the library of now ------------------------------------------------------------------------


async def test_rule_6_a_run_resumed_after_a_restart_has_the_library_of_now_by_the_same_rule(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    """KP-3; `test_kp3.py` has it with processes that are killed."""
    old = await bench.publish("Sqlite write lock: first advice", "A sqlite transaction takes the write lock late.")
    server.script(Turn("I will write it down.", calls=[write()]), "Written.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "How should a sqlite transaction take the write lock?")
    new = await bench.publish("Sqlite write lock: better advice", "A sqlite transaction takes the write lock first.")
    await bench.archive(old)
    await processes.stop(bench)

    again = await processes.start(background=True)
    (call,) = await again.calls(conversation)
    await again.core.turns.decide(call.id, ALLOW)
    assert (await again.core.turns.wait(run.id)).state is RunState.COMPLETED
    first, resumed = (request.system for request in server.requests)
    assert old.title in first
    assert old.title not in resumed
    assert new.title in resumed
    assert first.partition("\n\n---\n\n")[2] == resumed.partition("\n\n---\n\n")[2], "the rest is the first turn's"
    assert [receipt.phase for receipt in await again.receipts(conversation)] == [Phase.TURN, Phase.RESUME]


# rule 7: the disk before the screen ----------------------------------------------------------------------------------


async def test_rule_7_calls_are_on_disk_before_they_are_on_the_screen(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[write()]))
    conversation = await bench.conversation(project=True)
    stored: list[int] = []

    def look(event: object) -> None:
        if isinstance(event, CallsChanged):
            stored.append(len(bench.core.db.run_read(lambda session: calls_of(session, event.message_id))))

    bench.core.hub.subscribe(look)
    await bench.ask(conversation, "Write a.txt.")
    assert stored == [1]


def calls_of(session: Session, message_id: str) -> tuple[ToolCall, ...]:
    return runs.calls_of(session, [message_id]).get(message_id, ())


async def test_rule_7_a_complete_message_and_its_calls_are_one_transaction(bench: Bench, server: OpenAIServer) -> None:
    """Whenever the message is complete its calls are there: seen after every commit from another connection."""
    server.script(Turn(["I ", "will."], calls=[write("a.txt"), write("b.txt")]))
    conversation = await bench.conversation(project=True)
    seen: list[tuple[str, int]] = []

    def look(_event: object) -> None:
        seen.extend(bench.core.db.run_read(lambda session: answers(session, conversation.id)))

    bench.core.hub.subscribe(look)
    await bench.ask(conversation, "Write both.")
    assert {(state, count) for state, count in seen} == {("streaming", 0), ("complete", 2)}


def answers(session: Session, conversation_id: str) -> list[tuple[str, int]]:
    """State and number of calls of each answer there is."""
    rows = session.scalars(
        select(MessageRow).where(MessageRow.conversation_id == conversation_id, MessageRow.role == "assistant")
    )
    return [(row.state, len(calls_of(session, row.id))) for row in rows]


async def test_rule_7_streaming_text_is_on_disk_within_a_second_and_partial_if_it_was_cut(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    server.script(Turn(["Half of an ", "answer", Gate(), " never sent"]))
    conversation = await bench.conversation()
    child = children.start("ask", conversation.id, "Why?")
    await server.arrival(1)
    loop = asyncio.get_running_loop()
    cut = await stored(bench, conversation.id, lambda message: bool(message.content))
    began = loop.time()
    cut = await stored(bench, conversation.id, lambda message: message.content == "Half of an answer")
    assert loop.time() - began < 3  # a second, on a machine that does other things too
    assert cut.state is MessageState.STREAMING
    child.kill()
    await bench.core.turns.recover()
    assert await bench.states(conversation) == [RunState.INTERRUPTED]
    answer = await bench.answer(conversation)
    assert (answer.content, answer.state) == ("Half of an answer", MessageState.PARTIAL)


async def stored(bench: Bench, conversation_id: str, wanted: Callable[[Message], bool]) -> Message:
    """The newest message, once another process has stored what is wanted of it."""
    async with asyncio.timeout(20):
        while True:
            path = await bench.core.conversations.path(conversation_id)
            if path.messages and path.messages[-1].run_id is not None and wanted(path.messages[-1]):
                return path.messages[-1]
            await asyncio.sleep(0)


# rule 8: states, and ways on -----------------------------------------------------------------------------------------


async def test_rule_8_a_run_goes_through_exactly_the_states_that_there_are(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    run_id, call = await waiting(bench, server, write())
    await bench.core.turns.decide(call.id, ALLOW)
    await bench.core.turns.wait(run_id)
    server.script(Turn(status=400, error="no"), Turn(["One", Gate()]), Turn(["One", Gate()]))
    await bench.ask(await bench.conversation(), "Fail.")
    stopped = await bench.core.turns.send((await bench.conversation()).id, "Be stopped.")
    await bench.event(TextArrived, run_id=stopped.id)
    await bench.core.turns.cancel(stopped.id)
    closed = await bench.core.turns.send((await bench.conversation()).id, "Be closed over.")
    await bench.event(TextArrived, run_id=closed.id)
    await processes.stop(bench)
    assert {event.state for event in bench.of(RunChanged)} == {*RunState}


@pytest.mark.parametrize("act", ["retry", "continue_run"])
@pytest.mark.parametrize("how", ["failed", "interrupted"])
async def test_rule_8_failed_and_interrupted_runs_can_be_retried_and_continued(
    bench: Bench, server: OpenAIServer, processes: Processes, how: str, act: str
) -> None:
    conversation = await bench.conversation()
    if how == "failed":
        server.script(Turn(status=400, error="no"), "At last.")
        run = await bench.ask(conversation, "Why?")
    else:
        server.script(Turn(["One", Gate()]), "At last.")
        run = await bench.core.turns.send(conversation.id, "Why?")
        await bench.event(TextArrived)
        await processes.stop(bench)
        bench = await processes.start(background=True)
    assert (await bench.core.conversations.run(run.id)).state.value == how
    await getattr(bench.core.turns, act)(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert (await bench.answer(conversation)).content == "At last."
