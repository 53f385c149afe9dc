"""A run ends: the conversation is distilled in the background (spec 01, Extraction)."""

import pytest

from devflow.domain.conversation import Origin, Role
from devflow.domain.errors import ProviderFailed
from devflow.domain.events import RunChanged
from devflow.domain.ids import now
from devflow.domain.knowledge import Kind, Status, draft
from devflow.domain.run import RunState
from devflow.knowledge.projects import Projects
from devflow.knowledge.service import Actor
from devflow.models.roles import GROUP as ROLES
from devflow.store import conversations
from devflow.store.database import Unit
from devflow.store.extraction_jobs import JobState
from tests.integration.extraction.bench import MODEL, QUESTION, REPLY, Bench, Gate, item, items


async def test_the_second_turn_of_a_conversation_brings_a_candidate(bench: Bench) -> None:
    bench.answer(items(item()))
    id = await bench.conversation()
    await bench.turn(id)
    assert bench.provider.requests == []  # two messages: fewer than four
    await bench.turn(id, "And with WAL?", "The same holds.")
    (entry,) = await bench.candidates()
    assert (entry.kind, entry.title, entry.status) == (Kind.PITFALL, "Take the write lock first", Status.CANDIDATE)
    assert (entry.source_ref, entry.confidence, entry.tags) == (f"conv:{id}", 0.8, ("sqlite",))
    assert bench.states() == ["waiting", "running", "done"]
    assert bench.events[-1].created == 1


async def test_a_candidate_names_the_message_and_the_words_it_rests_on(bench: Bench) -> None:
    bench.answer(items(item("Use  BEGIN IMMEDIATE\nfor writes")))
    id = await bench.conversation()
    ids = await bench.turn(id, "thanks", "You are welcome.") + await bench.turn(id)
    (entry,) = await bench.candidates()
    assert entry.evidence is not None
    assert entry.evidence.message_ids == (ids[3],)
    assert entry.evidence.quote == "Use BEGIN IMMEDIATE for writes"
    assert entry.evidence.role == "assistant"
    (event,) = await bench.knowledge.knowledge_timeline(entry.id)
    assert event.actor == "ai"
    assert event.detail["conversation"] == id


async def test_the_conversations_project_is_the_candidates(bench: Bench) -> None:
    project = await Projects(bench.db).ensure(bench.home)
    bench.answer(items(item()))
    id = await bench.conversation(project_id=project.id)
    await bench.turn(id)
    await bench.turn(id)
    (entry,) = await bench.candidates()
    assert entry.project == project


async def test_nothing_is_sent_twice(bench: Bench) -> None:
    id = await bench.talk()
    assert len(bench.provider.requests) == 1
    bench.hub.publish(RunChanged("r", id, RunState.COMPLETED))
    await bench.settled()
    assert len(bench.provider.requests) == 1
    assert await bench.new_messages(id) == 0


async def test_only_the_last_six_are_read_and_extracted_ones_are_marked_as_context(bench: Bench) -> None:
    id = await bench.talk()
    await bench.turn(id, "third question", "third answer")
    sent = bench.provider.sent()
    assert sent.count("<<<end ") == 6 + 1  # the template names the mark once
    assert sent.count(" context ") == 4
    assert sent.index(" context ") < sent.index("third question")
    assert sent.count(" new ") == 2


async def test_of_more_than_six_new_messages_the_last_six_are_read_and_all_are_done_with(bench: Bench) -> None:
    await bench.configure(min_messages=10)
    id = await bench.conversation()
    for number in range(5):
        await bench.turn(id, f"question {number}", f"answer {number}")
    sent = bench.provider.sent()
    assert "question 1" not in sent
    assert "answer 1" not in sent
    assert "question 2" in sent
    assert await bench.new_messages(id) == 0


async def test_evidence_from_a_message_that_was_extracted_before_counts_for_nothing(bench: Bench) -> None:
    bench.answer(items(), items(item()))
    id = await bench.talk()
    await bench.turn(id, "third question", "third answer")
    assert await bench.candidates() == ()


