"""KP-2: on_idle is real. A timer starts when a run ends, starts again on activity, and survives a restart."""

from devflow.domain.conversation import OFFLINE, Role
from devflow.domain.run import RunState
from devflow.knowledge.service import Actor
from devflow.store import conversations
from devflow.store.extraction_jobs import JobState
from tests.integration.extraction.bench import MODEL, Bench, item, items


async def idle(bench: Bench, *, ms: int = 1_500) -> None:
    await bench.configure(trigger_mode="on_idle", idle_timeout_ms=ms)


async def passes(bench: Bench, *, ms: int) -> None:
    bench.clock.advance(ms=ms)
    await bench.settled()


async def test_kp2_on_idle_fires_once_per_quiet_period(bench: Bench) -> None:
    await idle(bench)
    bench.answer(items(item()))
    id = await bench.talk()
    await passes(bench, ms=1_499)
    assert bench.provider.requests == []
    await passes(bench, ms=1)
    assert len(bench.provider.requests) == 1
    assert len(await bench.candidates()) == 1
    await passes(bench, ms=100_000)
    assert len(bench.provider.requests) == 1
    await bench.turn(id, "third question", "third answer")
    await passes(bench, ms=1_500)
    assert len(bench.provider.requests) == 2


async def test_kp2_on_idle_starts_again_with_each_activity_in_that_conversation(bench: Bench) -> None:
    await idle(bench)
    id = await bench.talk()
    other = await bench.conversation()
    await passes(bench, ms=1_000)
    await bench.say(id, "a third question")  # typed and sent while the timer runs
    await bench.settled()
    await passes(bench, ms=1_000)
    assert bench.provider.requests == []
    await bench.say(other, "something else")  # another conversation's activity is none of its business
    await passes(bench, ms=500)
    assert len(bench.provider.requests) == 1


async def test_kp2_typing_a_draft_is_activity(bench: Bench) -> None:
    await idle(bench)
    id = await bench.talk()
    await passes(bench, ms=1_400)
    await bench.db.write(lambda unit: conversations.set_fields(unit, id, draft={"text": "half a sentence"}))
    await bench.settled()
    await passes(bench, ms=1_400)
    assert bench.provider.requests == []
    await passes(bench, ms=100)
    assert len(bench.provider.requests) == 1


async def test_kp2_on_idle_never_fires_while_a_run_is_open(bench: Bench) -> None:
    await idle(bench)
    id = await bench.talk()
    await bench.say(id, "third question")
    run_id = await bench.begin_run(id)
    await bench.settled()
    await passes(bench, ms=60_000)
    assert bench.provider.requests == []
    await bench.say(id, "third answer", role=Role.ASSISTANT)
    await bench.end_run(id, run_id)
    await bench.settled()
    assert bench.provider.requests == []  # a new quiet period begins with the run's end
    await passes(bench, ms=1_500)
    assert len(bench.provider.requests) == 1
    assert "third answer" in bench.provider.sent()


async def test_kp2_after_a_run_that_failed_the_quiet_period_of_the_earlier_one_goes_on(bench: Bench) -> None:
    await idle(bench)
    id = await bench.talk()
    await bench.say(id, "third question")
    run_id = await bench.begin_run(id)
    await bench.settled()
    await passes(bench, ms=5_000)
    await bench.end_run(id, run_id, RunState.FAILED)
    await bench.settled()
    await passes(bench, ms=1_499)
    assert bench.provider.requests == []
    await passes(bench, ms=1)
    assert len(bench.provider.requests) == 1


async def test_kp2_each_conversation_has_its_own_timer(bench: Bench) -> None:
    await idle(bench)
    await bench.talk()
    await passes(bench, ms=1_000)
    await bench.talk()
    await passes(bench, ms=500)
    assert len(bench.provider.requests) == 1
    await passes(bench, ms=1_000)
    assert len(bench.provider.requests) == 2


