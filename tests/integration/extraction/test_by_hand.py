"""Extract now, Save as candidate, and why the inbox is empty."""

import asyncio

import pytest

from devflow.domain.conversation import Origin
from devflow.domain.errors import InvalidInput, NotFound, ProviderFailed
from devflow.domain.knowledge import Kind, Status
from devflow.extraction.outcome import Phase, State
from devflow.extraction.situation import Reason
from devflow.models.roles import GROUP as ROLES
from tests.integration.extraction.bench import QUESTION, REPLY, Bench, Gate, item, items


@pytest.mark.parametrize(
    "fields",
    [{"auto_extract": False}, {"trigger_mode": "manual_only"}, {"min_messages": 100}, {"trigger_mode": "on_idle"}],
)
async def test_extract_now_works_in_every_mode_and_skips_the_guards(bench: Bench, fields: dict[str, object]) -> None:
    await bench.configure(**fields)
    bench.answer(items(item()))
    id = await bench.talk(turns=1)
    outcome = await bench.extraction.extract_now(id)
    assert (outcome.state, outcome.created, outcome.repeated) == (State.DONE, 1, 0)
    (entry,) = await bench.candidates()
    assert outcome.entry_ids == (entry.id,)
    assert entry.source_ref == f"conv:{id}"


async def test_extract_now_does_not_skip_nothing_new(bench: Bench) -> None:
    id = await bench.talk()
    outcome = await bench.extraction.extract_now(id)
    assert outcome.state is State.NOTHING_NEW
    assert len(bench.provider.requests) == 1
    assert bench.states()[-1] == "nothing_new"


async def test_extract_now_takes_the_latest_conversation_of_the_window(bench: Bench) -> None:
    await bench.configure(trigger_mode="manual_only")
    await bench.talk(turns=1)
    latest = await bench.talk(turns=1)
    asked = await bench.conversation(origin=Origin.CLI)
    await bench.turn(asked, "asked on the command line", "answered there")
    outcome = await bench.extraction.extract_now()
    assert outcome.conversation_id == latest


async def test_extract_now_without_a_model_or_a_conversation_says_so(bench: Bench) -> None:
    assert (await bench.extraction.extract_now()).state is State.NO_CONVERSATION
    bench.models.choice = None
    assert (await bench.extraction.extract_now()).state is State.NO_MODEL
    assert bench.provider.requests == []


async def test_extract_now_names_a_conversation_that_is_not_there(bench: Bench) -> None:
    with pytest.raises(NotFound):
        await bench.extraction.extract_now("no-such-id")


async def test_extract_now_brings_back_the_models_failure_and_may_be_asked_again(bench: Bench) -> None:
    await bench.configure(trigger_mode="manual_only")
    bench.answer(ProviderFailed("{server} is away.", server="The server"), items(item()))
    id = await bench.talk(turns=1)
    outcome = await bench.extraction.extract_now(id)
    assert outcome.state is State.FAILED
    assert outcome.problem is not None
    assert str(outcome.problem) == "The server is away."
    assert (await bench.extraction.extract_now(id)).created == 1


async def test_extract_now_works_without_the_background_tasks(bench: Bench) -> None:
    """As the command line calls it."""
    await bench.configure(trigger_mode="manual_only")
    id = await bench.talk(turns=1)
    await bench.close()
    await bench.start(background=False)
    bench.answer(items(item()))
    assert (await bench.extraction.extract_now(id)).created == 1


async def test_two_clicks_make_one_request(bench: Bench) -> None:
    await bench.configure(trigger_mode="manual_only")
    gate = Gate()
    bench.answer(gate, items(item()))
    id = await bench.talk(turns=1)
    first = asyncio.create_task(bench.extraction.extract_now(id))
    await gate.arrival()
    second = asyncio.create_task(bench.extraction.extract_now(id))
    await bench.db.read(lambda session: None)
    gate.opened.set()
    outcomes = await asyncio.gather(first, second)
    assert len(bench.provider.requests) == 1
    assert [outcome.state for outcome in outcomes] == [State.DONE, State.DONE]  # the second is told the first one's
    assert len(await bench.candidates()) == 1


async def test_another_process_at_the_same_conversation_is_left_alone(bench: Bench) -> None:
    await bench.configure(trigger_mode="manual_only")
    gate = Gate()
    bench.answer(gate, items(item()))
    id = await bench.talk(turns=1)
    window = asyncio.create_task(bench.extraction.extract_now(id))
    await gate.arrival()
    other = Bench(bench.home, clock=bench.clock)
    await other.start(background=False)
    outcome = await other.extraction.extract_now(id)
    assert outcome.state is State.RUNNING
    assert other.provider.requests == []
    await other.close()
    gate.opened.set()
    assert (await window).created == 1