async def test_the_model_is_asked_with_the_composer_and_a_schema(bench: Bench) -> None:
    await bench.talk()
    (request,) = bench.provider.requests
    assert request.purpose == "extraction"
    assert request.library == request.pages
    assert request.json_schema is not None
    assert "items" in str(request.json_schema)
    assert request.tools == ()


async def test_a_chinese_conversation_is_distilled_with_the_chinese_prompt(bench: Bench) -> None:
    id = await bench.conversation()
    await bench.turn(id, "SQLite 为什么会锁？", "写事务要一开始就取写锁。")
    await bench.turn(id, "还有呢？", "没有了。")
    assert "提炼" in bench.provider.requests[0].system


async def test_secrets_are_out_before_anything_is_sent_and_before_anything_is_stored(bench: Bench) -> None:
    key = "sk-proj-" + "aB3dE6gH9" * 5
    bench.answer(
        items(item("The password is [redacted: password]", content=f"Use {key}, 密码：abc12345", title=f"Key {key}"))
    )
    id = await bench.conversation()
    await bench.turn(id, f"My key is {key}.", "Keep it out of chats.")
    await bench.turn(id, "The password is hunter22 too", "Change it.")
    assert key not in bench.provider.sent()
    assert "hunter22" not in bench.provider.sent()
    (entry,) = await bench.candidates()
    assert key not in entry.title + entry.content
    assert "abc12345" not in entry.content
    assert entry.evidence is not None
    assert entry.evidence.quote == "The password is [redacted: password]"


async def test_what_is_known_already_is_shown_to_the_model(bench: Bench) -> None:
    await bench.knowledge.knowledge_create(
        draft(kind="pitfall", title="SQLite database is locked", content="deferred transaction upgrade"),
        actor=Actor.user(),
    )
    await bench.talk()
    assert '"title": "SQLite database is locked"' in bench.provider.sent()


async def test_a_repetition_is_seen_again_instead_of_added(bench: Bench) -> None:
    bench.answer(items(item()), items(item("third answer about locks", title="TAKE the write  lock first")))
    id = await bench.talk()
    await bench.turn(id, "third question", "third answer about locks")
    (entry,) = await bench.candidates()
    assert [event.event for event in await bench.knowledge.knowledge_timeline(entry.id)] == ["seen_again", "created"]
    assert bench.events[-1].created == 0


@pytest.mark.parametrize(
    "state", [RunState.FAILED, RunState.CANCELLED, RunState.INTERRUPTED, RunState.AWAITING_APPROVAL]
)
async def test_a_run_that_does_not_end_normally_extracts_nothing(bench: Bench, state: RunState) -> None:
    await bench.talk(state=state)
    assert bench.provider.requests == []
    assert await bench.jobs() == []


@pytest.mark.parametrize("fields", [{"auto_extract": False}, {"trigger_mode": "manual_only"}, {"min_messages": 5}])
async def test_the_configuration_keeps_a_conversation_from_being_extracted(
    bench: Bench, fields: dict[str, object]
) -> None:
    await bench.configure(**fields)
    await bench.talk()
    assert bench.provider.requests == []


async def test_fewer_messages_are_enough_as_soon_as_the_setting_says_so(bench: Bench) -> None:
    await bench.configure(min_messages=2)
    await bench.talk(turns=1)
    assert len(bench.provider.requests) == 1


async def test_switching_extraction_off_stops_one_that_is_under_way(bench: Bench) -> None:
    gate = Gate()
    bench.answer(gate, items(item()))
    id = await bench.ready()
    await gate.arrival()
    await bench.configure(auto_extract=False)
    assert await bench.candidates() == ()
    assert [job.state for job in await bench.jobs()] == [JobState.CANCELLED]
    assert await bench.new_messages(id) == 4


