"""Sending, streaming, stopping, trying again: the life of a run without tools."""

import asyncio
import time

import pytest

from devflow.domain.conversation import Draft, MessageState, ModelChoice, Role
from devflow.domain.errors import InvalidInput, NotFound, Refused
from devflow.domain.events import Event, MessageEnded, MessageStarted, RunChanged, TextArrived
from devflow.domain.run import Run, RunState
from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes


async def test_a_message_is_answered_and_both_are_kept(bench: Bench, server: OpenAIServer) -> None:
    server.script("Because of the lock.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why does it hang?")
    assert run.state is RunState.COMPLETED
    question, answer = await bench.messages(conversation)
    assert (question.content, question.role) == ("Why does it hang?", Role.USER)
    assert (answer.content, answer.state) == ("Because of the lock.", MessageState.COMPLETE)
    assert (answer.model, answer.run_id) == ("scripted", run.id)
    assert answer.usage is not None
    assert answer.usage.output_tokens == 10
    assert server.requests[0].last_user == "Why does it hang?"


async def test_the_text_arrives_in_pieces_between_the_start_and_the_end_of_its_message(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script("A longer answer that comes in several pieces.")
    await bench.ask(await bench.conversation(), "Why?")
    kinds = [type(e) for e in bench.events if isinstance(e, MessageStarted | TextArrived | MessageEnded | RunChanged)]
    assert kinds[:3] == [RunChanged, RunChanged, MessageStarted]
    assert kinds.count(TextArrived) > 1
    assert kinds[-2:] == [MessageEnded, RunChanged]
    assert "".join(event.text for event in bench.of(TextArrived)) == "A longer answer that comes in several pieces."
    states = [event.state for event in bench.of(RunChanged)]
    assert states == [RunState.QUEUED, RunState.CALLING_MODEL, RunState.COMPLETED]


async def test_reasoning_is_kept_apart_from_the_answer(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn("Yes.", reasoning="Let me think."))
    conversation = await bench.conversation()
    await bench.ask(conversation, "Is it?")
    answer = await bench.answer(conversation)
    assert (answer.content, answer.reasoning) == ("Yes.", "Let me think.")


async def test_the_next_question_carries_what_was_said_before(bench: Bench, server: OpenAIServer) -> None:
    server.script("One.", "Two.")
    conversation = await bench.conversation()
    await bench.ask(conversation, "First?")
    await bench.ask(conversation, "Second?")
    said = [(m["role"], m["content"]) for m in server.requests[1].messages[1:]]
    assert said == [("user", "First?"), ("assistant", "One."), ("user", "Second?")]


@pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "half \ud800"])
async def test_a_message_that_cannot_be_sent_is_refused_and_nothing_is_recorded(bench: Bench, text: str) -> None:
    conversation = await bench.conversation()
    with pytest.raises(InvalidInput):
        await bench.core.turns.send(conversation.id, text)
    assert await bench.messages(conversation) == ()
    assert await bench.states(conversation) == []


async def test_sending_to_an_unknown_conversation_is_an_error(bench: Bench) -> None:
    with pytest.raises(NotFound):
        await bench.core.turns.send("nowhere", "Hello?")


async def test_sending_clears_the_draft(bench: Bench, server: OpenAIServer) -> None:
    server.script("Yes.")
    conversation = await bench.conversation()
    await bench.core.conversations.save_draft(conversation.id, Draft("Is it?", ("wiki/a.md",)))
    assert (await bench.core.conversations.get(conversation.id)).draft == Draft("Is it?", ("wiki/a.md",))
    await bench.ask(conversation, "Is it?")
    assert (await bench.core.conversations.get(conversation.id)).draft == Draft()


