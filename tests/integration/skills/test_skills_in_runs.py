"""A message that is sent with a skill: every request of its run carries the same words, and no other run does."""

import asyncio
import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from devflow.agent.turns import Decision
from devflow.domain.conversation import Conversation
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import Run, RunState
from devflow.domain.skill import SkillSource
from devflow.tools.policy import Effect, Rule
from devflow.tools.rules import add_rule
from devflow.wiki.skill_file import UnusableSkill
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Request, Turn
from tests.integration.agent.children import Children
from tests.integration.skills.conftest import BODY, Bench, skill

SYSTEM = "You are DevFlow"
WRITE = Call("write_file", {"path": "lock.txt", "content": "BEGIN IMMEDIATE\n"})


def part(request: Request) -> str:
    """What stands between the knowledge and the original system prompt."""
    return "\n\n---\n\n".join(
        piece for piece in request.system.split("\n\n---\n\n") if not piece.startswith(SYSTEM) and "<<<K" not in piece
    )


def mine(bench: Bench) -> Path:
    return bench.core.paths.home / "skills"


async def ask(bench: Bench, conversation: Conversation, text: str, name: str | None = "review") -> Run:
    run = await bench.core.turns.send(conversation.id, text, skill=name)
    return await bench.core.turns.wait(run.id)


async def test_the_system_prompt_is_knowledge_then_skill_then_the_original(bench: Bench, server: OpenAIServer) -> None:
    entry = await bench.publish("Sqlite write lock", "A sqlite transaction takes the write lock late.")
    skill(mine(bench), "review")
    server.script("Done.")
    conversation = await bench.conversation()
    run = await ask(bench, conversation, "How does a sqlite transaction take the write lock?")
    knowledge, instructions, original = server.requests[0].system.split("\n\n---\n\n")
    assert entry.title in knowledge
    assert instructions == f"For this message the user has called the skill review. Follow its instructions:\n\n{BODY}"
    assert original.startswith(SYSTEM)
    assert run.skill is not None
    assert (run.skill.name, run.skill.source, run.skill.text) == ("review", SkillSource.USER, instructions)


async def test_the_message_stays_as_typed_and_a_question_in_chinese_gets_chinese_words(
    bench: Bench, server: OpenAIServer
) -> None:
    skill(mine(bench), "review", body="先找错误，再看风格。\n\n---\n\n最后给结论。")
    server.script("好。")
    conversation = await bench.conversation()
    await ask(bench, conversation, "看一下这段代码")
    assert (await bench.messages(conversation))[0].content == "看一下这段代码"
    assert server.requests[0].last_user == "看一下这段代码"
    assert "用户为这条消息调用了技能 review" in server.requests[0].system
    assert "先找错误，再看风格。\n\n---\n\n最后给结论。" in server.requests[0].system


async def test_the_next_turn_without_a_skill_has_none(bench: Bench, server: OpenAIServer) -> None:
    skill(mine(bench), "review")
    server.script("One.", "Two.")
    conversation = await bench.conversation()
    await ask(bench, conversation, "first")
    await ask(bench, conversation, "second", None)
    assert BODY in server.requests[0].system
    assert BODY not in str(server.requests[1].body)


async def test_without_words_the_command_is_the_message(bench: Bench, server: OpenAIServer) -> None:
    skill(mine(bench), "review")
    server.script("Done.")
    conversation = await bench.conversation()
    await ask(bench, conversation, "  ")
    assert (await bench.messages(conversation))[0].content == "/review"
    assert BODY in server.requests[0].system


async def test_a_skill_that_is_not_there_or_broken_records_nothing(bench: Bench, server: OpenAIServer) -> None:
    conversation = await bench.conversation()
    with pytest.raises(InvalidInput, match="no skill review"):
        await ask(bench, conversation, "first")
    (mine(bench) / "review").mkdir(parents=True)
    (mine(bench) / "review/SKILL.md").write_text("no front matter", encoding="utf-8")
    with pytest.raises(UnusableSkill, match="does not begin with"):
        await ask(bench, conversation, "first")
    assert await bench.messages(conversation) == ()
    assert server.requests == []