async def test_conversations_of_the_command_line_are_never_extracted_by_themselves(bench: Bench) -> None:
    id = await bench.conversation(origin=Origin.CLI)
    await bench.turn(id)
    await bench.turn(id)
    assert bench.provider.requests == []
    await bench.extraction.extract_now(id)
    assert len(bench.provider.requests) == 1


async def test_without_a_model_no_job_is_made_and_connecting_one_sends_nothing_by_itself(bench: Bench) -> None:
    bench.models.choice = None
    id = await bench.offline_talk()
    assert await bench.jobs() == []
    bench.models.choice = MODEL
    await bench.settings.save(ROLES, {"main": {"provider_id": "scripted", "model": "small"}})
    await bench.settled()
    await bench.restart()
    assert bench.provider.requests == []
    (pending,) = await bench.extraction.pending_conversations()
    assert (pending.conversation_id, pending.new_messages) == (id, 4)
    bench.answer(items(item()))
    assert await bench.extraction.extract_pending() == 1
    await bench.settled()
    assert len(await bench.candidates()) == 1
    assert await bench.extraction.pending_conversations() == ()


async def test_one_extraction_runs_at_a_time(bench: Bench) -> None:
    gate = Gate()
    bench.answer(gate, items(), items(), items())
    ids = [await bench.conversation() for _ in range(3)]
    for id in ids:
        await bench.ready(id)
    await gate.arrival()
    gate.opened.set()
    await bench.settled()
    assert len(bench.provider.requests) == 3
    assert bench.provider.most_at_once == 1


async def test_only_the_active_branch_is_read(bench: Bench) -> None:
    id = await bench.conversation()
    first, second = await bench.say(id, "the question", "the answer on the first branch")

    def back(unit: Unit) -> None:
        conversations.move_leaf(unit, id, before=second, to=first)

    await bench.db.write(back)
    await bench.say(id, "the answer on the second branch", "go on", "the end", role=Role.ASSISTANT)
    bench.hub.publish(RunChanged("r", id, RunState.COMPLETED))
    await bench.settled()
    sent = bench.provider.sent()
    assert "second branch" in sent
    assert "first branch" not in sent


async def test_a_long_conversation_is_cut_to_the_models_window(bench: Bench) -> None:
    bench.provider.window = 4_096
    id = await bench.conversation()
    await bench.turn(id, "x" * 50_000 + " the end of the question", "short answer")
    await bench.turn(id, "short", "y" * 50_000)
    sent = bench.provider.sent()
    assert len(sent) < 4_096
    assert "short answer" in sent
    assert "characters left out" in sent
    assert "the end of the question" in sent


async def test_a_conversation_that_is_too_long_all_the_same_is_sent_again_shorter(bench: Bench) -> None:
    class Overflow(ProviderFailed):
        code = "context_overflow"

    bench.answer(Overflow("too long", retryable=False), items(item()))
    id = await bench.conversation()
    await bench.turn(id, "z" * 60_000, "an answer")
    await bench.turn(id)
    assert len(bench.provider.sent(1)) < len(bench.provider.sent(0)) * 0.6
    assert len(await bench.candidates()) == 1


async def test_a_deleted_conversation_keeps_its_candidates_evidence_and_a_deleted_one_is_not_sent(bench: Bench) -> None:
    bench.answer(items(item()))
    id = await bench.talk()
    await bench.db.write(lambda unit: conversations.set_fields(unit, id, deleted_at=now()))
    (entry,) = await bench.candidates()
    assert entry.evidence is not None
    assert entry.evidence.quote in REPLY
    other = await bench.conversation()
    await bench.say(other, QUESTION, REPLY, QUESTION, REPLY)
    await bench.db.write(lambda unit: conversations.set_fields(unit, other, deleted_at=now()))
    bench.hub.publish(RunChanged("r", other, RunState.COMPLETED))
    await bench.settled()
    assert len(bench.provider.requests) == 1
