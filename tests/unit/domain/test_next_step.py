"""`next_step` over every kind of row it can meet."""

import itertools
from dataclasses import replace

import pytest

from devflow.domain.conversation import OFFLINE, Message, MessageState, Role
from devflow.domain.ids import now
from devflow.domain.next_step import MAX_IDENTICAL_CALLS, next_step, repeated_calls, step_limit
from devflow.domain.run import (
    MAX_STEPS,
    OPEN_STATES,
    SETTLED,
    AskApproval,
    CallModel,
    CallState,
    ExecuteTools,
    Finish,
    Problem,
    Risk,
    Run,
    RunState,
    ToolCall,
    Transcript,
    arguments_hash,
)

NOW = now()
RUN = Run("run", "conversation", "user", RunState.QUEUED, 0, "me", OFFLINE, 0, None, NOW)


def user(seq: int = 1) -> Message:
    return Message("user", "conversation", None, None, Role.USER, "Why?", seq, NOW)


def answer(seq: int = 2, state: MessageState = MessageState.COMPLETE, id: str = "answer") -> Message:
    return Message(id, "conversation", "user", "run", Role.ASSISTANT, "Because.", seq, NOW, state)


def call(
    state: CallState, position: int = 0, message: str = "answer", arguments: str = '{"path": "a"}', tool: str = "read"
) -> ToolCall:
    hashed = arguments_hash(tool, arguments)
    return ToolCall(f"{message}/{position}", "run", message, position, "w", tool, arguments, hashed, state, Risk.READS)


def transcript(*messages: Message, calls: tuple[ToolCall, ...] = (), run: Run = RUN) -> Transcript:
    by_message: dict[str, tuple[ToolCall, ...]] = {}
    for each in calls:
        by_message[each.message_id] = (*by_message.get(each.message_id, ()), each)
    return Transcript(run, messages, by_message)


@pytest.mark.parametrize("state", [state for state in RunState if state not in OPEN_STATES])
def test_a_run_that_is_over_stays_as_it_ended(state: RunState) -> None:
    problem = Problem("p", "A sentence.")
    ended = replace(RUN, state=state, problem=problem)
    assert next_step(transcript(user(), run=ended)) == Finish(state, problem)


@pytest.mark.parametrize("state", sorted(OPEN_STATES))
def test_a_question_without_an_answer_calls_the_model_whatever_the_open_state(state: RunState) -> None:
    assert next_step(transcript(user(), run=replace(RUN, state=state))) == CallModel()


@pytest.mark.parametrize("state", sorted(OPEN_STATES))
def test_an_answer_without_calls_completes_the_run(state: RunState) -> None:
    run = replace(RUN, state=state)
    assert next_step(transcript(user(), answer(), run=run)) == Finish(RunState.COMPLETED)


def test_a_message_left_streaming_by_a_crash_interrupts_the_run() -> None:
    assert next_step(transcript(user(), answer(state=MessageState.STREAMING))) == Finish(RunState.INTERRUPTED)


def test_a_cut_answer_interrupts_the_run_until_a_recovery_goes_on_from_it() -> None:
    cut = answer(seq=5, state=MessageState.PARTIAL)
    assert next_step(transcript(user(), cut)) == Finish(RunState.INTERRUPTED)
    assert next_step(transcript(user(), cut, run=replace(RUN, recovered_seq=4))) == Finish(RunState.INTERRUPTED)
    assert next_step(transcript(user(), cut, run=replace(RUN, recovered_seq=6))) == CallModel()


@pytest.mark.parametrize("state", list(CallState))
def test_each_state_of_a_single_call_has_its_step(state: CallState) -> None:
    step = next_step(transcript(user(), answer(), calls=(call(state),)))
    match state:
        case CallState.AWAITING:
            assert step == AskApproval(("answer/0",))
        case CallState.APPROVED:
            assert step == ExecuteTools(("answer/0",))
        case CallState.EXECUTING:
            assert step == Finish(RunState.INTERRUPTED)
        case _:
            assert state in SETTLED
            assert step == CallModel()


@pytest.mark.parametrize("states", list(itertools.product(CallState, repeat=2)))
def test_two_calls_are_both_settled_before_the_model_is_called(states: tuple[CallState, CallState]) -> None:
    step = next_step(transcript(user(), answer(), calls=(call(states[0], 0), call(states[1], 1))))
    ids = ("answer/0", "answer/1")
    if CallState.EXECUTING in states:
        expected: object = Finish(RunState.INTERRUPTED)
    elif CallState.APPROVED in states:
        expected = ExecuteTools(tuple(ids[i] for i in (0, 1) if states[i] is CallState.APPROVED))
    elif CallState.AWAITING in states:
        expected = AskApproval(tuple(ids[i] for i in (0, 1) if states[i] is CallState.AWAITING))
    else:
        expected = CallModel()
    assert step == expected


def test_calls_that_need_no_approval_run_before_the_run_pauses_for_the_others() -> None:
    calls = (call(CallState.AWAITING, 0), call(CallState.APPROVED, 1), call(CallState.AWAITING, 2))
    assert next_step(transcript(user(), answer(), calls=calls)) == ExecuteTools(("answer/1",))
    done = (calls[0], replace(calls[1], state=CallState.DONE), calls[2])
    assert next_step(transcript(user(), answer(), calls=done)) == AskApproval(("answer/0", "answer/2"))


def test_at_the_step_limit_the_run_stops_and_says_so() -> None:
    run = replace(RUN, steps=MAX_STEPS)
    step = next_step(transcript(user(), answer(), calls=(call(CallState.DONE),), run=run))
    assert step == Finish(RunState.FAILED, step_limit())
    assert next_step(transcript(user(), run=replace(RUN, steps=MAX_STEPS - 1))) == CallModel()


def test_a_pause_and_an_answer_are_reached_even_at_the_step_limit() -> None:
    run = replace(RUN, steps=MAX_STEPS)
    assert next_step(transcript(user(), answer(), run=run)) == Finish(RunState.COMPLETED)
    waiting = transcript(user(), answer(), calls=(call(CallState.AWAITING),), run=run)
    assert next_step(waiting) == AskApproval(("answer/0",))


def rounds(arguments: list[str], recovered_seq: int = 0) -> Transcript:
    messages = [user()]
    calls = []
    for i, text in enumerate(arguments):
        messages.append(answer(seq=i + 2, id=f"a{i}"))
        calls.append(call(CallState.DONE, message=f"a{i}", arguments=text))
    return transcript(*messages, calls=tuple(calls), run=replace(RUN, recovered_seq=recovered_seq))


def test_the_same_call_three_times_in_a_row_stops_the_run() -> None:
    assert MAX_IDENTICAL_CALLS == 3
    assert next_step(rounds(["x", "x", "x"])) == Finish(RunState.FAILED, repeated_calls())
    assert next_step(rounds(["y", "x", "x", "x"])) == Finish(RunState.FAILED, repeated_calls())


def test_other_calls_in_between_are_no_repetition() -> None:
    assert next_step(rounds(["x", "x"])) == CallModel()
    assert next_step(rounds(["x", "y", "x"])) == CallModel()
    assert next_step(rounds(["x", "x", "x", "y"])) == CallModel()


def test_continue_after_a_repetition_lets_the_run_go_on() -> None:
    assert next_step(rounds(["x", "x", "x"], recovered_seq=10)) == CallModel()