async def test_a_conversation_is_marked_running_while_its_run_is(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    assert (await bench.core.conversations.get(conversation.id)).running
    gate.open()
    await bench.core.turns.wait(run.id)
    assert not (await bench.core.conversations.get(conversation.id)).running


async def test_two_conversations_stream_at_once(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]), "Meanwhile.")
    first, second = await bench.conversation(), await bench.conversation()
    run = await bench.core.turns.send(first.id, "Count.")
    await bench.event(TextArrived)
    assert (await bench.ask(second, "And here?")).state is RunState.COMPLETED
    gate.open()
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert [(await bench.answer(each)).content for each in (first, second)] == ["One two.", "Meanwhile."]


# a message while a run streams -------------------------------------------------------------------------------------


async def test_a_message_sent_while_a_run_streams_is_queued_and_sent_when_it_ends(
    bench: Bench, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]), "Three.")
    conversation = await bench.conversation()
    first = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    assert (await bench.core.turns.send(conversation.id, "Go on.")).id == first.id
    assert (await bench.core.conversations.get(conversation.id)).queued == "Go on."
    assert len(await bench.messages(conversation)) == 2
    gate.open()
    await bench.core.turns.wait(first.id)
    second = (await bench.core.conversations.runs(conversation.id))[1]
    await bench.core.turns.wait(second.id)
    assert [m.content for m in await bench.messages(conversation)] == ["Count.", "One two.", "Go on.", "Three."]
    assert (await bench.core.conversations.get(conversation.id)).queued == ""


async def test_the_queued_message_can_be_edited_and_taken_back(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    await bench.core.turns.send(conversation.id, "Go on.")
    await bench.core.turns.send(conversation.id, "To ten.")
    assert (await bench.core.conversations.get(conversation.id)).queued == "Go on.\n\nTo ten."
    await bench.core.conversations.set_queued(conversation.id, "")
    gate.open()
    await bench.core.turns.wait(run.id)
    assert await bench.states(conversation) == [RunState.COMPLETED]


async def test_after_a_failure_the_queued_message_waits(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, "two"], cut=True))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    await bench.core.turns.send(conversation.id, "Go on.")
    gate.open()
    assert (await bench.core.turns.wait(run.id)).state is RunState.FAILED
    assert (await bench.core.conversations.get(conversation.id)).queued == "Go on."


# stopping ----------------------------------------------------------------------------------------------------------