async def test_kp2_on_idle_survives_a_restart(bench: Bench) -> None:
    await idle(bench)
    bench.answer(items(item()))
    await bench.talk()
    await passes(bench, ms=1_000)
    await bench.restart()
    assert bench.provider.requests == []
    await passes(bench, ms=499)
    assert bench.provider.requests == []
    await passes(bench, ms=1)
    assert len(await bench.candidates()) == 1


async def test_kp2_what_went_quiet_while_the_application_was_closed_is_extracted_after_the_next_start(
    bench: Bench,
) -> None:
    await idle(bench)
    bench.answer(items(item()))
    await bench.talk()
    await bench.close()
    bench.clock.advance(hours=9)
    await bench.start()
    assert len(await bench.candidates()) == 1
    await bench.restart()
    assert len(bench.provider.requests) == 1


async def test_kp2_a_run_that_ended_a_moment_before_a_kill_is_not_forgotten(bench: Bench) -> None:
    await idle(bench)
    id = await bench.conversation()
    await bench.turn(id)
    await bench.extraction.close()  # nobody hears the next run's end, as after a kill right behind its commit
    await bench.say(id, "And with WAL?")
    run_id = await bench.begin_run(id)
    await bench.say(id, "The same holds.", role=Role.ASSISTANT)
    await bench.end_run(id, run_id)
    bench.answer(items(item()))
    await bench.restart()
    await passes(bench, ms=60_000)
    assert len(await bench.candidates()) == 1


async def test_an_offline_run_that_ended_a_moment_before_a_kill_is_not_sent_to_a_model_connected_later(
    bench: Bench,
) -> None:
    await bench.turn(await bench.conversation())
    id = await bench.conversation()
    await bench.say(id, "one", "two", "three")
    await bench.extraction.close()
    run_id = await bench.begin_run(id, choice=OFFLINE)
    await bench.say(id, "four", role=Role.ASSISTANT)
    await bench.end_run(id, run_id)
    await bench.restart()
    assert bench.provider.requests == []
    assert [pending.conversation_id for pending in await bench.extraction.pending_conversations()] == [id]


async def test_a_shorter_timeout_takes_effect_on_what_is_waited_for(bench: Bench) -> None:
    await idle(bench, ms=60_000)
    await bench.talk()
    await passes(bench, ms=2_000)
    await bench.configure(idle_timeout_ms=5_000)
    assert bench.provider.requests == []
    await passes(bench, ms=3_000)
    assert len(bench.provider.requests) == 1


async def test_leaving_on_idle_extracts_at_once_what_was_waited_for(bench: Bench) -> None:
    await idle(bench, ms=60_000)
    await bench.talk()
    await bench.configure(trigger_mode="on_complete")
    assert len(bench.provider.requests) == 1


async def test_switching_extraction_off_ends_the_wait(bench: Bench) -> None:
    await idle(bench)
    await bench.talk()
    await bench.configure(auto_extract=False)
    await passes(bench, ms=60_000)
    assert bench.provider.requests == []
    assert [job.state for job in await bench.jobs()] == [JobState.CANCELLED]
    await bench.configure(auto_extract=True)
    await passes(bench, ms=60_000)
    assert bench.provider.requests == []


async def test_a_model_that_was_removed_while_it_was_waited_for_ends_the_wait(bench: Bench) -> None:
    await idle(bench)
    await bench.talk()
    bench.models.choice = None
    await passes(bench, ms=1_500)
    bench.models.choice = MODEL
    await bench.restart()
    await passes(bench, ms=60_000)
    assert bench.provider.requests == []
    assert len(await bench.extraction.pending_conversations()) == 1


async def test_another_process_that_switches_it_off_is_heard(bench: Bench) -> None:
    """The command line changes the configuration while the window waits."""
    await idle(bench, ms=60_000)
    await bench.talk()
    other = Bench(bench.home, models=bench.models, clock=bench.clock)
    await other.start(background=False)
    await other.knowledge.knowledge_change_config({"trigger_mode": "manual_only"}, actor=Actor.user())
    await other.close()
    changes = await bench.db.foreign_changes()
    assert changes is not None
    bench.hub.publish(changes)
    await bench.settled()
    assert [job.state for job in await bench.jobs()] == [JobState.CANCELLED]
