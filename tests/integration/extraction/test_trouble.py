"""What goes wrong: answers that cannot be read, models that fail, kills in the middle, and the chat that goes first."""

import asyncio
import sys
from pathlib import Path

import pytest

from devflow.domain.errors import ProviderFailed
from devflow.extraction.outcome import Phase, State
from devflow.extraction.worker import ATTEMPTS, BREAKER_AFTER, BREAKER_PAUSE
from devflow.store import conversations, extraction_jobs
from devflow.store.database import Unit
from devflow.store.extraction_jobs import JobState, Trigger
from tests.integration.extraction.bench import Bench, Gate, item, items

ROOT = Path(__file__).parents[3]


def away() -> ProviderFailed:
    return ProviderFailed("The server is away.")


@pytest.mark.expects_log
@pytest.mark.parametrize("answer", ["There is nothing to keep.", "", "<think>hm", "[1, 2]", "null"])
async def test_an_answer_that_is_not_json_drops_the_batch_with_one_warning(
    bench: Bench, caplog: pytest.LogCaptureFixture, answer: str
) -> None:
    bench.answer(answer)
    id = await bench.talk()
    assert await bench.candidates() == ()
    assert bench.states()[-1] == "dropped"
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert id in warnings[0].getMessage()
    assert [job.state for job in await bench.jobs()] == [JobState.DROPPED]


@pytest.mark.expects_log
async def test_a_dropped_batch_is_read_again_on_a_click(bench: Bench) -> None:
    bench.answer("no json", items(item()))
    id = await bench.talk()
    assert (await bench.extraction.extract_now(id)).created == 1


async def test_a_bad_item_is_dropped_without_a_warning_and_the_good_one_stays(bench: Bench) -> None:
    bench.answer(items(item(kind="anecdote", title="no such kind"), item()))
    await bench.talk()
    assert [entry.title for entry in await bench.candidates()] == ["Take the write lock first"]


async def test_a_failure_is_tried_again_with_growing_pauses_and_then_given_up(bench: Bench) -> None:
    bench.answer(away(), items(item()))
    await bench.talk()
    assert await bench.candidates() == ()
    assert [job.state for job in await bench.jobs()] == [JobState.WAITING]
    bench.clock.advance(seconds=59)
    await bench.settled()
    assert len(bench.provider.requests) == 1
    bench.clock.advance(seconds=1)
    await bench.settled()
    assert len(await bench.candidates()) == 1
    assert bench.states()[-3:] == ["failed", "running", "done"]


@pytest.mark.expects_log
async def test_after_three_failures_in_a_row_nothing_is_asked_for_a_while(bench: Bench) -> None:
    bench.answer(*[away() for _ in range(BREAKER_AFTER)])
    id = await bench.talk()
    for _ in range(ATTEMPTS):
        bench.clock.advance(minutes=5)
        await bench.settled()
    assert len(bench.provider.requests) == BREAKER_AFTER
    assert [job.state for job in await bench.jobs()] == [JobState.FAILED]
    other = await bench.talk()
    assert len(bench.provider.requests) == BREAKER_AFTER
    assert (await bench.extraction.status()).phase is Phase.PAUSED
    bench.clock.advance(seconds=BREAKER_PAUSE.total_seconds())
    await bench.settled()
    assert len(bench.provider.requests) == BREAKER_AFTER + 1
    assert await bench.new_messages(other) == 0
    assert await bench.new_messages(id) == 4


@pytest.mark.expects_log
async def test_a_click_ends_the_pause(bench: Bench) -> None:
    bench.answer(*[away() for _ in range(BREAKER_AFTER)])
    id = await bench.talk()
    for _ in range(ATTEMPTS):
        bench.clock.advance(minutes=5)
        await bench.settled()
    bench.answer(items(item()))
    assert (await bench.extraction.extract_now(id)).created == 1
    await bench.talk()
    assert len(bench.provider.requests) == BREAKER_AFTER + 2


async def test_a_failure_that_will_not_pass_is_not_tried_again(bench: Bench) -> None:
    bench.answer(ProviderFailed("The key is refused.", retryable=False))
    await bench.talk()
    assert [job.state for job in await bench.jobs()] == [JobState.FAILED]