async def test_stop_keeps_the_text_marked_partial_and_is_announced_once(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(["One", Gate()]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    stopped = await bench.core.turns.cancel(run.id)
    assert stopped.state is RunState.CANCELLED
    answer = await bench.answer(conversation)
    assert (answer.content, answer.state) == ("One", MessageState.PARTIAL)
    assert bench.of(MessageEnded)
    assert [e.state for e in bench.of(RunChanged)].count(RunState.CANCELLED) == 1


async def test_stop_takes_effect_within_100_ms(bench: Bench, server: OpenAIServer) -> None:
    """The best of five: another program may hold the machine for a while, the stop itself may not."""
    conversation = await bench.conversation()
    took = []
    for _ in range(5):
        server.script(Turn(["One", Gate()]))
        bench.events.clear()
        run = await bench.core.turns.send(conversation.id, "Count.")
        await bench.event(TextArrived)
        began = time.perf_counter()
        await bench.core.turns.cancel(run.id)
        took.append(time.perf_counter() - began)
        await asyncio.to_thread(server.requests[-1].aborted.wait, 5)
        assert server.requests[-1].aborted.is_set(), "the server sees the connection close"
    assert min(took) <= 0.1


async def test_a_stop_before_the_first_character_leaves_no_message(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn("Never seen.", before=gate))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await asyncio.to_thread(gate.wait_reached)
    assert (await bench.core.turns.cancel(run.id)).state is RunState.CANCELLED
    assert [m.content for m in await bench.messages(conversation)] == ["Count."]


async def test_stopping_in_the_very_moment_of_sending_works(bench: Bench) -> None:
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    assert (await bench.core.turns.cancel(run.id)).state is RunState.CANCELLED
    assert (await bench.core.turns.wait(run.id)).state is RunState.CANCELLED


async def test_after_20_double_stops_the_connection_pool_still_works(bench: Bench, server: OpenAIServer) -> None:
    conversation = await bench.conversation()
    for _ in range(20):
        server.script(Turn(["One", Gate()]))
        bench.events.clear()
        run = await bench.core.turns.send(conversation.id, "Count.")
        await bench.event(TextArrived)
        await asyncio.gather(bench.core.turns.cancel(run.id), bench.core.turns.cancel(run.id))
    server.script("Still here.")
    assert (await bench.ask(conversation, "And now?")).state is RunState.COMPLETED
    assert set(await bench.states(conversation)) == {RunState.CANCELLED, RunState.COMPLETED}


async def test_a_stopped_run_is_over_and_stopping_it_again_changes_nothing(bench: Bench, server: OpenAIServer) -> None:
    server.script("Done.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Count.")
    assert (await bench.core.turns.cancel(run.id)).state is RunState.COMPLETED


async def test_what_is_gone_on_with_in_the_moment_of_its_stop_goes_on(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(["Half", Gate()]), Turn(" and the rest."))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "count")
    await bench.event(TextArrived)
    going_on: list[asyncio.Task[Run]] = []

    def go_on(event: Event) -> None:
        if isinstance(event, RunChanged) and event.state is RunState.CANCELLED and not going_on:
            going_on.append(asyncio.ensure_future(bench.core.turns.continue_run(run.id)))

    bench.core.hub.subscribe(go_on)
    await bench.core.turns.cancel(run.id)
    await going_on[0]
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED


async def test_another_process_can_stop_a_run(bench: Bench, server: OpenAIServer, processes: Processes) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    other = await processes.start()
    await other.core.turns.cancel(run.id)
    gate.open()
    assert (await bench.core.turns.wait(run.id)).state is RunState.CANCELLED
    assert (await bench.answer(conversation)).state is MessageState.PARTIAL


# failing and trying again ------------------------------------------------------------------------------------------


async def test_a_provider_failure_ends_the_run_with_a_clear_sentence_and_keeps_the_text(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn("Half of an", cut=True))
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert run.problem.retryable
    assert run.problem.message
    assert run.problem.hint
    answer = await bench.answer(conversation)
    assert (answer.content, answer.state) == ("Half of an", MessageState.PARTIAL)


async def test_retry_asks_again_and_keeps_the_cut_answer_beside_the_new_one(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn("Half of an", cut=True), "A whole answer.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    retried = await bench.core.turns.retry(run.id)
    assert retried.id == run.id
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    path = await bench.core.conversations.path(conversation.id)
    assert [m.content for m in path.messages] == ["Why?", "A whole answer."]
    family = path.siblings[path.messages[1].id]
    assert (len(family.ids), family.index) == (2, 1)
    assert server.requests[1].messages[1:] == [{"role": "user", "content": "Why?"}]


@pytest.mark.parametrize("still_dead", [Turn(status=401, error="Incorrect API key."), Turn(reasoning="Hm", cut=True)])
async def test_a_retry_that_fails_before_any_text_leaves_the_cut_answer_shown(
    bench: Bench, server: OpenAIServer, still_dead: Turn
) -> None:
    server.script(Turn("Half of an", cut=True), still_dead, still_dead, " answer.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    for _ in range(2):
        await bench.core.turns.retry(run.id)
        assert (await bench.core.turns.wait(run.id)).state is RunState.FAILED
        assert [m.content for m in await bench.messages(conversation)] == ["Why?", "Half of an"]
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert [m.content for m in await bench.messages(conversation)] == ["Why?", "Half of an", " answer."]


async def test_a_retry_stopped_before_any_text_leaves_the_cut_answer_shown(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn("Half of an", cut=True), Turn([gate, "Late."]))
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    await bench.core.turns.retry(run.id)
    await asyncio.to_thread(gate.wait_reached)
    assert (await bench.core.turns.cancel(run.id)).state is RunState.CANCELLED
    gate.open()
    assert [m.content for m in await bench.messages(conversation)] == ["Why?", "Half of an"]


async def test_continue_goes_on_from_the_cut_answer(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn("Half of an", cut=True), " answer.", "More.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert [m["role"] for m in server.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert [m.content for m in await bench.messages(conversation)] == ["Why?", "Half of an", " answer."]
    await bench.ask(conversation, "And?")
    assert server.requests[2].messages[2] == {"role": "assistant", "content": "Half of an answer."}


async def test_retry_uses_the_model_that_is_chosen_now(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(status=500, error="down"), Turn(status=500, error="down"), Turn(status=500, error="down"))
    conversation = await bench.conversation()
    provider = (await bench.core.models.list())[0]
    await bench.core.conversations.set_model(conversation.id, ModelChoice("gone", "x"))
    run = await bench.ask(conversation, "Why?")
    assert run.state is RunState.FAILED
    await bench.core.conversations.set_model(conversation.id, ModelChoice(provider.id, "other"))
    server._turns.clear()
    server.script("Yes.")
    await bench.core.turns.retry(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert server.requests[-1].body["model"] == "other"


async def test_an_answer_cut_at_the_output_limit_can_be_continued(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn("Half of an", finish="length"), " answer.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    assert run.problem is not None
    assert (run.state, run.problem.code) == (RunState.FAILED, "output_limit")
    await bench.core.turns.continue_run(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED


async def test_an_empty_answer_is_a_failure_that_says_so(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(""))
    run = await bench.ask(await bench.conversation(), "Why?")
    assert run.problem is not None
    assert (run.state, run.problem.code) == (RunState.FAILED, "empty_answer")


async def test_a_completed_run_cannot_be_retried(bench: Bench, server: OpenAIServer) -> None:
    server.script("Yes.")
    run = await bench.ask(await bench.conversation(), "Why?")
    with pytest.raises(Refused):
        await bench.core.turns.retry(run.id)


async def test_a_failed_run_that_the_conversation_left_behind_cannot_be_continued(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn("Half", cut=True), "Yes.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Why?")
    await bench.ask(conversation, "Again?")
    with pytest.raises(Refused):
        await bench.core.turns.continue_run(run.id)


@pytest.mark.expects_log
async def test_a_bug_ends_the_run_with_a_calm_sentence_and_is_logged_whole(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(choice: ModelChoice) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(bench.core.models, "resolve", broken)
    run = await bench.ask(await bench.conversation(), "Why?")
    assert run.problem is not None
    assert (run.state, run.problem.code) == (RunState.FAILED, "internal")
    assert "ZeroDivisionError" in caplog.text


# alternatives ------------------------------------------------------------------------------------------------------


async def test_regenerate_makes_an_alternative_and_both_can_be_shown(bench: Bench, server: OpenAIServer) -> None:
    server.script("First.", "Second.")
    conversation = await bench.conversation()
    await bench.ask(conversation, "Why?")
    first = await bench.answer(conversation)
    run = await bench.core.turns.regenerate(first.id)
    await bench.core.turns.wait(run.id)
    path = await bench.core.conversations.path(conversation.id)
    assert [m.content for m in path.messages] == ["Why?", "Second."]
    assert path.siblings[path.messages[1].id].ids[0] == first.id
    assert server.requests[1].messages == server.requests[0].messages
    shown = await bench.core.conversations.choose_sibling(first.id)
    assert [m.content for m in shown.messages] == ["Why?", "First."]


@pytest.mark.parametrize("broken", [Turn(status=400, error="no"), Turn("", reasoning="Let me think")])
async def test_a_regenerated_answer_that_fails_without_a_word_leaves_the_former_one_shown(
    bench: Bench, server: OpenAIServer, broken: Turn
) -> None:
    server.script("First.", broken, broken, "Second.")
    conversation = await bench.conversation()
    await bench.ask(conversation, "Why?")
    first = await bench.answer(conversation)
    run = await bench.core.turns.regenerate(first.id)
    for _ in range(2):
        failed = await bench.core.turns.wait(run.id)
        assert (failed.state, failed.beside) == (RunState.FAILED, first.id)
        assert await bench.answer(conversation) == first
        await bench.core.turns.retry(run.id)
    done = await bench.core.turns.wait(run.id)
    assert (done.state, done.beside) == (RunState.COMPLETED, None)
    path = await bench.core.conversations.path(conversation.id)
    assert [m.content for m in path.messages] == ["Why?", "Second."]
    assert first.id in path.siblings[path.messages[1].id].ids


async def test_after_a_regeneration_that_was_stopped_without_a_word_the_talk_goes_on_from_the_former_answer(
    bench: Bench, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script("First.", Turn("Second.", before=gate), "Third.")
    conversation = await bench.conversation()
    await bench.ask(conversation, "Why?")
    run = await bench.core.turns.regenerate((await bench.answer(conversation)).id)
    await server.arrival(2)
    await bench.core.turns.cancel(run.id)
    gate.open()
    await bench.ask(conversation, "And?")
    assert [m.content for m in await bench.messages(conversation)] == ["Why?", "First.", "And?", "Third."]


async def test_edit_and_resend_makes_a_sibling_and_destroys_nothing(bench: Bench, server: OpenAIServer) -> None:
    server.script("First.", "Follow.", "Other.")
    conversation = await bench.conversation()
    await bench.ask(conversation, "Why?")
    await bench.ask(conversation, "And?")
    question = (await bench.messages(conversation))[0]
    run = await bench.core.turns.resend(question.id, "Why not?")
    await bench.core.turns.wait(run.id)
    assert [m.content for m in await bench.messages(conversation)] == ["Why not?", "Other."]
    old = await bench.core.conversations.choose_sibling(question.id)
    assert [m.content for m in old.messages] == ["Why?", "First.", "And?", "Follow."]
    assert old.siblings[question.id].ids == (question.id, run.user_message_id)


async def test_neither_is_possible_while_a_run_is_open(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, " two."]))
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    question, answer = await bench.messages(conversation)
    with pytest.raises(Refused):
        await bench.core.turns.regenerate(answer.id)
    with pytest.raises(Refused):
        await bench.core.turns.resend(question.id, "Other")
    with pytest.raises(Refused):
        await bench.core.turns.resend(answer.id, "Other")
    gate.open()
    await bench.core.turns.wait(run.id)


async def test_a_reader_who_chose_another_branch_stays_there_while_the_run_goes_on(
    bench: Bench, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script("First.", Turn(["Sec", gate, "ond."]))
    conversation = await bench.conversation()
    await bench.ask(conversation, "Why?")
    first = await bench.answer(conversation)
    bench.events.clear()
    run = await bench.core.turns.regenerate(first.id)
    await bench.event(TextArrived)
    await bench.core.conversations.choose_sibling(first.id)
    gate.open()
    await bench.core.turns.wait(run.id)
    assert (await bench.answer(conversation)).content == "First."


# closing -----------------------------------------------------------------------------------------------------------


async def test_closing_mid_stream_takes_less_than_a_second_and_the_run_can_be_continued_after_the_next_start(
    bench: Bench, server: OpenAIServer, processes: Processes
) -> None:
    server.script(Turn(["One", Gate()]), " two.")
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Count.")
    await bench.event(TextArrived)
    began = time.perf_counter()
    await processes.stop(bench)
    assert time.perf_counter() - began < 1
    again = await processes.start(background=True)
    assert await again.states(conversation) == [RunState.INTERRUPTED]
    answer = await again.answer(conversation)
    assert (answer.content, answer.state) == ("One", MessageState.PARTIAL)
    await again.core.turns.continue_run(run.id)
    assert (await again.core.turns.wait(run.id)).state is RunState.COMPLETED