async def test_save_as_candidate_needs_no_model(bench: Bench) -> None:
    bench.models.choice = None
    id = await bench.conversation()
    _, message_id = await bench.turn(id, QUESTION, "## Root cause\n\nThe lock is taken too late. Use BEGIN IMMEDIATE.")
    done = await bench.extraction.save_as_candidate(message_id)
    (entry,) = await bench.candidates()
    assert done.entries == (entry,)
    assert (entry.title, entry.kind, entry.status) == ("Root cause", Kind.DIAGNOSIS, Status.CANDIDATE)
    assert (entry.confidence, entry.source_ref) == (1.0, f"conv:{id}")
    assert entry.evidence is not None
    assert entry.evidence.message_ids == (message_id,)
    assert bench.provider.requests == []


async def test_save_as_candidate_takes_a_given_kind_and_title_and_no_secret(bench: Bench) -> None:
    id = await bench.conversation()
    _, message_id = await bench.turn(id, QUESTION, "Set password: hunter2 in the file.")
    await bench.extraction.save_as_candidate(message_id, kind="deployment_note", title="  The file  ")
    (entry,) = await bench.candidates()
    assert (entry.kind, entry.title) == (Kind.DEPLOYMENT_NOTE, "The file")
    assert "hunter2" not in entry.content
    assert entry.evidence is not None
    assert "hunter2" not in entry.evidence.quote


async def test_saving_the_same_message_twice_is_seen_again(bench: Bench) -> None:
    id = await bench.conversation()
    _, message_id = await bench.turn(id)
    first = await bench.extraction.save_as_candidate(message_id)
    second = await bench.extraction.save_as_candidate(message_id)
    assert second.repeated == (first.entries[0].id,)
    assert len(await bench.candidates()) == 1


async def test_a_message_over_the_limit_is_refused_and_an_unknown_one_named(bench: Bench) -> None:
    id = await bench.conversation()
    _, message_id = await bench.turn(id, QUESTION, "long words " * 4_000)
    with pytest.raises(InvalidInput):
        await bench.extraction.save_as_candidate(message_id)
    with pytest.raises(NotFound):
        await bench.extraction.save_as_candidate("no-such-id")
    assert await bench.candidates() == ()


async def test_the_inbox_says_why_it_is_empty(bench: Bench) -> None:
    why = bench.extraction.why_empty
    assert (await why()).reason is Reason.NO_CONVERSATION
    id = await bench.talk(turns=1)
    verdict = await why(id)
    assert (verdict.reason, verdict.needed, verdict.have) == (Reason.TOO_FEW, 4, 2)
    await bench.turn(id)
    assert (await why(id)).reason is Reason.NOTHING_NEW
    await bench.configure(trigger_mode="manual_only")
    assert (await why(id)).reason is Reason.MANUAL_ONLY
    await bench.configure(auto_extract=False)
    assert (await why(id)).reason is Reason.OFF
    bench.models.choice = None
    assert (await why(id)).reason is Reason.NO_MODEL


async def test_the_status_line_says_where_extraction_stands(bench: Bench) -> None:
    assert (await bench.extraction.status()).phase is Phase.IDLE
    gate = Gate()
    bench.answer(gate, items(item()))
    id = await bench.ready()
    await gate.arrival()
    status = await bench.extraction.status()
    assert (status.phase, status.conversation_id) == (Phase.RUNNING, id)
    gate.opened.set()
    await bench.settled()
    status = await bench.extraction.status()
    assert status.phase is Phase.IDLE
    assert status.last is not None
    assert status.last.created == 1
    await bench.configure(trigger_mode="on_idle")
    await bench.turn(id)
    waiting = await bench.extraction.status()
    assert (waiting.phase, waiting.conversation_id) == (Phase.WAITING, id)
    assert waiting.due_at is not None
    await bench.configure(auto_extract=False)
    assert (await bench.extraction.status()).phase is Phase.OFF


async def test_conversations_from_before_a_model_are_offered_and_only_the_chosen_one_is_sent(bench: Bench) -> None:
    choice, bench.models.choice = bench.models.choice, None
    older = await bench.offline_talk()
    newer = await bench.offline_talk()
    await bench.offline_talk(turns=1)  # too short to be worth offering
    bench.models.choice = choice
    await bench.settings.save(ROLES, {})
    offered = await bench.extraction.pending_conversations()
    assert [pending.conversation_id for pending in offered] == [newer, older]
    await bench.extraction.extract_pending([older])
    await bench.settled()
    assert len(bench.provider.requests) == 1
    assert [pending.conversation_id for pending in await bench.extraction.pending_conversations()] == [newer]
    assert REPLY in bench.provider.sent()