@pytest.mark.expects_log
async def test_a_bug_ends_the_job_and_not_the_worker(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.answer(RuntimeError("a bug"), items(item()))
    await bench.talk()
    assert [job.state for job in await bench.jobs()] == [JobState.FAILED]
    assert any(record.levelname == "ERROR" and record.exc_info for record in caplog.records)
    await bench.talk()
    assert len(await bench.candidates()) == 1


async def test_the_days_calls_are_capped_until_the_next_day_and_a_click_is_free(bench: Bench) -> None:
    await bench.settings.save("extraction", {"daily_calls": 1})
    await bench.talk()
    today = bench.clock.now().astimezone().date().isoformat()
    assert await bench.db.read(lambda session: extraction_jobs.calls(session, today)) == 1
    id = await bench.talk()
    assert len(bench.provider.requests) == 1
    assert (await bench.extraction.status()).phase is Phase.CAPPED
    assert (await bench.extraction.extract_now(id)).state is State.DONE
    third = await bench.talk()
    assert len(bench.provider.requests) == 2
    bench.clock.advance(days=1)
    await bench.settled()
    assert len(bench.provider.requests) == 3
    assert await bench.new_messages(third) == 0


async def test_an_extraction_that_quitting_cut_off_is_done_again_after_the_next_start(bench: Bench) -> None:
    gate = Gate()
    bench.answer(gate)
    await bench.ready()
    await gate.arrival()
    await bench.close()
    bench.answer(items(item()))
    await bench.start()
    assert len(await bench.candidates()) == 1
    (job,) = await bench.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


async def test_an_extraction_that_a_kill_cut_off_is_done_again_and_never_doubled(bench: Bench) -> None:
    """Killed with the job claimed: its process is gone, so the next start takes the job over."""
    await bench.configure(trigger_mode="on_idle")
    id = await bench.talk()
    (job,) = await bench.jobs()
    claimed = await bench.db.write(lambda unit: extraction_jobs.claim(unit, job.id, "a-process-that-is-gone"))
    assert claimed is not None
    bench.answer(items(item()), items(item()))
    await bench.restart()
    await bench.restart()
    assert len(bench.provider.requests) == 1
    assert len(await bench.candidates()) == 1
    assert await bench.new_messages(id) == 0


async def test_a_job_that_another_process_took_over_stores_nothing(bench: Bench) -> None:
    gate = Gate()
    bench.answer(gate, items(item()))
    id = await bench.ready()
    await gate.arrival()
    (job,) = await bench.jobs()

    def taken(unit: Unit) -> None:
        assert extraction_jobs.put_back(unit, job.id, bench.lock.id, bench.clock.now())
        assert extraction_jobs.claim(unit, job.id, "another")

    await bench.db.write(taken)
    gate.opened.set()
    await bench.settled()
    assert await bench.candidates() == ()
    assert await bench.new_messages(id) == 4
    assert bench.states()[-1] == "cancelled"


async def test_messages_that_were_distilled_meanwhile_carry_no_second_candidate(bench: Bench) -> None:
    gate = Gate()
    bench.answer(gate, items(item()))
    id = await bench.ready()
    await gate.arrival()

    def distilled(unit: Unit) -> None:
        path = conversations.path(unit.session, id)
        extraction_jobs.mark_extracted(unit, [message.id for message in path.messages])

    await bench.db.write(distilled)
    gate.opened.set()
    await bench.settled()
    assert await bench.candidates() == ()


async def test_a_job_is_one_row_for_a_conversation_and_its_last_message(bench: Bench) -> None:
    await bench.configure(trigger_mode="on_idle")
    id = await bench.talk()
    await bench.turn(id)
    jobs = await bench.jobs()
    assert [job.state for job in jobs] == [JobState.CANCELLED, JobState.WAITING]

    def again(unit: Unit) -> str:
        return extraction_jobs.schedule(unit, id, jobs[1].last_message_id, Trigger.ON_IDLE, unit.at).id

    assert await bench.db.write(again) == jobs[1].id
    assert len(await bench.jobs()) == 2


async def test_a_model_on_this_machine_serves_the_chat_first(bench: Bench) -> None:
    bench.models.local = True
    gate = Gate()
    bench.answer(gate)
    id = await bench.ready()
    await gate.arrival()
    other = await bench.conversation()
    await bench.say(other, "a question")
    run_id = await bench.begin_run(other)  # makes the extraction leave the model
    await bench.settled()
    assert bench.provider.streaming == 0
    assert bench.states()[-1] == "waiting"
    assert await bench.new_messages(id) == 4
    bench.answer(items(item()))
    await bench.end_run(other, run_id)
    await bench.settled()
    assert len(await bench.candidates()) == 1


async def test_a_model_elsewhere_is_asked_while_the_chat_goes_on(bench: Bench) -> None:
    other = await bench.conversation()
    await bench.say(other, "a question")
    await bench.begin_run(other)
    await bench.talk()
    assert len(bench.provider.requests) == 1


@pytest.mark.expects_log
async def test_an_endless_answer_is_left(bench: Bench) -> None:
    bench.answer("[" + "x" * 300_000)
    await bench.talk()
    assert [job.state for job in await bench.jobs()] == [JobState.DROPPED]


async def test_a_process_killed_while_the_model_answers_leaves_one_candidate_after_the_next_start(home: Path) -> None:
    """A real process, a real SIGKILL."""
    victim = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.extraction.victim", str(home), stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert victim.stdout is not None
    async with asyncio.timeout(30):
        assert await victim.stdout.readline() == b"asking\n"
        victim.kill()
        await victim.wait()
        bench = Bench(home)
        bench.answer(items(item()), items(item()))
        await bench.start()
        assert len(await bench.candidates()) == 1
        assert len(bench.provider.requests) == 1
        (job,) = await bench.jobs()
        assert (job.state, job.attempts) == (JobState.DONE, 2)
        await bench.close()