async def test_tool_steps_and_a_resume_carry_the_words_as_they_were(bench: Bench, server: OpenAIServer) -> None:
    """The file is changed while the run waits for approval, and gone before the last step."""
    made = skill(mine(bench), "review")
    read = Call("read_file", {"path": "a.txt"})
    (bench.workspace / "a.txt").write_text("text", encoding="utf-8")
    server.script(Turn(calls=[read]), Turn("I will write it.", calls=[WRITE]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await ask(bench, conversation, "Do it.")
    assert run.state is RunState.AWAITING_APPROVAL
    skill(mine(bench), "review", body="Something else entirely.")
    (made / "SKILL.md").unlink()
    await bench.core.turns.decide((await bench.calls(conversation))[-1].id, Decision(True))
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    first, second, third = server.requests
    assert BODY in first.system
    assert part(first) == part(second) == part(third)


async def test_a_resume_in_another_process_after_a_kill_carries_the_same_words(
    bench: Bench, server: OpenAIServer, children: Children
) -> None:
    made = skill(mine(bench), "review")
    server.script(Turn("I will write it.", calls=[WRITE]), "Done.")
    conversation = await bench.conversation(project=True)
    first = children.start("ask", conversation.id, "Do it.", "review")
    paused = first.read()
    assert paused["state"] == "awaiting_approval"
    first.kill()
    (made / "SKILL.md").write_text("---\nname: review\ndescription: d\n---\n\nOther words.\n", encoding="utf-8")
    (call_id,) = paused["calls"]
    second = children.start("decide", call_id, "allow")
    assert second.read()["state"] == "completed"
    second.finish()
    assert BODY in server.requests[0].system
    assert part(server.requests[0]) == part(server.requests[1])


async def test_retry_and_continue_carry_the_same_words(bench: Bench, server: OpenAIServer) -> None:
    skill(mine(bench), "review")
    server.script(Turn(status=400, error="no"), Turn("Half", cut=True), "Whole.")
    conversation = await bench.conversation()
    run = await ask(bench, conversation, "Do it.")
    assert run.state is RunState.FAILED
    skill(mine(bench), "review", body="Other words.")
    await bench.core.turns.retry(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.FAILED
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert [part(request) for request in server.requests] == [part(server.requests[0])] * 3
    assert BODY in server.requests[0].system


async def test_regenerating_and_asking_with_other_words_keep_the_skill(bench: Bench, server: OpenAIServer) -> None:
    skill(mine(bench), "review")
    server.script("One.", "Two.", "Three.", "Four.")
    conversation = await bench.conversation()
    await ask(bench, conversation, "Do it.")
    answer = await bench.answer(conversation)
    run = await bench.core.turns.regenerate(answer.id)
    await bench.core.turns.wait(run.id)
    question = (await bench.messages(conversation))[0]
    run = await bench.core.turns.resend(question.id, "Do it well.")
    run = await bench.core.turns.wait(run.id)
    assert [part(request) for request in server.requests] == [part(server.requests[0])] * 3
    assert run.skill is not None
    branch = await bench.core.conversations.branch_from((await bench.answer(conversation)).id)
    (copied,) = await bench.core.conversations.runs(branch.id)
    assert copied.skill == run.skill
    await ask(bench, branch, "And now?", None)
    assert BODY not in server.requests[3].system


async def test_a_message_that_waits_keeps_its_skill(bench: Bench, server: OpenAIServer) -> None:
    skill(mine(bench), "review")
    skill(mine(bench), "other", body="Other instructions.")
    gate = Gate()
    server.script(Turn(["One", gate, "."]), "Two.", "Three.")
    conversation = await bench.conversation()
    first = await bench.core.turns.send(conversation.id, "first")
    await asyncio.to_thread(gate.wait_reached)
    await bench.core.turns.send(conversation.id, "second", skill="review")
    with pytest.raises(Refused, match="review waits already"):
        await bench.core.turns.send(conversation.id, "third", skill="other")
    await bench.core.turns.send(conversation.id, "and this")
    waiting = await bench.core.conversations.get(conversation.id)
    assert waiting.queued == "second\n\nand this"
    assert waiting.queued_skill is not None
    gate.open()
    await bench.core.turns.wait(first.id)
    second = (await bench.core.conversations.runs(conversation.id))[-1]
    await bench.core.turns.wait(second.id)
    assert BODY not in server.requests[0].system
    assert BODY in server.requests[1].system
    assert (await bench.core.conversations.get(conversation.id)).queued_skill is None
    await ask(bench, conversation, "third", None)
    assert BODY not in server.requests[2].system


async def test_a_message_taken_back_has_its_command_again(bench: Bench, server: OpenAIServer) -> None:
    skill(mine(bench), "review")
    gate = Gate()
    server.script(Turn(["One", gate, "."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "first")
    await asyncio.to_thread(gate.wait_reached)
    await bench.core.turns.send(conversation.id, "second", skill="review")
    assert await bench.core.conversations.unqueue(conversation.id, "typed") == "/review second\n\ntyped"
    assert (await bench.core.conversations.get(conversation.id)).queued_skill is None
    gate.open()
    await bench.core.turns.wait(run.id)


async def test_the_folder_is_told_where_read_file_can_read_it(bench: Bench, server: OpenAIServer) -> None:
    made = skill(bench.workspace / ".agents/skills", "review")
    (made / "checklist.md").write_text("Check locks.", encoding="utf-8")
    skill(mine(bench), "private")
    read = Call("read_file", {"path": ".agents/skills/review/checklist.md"})
    server.script(Turn(calls=[read]), "Done.", "Done.", "Done.")
    conversation = await bench.conversation(project=True)
    await ask(bench, conversation, "Do it.")
    assert "in the folder .agents/skills/review of the project" in server.requests[0].system
    assert "Check locks." in server.requests[1].tool_results[0]
    await ask(bench, conversation, "Do it.", "private")
    assert "of the project; relative paths" not in server.requests[2].system
    assert str(bench.core.paths.home) not in str(server.requests[2].body)
    run = await bench.core.turns.send(conversation.id, "Do it.", tools=(), skill="review")
    await bench.core.turns.wait(run.id)
    assert "of the project; relative paths" not in server.requests[3].system


async def test_a_skill_of_the_knowledge_base_is_used_in_its_conversations(
    bench: Bench, server: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "kb").mkdir()
    base = await bench.core.bases.initialise(tmp_path / "kb", "Notes on databases")
    skill(tmp_path / "kb/skills", "review", body="As this knowledge base wants it.")
    skill(mine(bench), "review")
    server.script("One.", "Two.")
    inside = await bench.core.conversations.create(kb_id=base.id)
    run = await ask(bench, inside, "hello there, look at this")
    assert "As this knowledge base wants it." in server.requests[0].system
    assert run.skill is not None
    assert run.skill.source is SkillSource.KB
    await ask(bench, await bench.conversation(), "Do it.")
    assert BODY in server.requests[1].system


@pytest.mark.parametrize("source,asks", [("project", True), ("user", False)])
async def test_beside_a_skill_that_came_with_a_folder_a_rule_allows_no_change_unasked(
    bench: Bench, server: OpenAIServer, source: str, asks: bool
) -> None:
    """Whoever wrote the project's skill is somebody else, though it is the user who has called it."""
    skill(bench.workspace / ".devflow/skills" if source == "project" else mine(bench), "review")
    await add_rule(bench.core.settings, Rule(Effect.ALLOW, "write_file", str(bench.workspace), "lock.txt"))
    server.script(Turn(calls=[WRITE]), "Done.", Turn(calls=[WRITE]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await ask(bench, conversation, "Do it.")
    assert (run.state is RunState.AWAITING_APPROVAL) is asks
    if asks:
        await bench.core.turns.decide((await bench.calls(conversation))[-1].id, Decision(False))
        await bench.core.turns.wait(run.id)
        again = await ask(bench, conversation, "And again.", None)
        assert again.state is RunState.AWAITING_APPROVAL, "its answer still stands in the conversation"
        await bench.core.turns.cancel(again.id)


async def test_a_skill_that_has_no_room_is_said_before_anything_is_sent(bench: Bench, server: OpenAIServer) -> None:
    (provider,) = await bench.core.models.list()
    draft = ProviderDraft("Scripted", provider.base_url, models=("scripted",))
    await bench.core.models.update(provider.id, replace(draft, settings={"context_window": 4_000}))
    skill(mine(bench), "review", body="Words. " * 10_000)
    run = await ask(bench, await bench.conversation(), "Do it.")
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert run.problem.code == "too_long"
    assert server.requests == []


async def test_without_a_model_a_skill_does_no_harm(offline: Bench) -> None:
    skill(offline.core.paths.home / "skills", "review")
    conversation = await offline.conversation()
    run = await ask(offline, conversation, "How does a lock work?")
    assert run.state is RunState.COMPLETED
    assert BODY not in (await offline.answer(conversation)).content


@pytest.mark.parametrize(
    "value",
    ["{broken", "[1]", '{"name": 1}', '{"name": "a", "text": "b", "source": [1]}', '{"name": "a", "text": "b"}'],
)
async def test_a_skill_that_somebody_has_edited_in_the_database_counts_as_none(
    bench: Bench, server: OpenAIServer, value: str
) -> None:
    skill(mine(bench), "review")
    server.script("One.", "Two.")
    conversation = await bench.conversation()
    await ask(bench, conversation, "Do it.")
    with contextlib.closing(sqlite3.connect(bench.core.paths.database)) as database:
        database.execute("UPDATE runs SET skill = ?", (value,))
        database.execute("UPDATE conversations SET queued_skill = ?", (value,))
        database.commit()
    (run,) = await bench.core.conversations.runs(conversation.id)
    assert run.skill is None
    assert (await bench.core.conversations.get(conversation.id)).queued_skill is None
    again = await bench.core.turns.regenerate((await bench.answer(conversation)).id)
    assert (await bench.core.turns.wait(again.id)).state is RunState.COMPLETED
    assert BODY not in server.requests[1].system
