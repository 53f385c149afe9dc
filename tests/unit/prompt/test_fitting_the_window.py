"""Whatever a conversation is made of, its request fits the window, or nothing is sent and the sentence says why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from devflow.domain.conversation import Message, MessageState, Role
from devflow.domain.ids import new_id, now
from devflow.domain.receipt import Phase, Receipt
from devflow.domain.request import (
    AssistantTurn,
    Injected,
    Lookup,
    ModelRequest,
    NotUsed,
    ToolResult,
    ToolSpec,
    UserText,
    WireCall,
)
from devflow.domain.run import CallState, Risk, ToolCall, arguments_hash
from devflow.domain.tokens import estimate_tokens
from devflow.prompt.budget import output_reserve
from devflow.prompt.compose import Turn, compose_title, compose_turn
from devflow.prompt.estimate import estimated
from devflow.prompt.history import result_text
from devflow.prompt.shorten import short_arguments, shortened
from devflow.prompt.templates import Templates
from devflow.prompt.too_long import TooLong
from devflow.prompt.trim import Marks, trim

TEMPLATES = Templates(Path(__file__).parents[3] / "resources")
NOW = now()
SENTENCE = {
    "prose": "A sentence about the harbour and the lighthouse. ",
    "中文": "灯塔看守人每天傍晚点灯，记录潮水。",
    "code": "for key, value in sorted(table.items()):\n    print(f'{key}={value}')\n",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg",
    "emoji": "🙂🚢⚓",
    "mixed": "Leuchtturmwärter überprüft 灯塔 `lamp_on()` – ok. ",
}


@st.composite
def texts(draw: st.DrawFn, most: int = 6_000) -> str:
    """A text of a script of its own, of any length up to `most` characters: short ones and long ones alike."""
    piece = SENTENCE[draw(st.sampled_from(sorted(SENTENCE)))]
    length = draw(st.one_of(st.integers(1, 60), st.integers(1, most)))
    return (piece * (length // len(piece) + 1))[:length]


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Message], dict[str, tuple[ToolCall, ...]]]:
    """Turns of a question, any number of steps with calls in any state, and an answer; the last one may be open."""
    messages: list[Message] = []
    calls: dict[str, tuple[ToolCall, ...]] = {}
    turns = draw(st.integers(1, 6))
    for turn in range(turns):
        messages.append(Message(new_id(), "c", None, None, Role.USER, draw(texts(3_000)), 1, NOW))
        for _ in range(draw(st.integers(0, 3))):
            step = answer(draw(st.sampled_from(["", "Let me look."])))
            messages.append(step)
            calls[step.id] = tuple(draw(asked(step, place)) for place in range(draw(st.integers(1, 3))))
        if turn < turns - 1 and draw(st.booleans()):
            messages.append(answer(draw(texts())))
    if draw(st.booleans()):
        messages.append(replace(answer(draw(texts())), state=MessageState.PARTIAL))
    return messages, calls


def answer(text: str) -> Message:
    return Message(new_id(), "c", None, "run", Role.ASSISTANT, text, 2, NOW)


@st.composite
def asked(draw: st.DrawFn, message: Message, place: int) -> ToolCall:
    arguments = json.dumps({"path": "a.txt", "content": draw(texts())}, ensure_ascii=False)
    state = draw(st.sampled_from(list(CallState)))
    return ToolCall(
        new_id(), "run", message.id, place, f"{message.id}.{place}", "write_file", arguments,
        arguments_hash("write_file", arguments), state, Risk.WRITES,
        result=draw(texts(20_000)) if state in (CallState.DONE, CallState.FAILED) else "",
        error="It failed." if state is CallState.FAILED else "", edited=draw(st.booleans()),
    )  # fmt: skip


LOOKUPS = st.one_of(
    st.just(NotUsed("off")), texts(1_200).map(lambda text: Injected(f"<<<K1 n>>>\n{text}\n<<<end K1 n>>>", ()))
)
TOOLS = st.lists(
    texts(400).map(lambda text: ToolSpec("write_file", text, {"type": "object"})), max_size=3, unique_by=id
).map(tuple)
WINDOWS = st.one_of(st.integers(256, 3_000), st.integers(1_000, 40_000))


NEWEST_STEP = 2_600
"""Tokens of three calls and an answer's text at their shortest."""


def composed(
    talk: tuple[list[Message], dict[str, tuple[ToolCall, ...]]],
    window: int,
    *,
    library: Lookup,
    pages: Lookup,
    tools: tuple[ToolSpec, ...],
    ratio: float = 1.0,
) -> ModelRequest:
    messages, calls = talk
    question = next(message.content for message in reversed(messages) if message.role is Role.USER)
    receipt = Receipt("r", "c", "run", 2, Phase.TURN, "n", library, pages, NOW)
    return compose_turn(
        Turn("m", messages, calls, question, receipt, None, tools, window=window, ratio=ratio), TEMPLATES
    )


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(
    talk=conversations(),
    window=WINDOWS,
    library=LOOKUPS,
    pages=LOOKUPS,
    tools=TOOLS,
    ratio=st.sampled_from([0.5, 0.83, 1.0, 1.4, 2.0]),
)
def test_a_request_never_exceeds_the_window_and_keeps_what_must_stay(
    talk: tuple[list[Message], dict[str, tuple[ToolCall, ...]]],
    window: int,
    library: Lookup,
    pages: Lookup,
    tools: tuple[ToolSpec, ...],
    ratio: float,
) -> None:
    messages, _ = talk
    asked_in = next(message for message in reversed(messages) if message.role is Role.USER)
    question = asked_in.content
    room = (window - output_reserve(window)) / ratio
    try:
        request = composed(talk, window, library=library, pages=pages, tools=tools, ratio=ratio)
    except TooLong:
        must_stay = composed(([asked_in], {}), 10**9, library=library, pages=pages, tools=tools)
        assert estimated(must_stay) + NEWEST_STEP > room
        return
    assert estimated(request) * ratio <= window - output_reserve(window)
    measure = request.measure
    shown = measure.system + measure.knowledge + measure.pages + measure.history
    assert shown <= window - output_reserve(window)
    if isinstance(library, Injected):
        assert request.system.startswith(library.block)
    if isinstance(pages, Injected):
        assert any(pages.block in message.text for message in request.messages if isinstance(message, UserText))
    asked = next(message.text for message in reversed(request.messages) if holds(message, question))
    assert question in asked
    assert_every_call_is_answered(request)
    assert isinstance(request.messages[0], UserText)


def holds(message: object, question: str) -> bool:
    return isinstance(message, UserText) and question in message.text


def assert_every_call_is_answered(request: ModelRequest) -> None:
    """Each call is followed by its result before the next text, and no result stands without its call."""
    waiting: list[str] = []
    for message in request.messages:
        match message:
            case AssistantTurn(_, calls):
                assert not waiting
                waiting = [call.wire_id for call in calls]
                assert all(json.loads(call.arguments)["path"] == "a.txt" for call in calls)
            case ToolResult(wire_id):
                assert wire_id == waiting.pop(0)
            case UserText():
                assert not waiting
    assert not waiting


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(talk=conversations(), window=WINDOWS)
def test_what_was_left_out_is_counted_and_nothing_is_left_out_that_fits(
    talk: tuple[list[Message], dict[str, tuple[ToolCall, ...]]], window: int
) -> None:
    whole = composed(talk, 10**9, library=NotUsed("off"), pages=NotUsed("off"), tools=())
    assert (whole.measure.trimmed, whole.measure.shortened) == (0, 0)
    try:
        request = composed(talk, window, library=NotUsed("off"), pages=NotUsed("off"), tools=())
    except TooLong:
        assert estimated(whole) > window - output_reserve(window)
        return
    fits = estimated(whole) <= window - output_reserve(window)
    assert (request.messages == whole.messages) == fits
    assert (request.measure.trimmed + request.measure.shortened > 0) == (not fits)


@pytest.mark.parametrize("text", ["灯塔看守人每天傍晚点灯。" * 900, "A lighthouse. " * 900, "x" * 9_000])
def test_a_title_is_asked_for_within_the_smallest_window(text: str) -> None:
    request = compose_title("m", text, text, TEMPLATES)
    assert request.max_output_tokens is not None
    assert estimated(request) + request.max_output_tokens <= 2_048


# the rules, one by one ------------------------------------------------------------------------------------------------

MARKS = Marks("[output]", "[part]", "[short]")


def step(number: int, *, arguments: str = '{"path": "a"}', output: str = "x") -> tuple[AssistantTurn, ToolResult]:
    return AssistantTurn("", (WireCall(f"w{number}", "read", arguments),)), ToolResult(f"w{number}", "read", output)


LONG = "word " * 2_000


def test_old_turns_go_before_anything_of_the_newest_one() -> None:
    messages = (UserText("old"), AssistantTurn(LONG), UserText("Q"), *step(1, output=LONG))
    trimmed = trim(messages, 3_700, MARKS)
    assert trimmed.messages == (UserText("Q"), *step(1, output=LONG))
    assert (trimmed.left_out, trimmed.shortened, trimmed.over) == (2, 0, 0)


def test_the_outputs_of_older_steps_give_way_to_the_newest() -> None:
    messages = (UserText("Q"), *step(1, output=LONG), *step(2, output=LONG))
    trimmed = trim(messages, 3_700, MARKS)
    assert [message.text for message in trimmed.messages if isinstance(message, ToolResult)] == ["[output]", LONG]
    assert (trimmed.left_out, trimmed.shortened) == (0, 1)


def test_of_an_old_call_the_long_arguments_are_cut_and_the_short_ones_stay() -> None:
    arguments = json.dumps({"path": "docs/plan.md", "content": LONG})
    trimmed = trim((UserText("Q"), *step(1, arguments=arguments), *step(2, output=LONG)), 3_800, MARKS)
    old = trimmed.messages[1]
    assert isinstance(old, AssistantTurn)
    kept = json.loads(old.calls[0].arguments)
    assert kept["path"] == "docs/plan.md"
    assert kept["content"] == f"{LONG[:200]}… [short]"


def test_older_steps_are_dropped_whole_when_even_their_shells_are_too_many() -> None:
    shells = [message for number in range(200) for message in step(number)]
    trimmed = trim((UserText("Q"), *shells), 400, MARKS)
    assert trimmed.left_out > 150
    assert isinstance(trimmed.messages[1], AssistantTurn), "a step begins with its call"
    assert trimmed.messages[-2:] == step(199)


def test_the_newest_outputs_share_what_room_there_is_and_the_short_one_stays_whole() -> None:
    asking = AssistantTurn("", ())
    results = (ToolResult("a", "read", "short"), ToolResult("b", "read", LONG), ToolResult("c", "read", LONG * 3))
    trimmed = trim((UserText("Q"), asking, *results), 2_000, MARKS)
    texts_left = [message.text for message in trimmed.messages if isinstance(message, ToolResult)]
    assert texts_left[0] == "short"
    sizes = [estimate_tokens(text) for text in texts_left[1:]]
    assert all(900 < size <= 1_000 for size in sizes)
    assert all("\n[part]\n" in text for text in texts_left[1:])
    assert (trimmed.shortened, trimmed.over) == (2, 0)


def test_the_answer_that_is_continued_keeps_its_end() -> None:
    trimmed = trim((UserText("Q"), AssistantTurn(f"{LONG}THE END")), 1_000, MARKS)
    assert isinstance(trimmed.messages[1], AssistantTurn)
    assert trimmed.messages[1].text.endswith("THE END")
    assert trimmed.over == 0


def test_of_very_many_calls_at_once_the_first_stay_each_with_its_result() -> None:
    calls = tuple(WireCall(f"w{number}", "search", '{"query": "harbour"}') for number in range(500))
    results = tuple(ToolResult(call.wire_id, "search", "Only 64 calls at once are run.") for call in calls)
    trimmed = trim((UserText("Q"), AssistantTurn("", calls), *results), 3_000, MARKS)
    asking, *answers = trimmed.messages[1:]
    assert isinstance(asking, AssistantTurn)
    assert 20 < len(asking.calls) == len(answers) < 200
    assert asking.calls == calls[: len(answers)]
    assert tuple(answers) == results[: len(answers)]
    assert trimmed.over == 0


def test_what_cannot_fit_says_by_how_much() -> None:
    assert trim((UserText(LONG),), 1_000, MARKS).over > 2_000


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(output=texts(30_000), tokens=st.integers(120, 4_000), edited=st.booleans())
@example(output="<<<end read_file 0>>>\n" * 900, tokens=500, edited=True)
def test_a_shortened_output_keeps_its_fences_and_says_that_it_is_not_whole(
    output: str, tokens: int, edited: bool
) -> None:
    call = ToolCall(
        new_id(), "run", "m", 0, "w", "read_file", "{}", arguments_hash("read_file", "{}"), CallState.DONE, Risk.READS,
        result=output, edited=edited,
    )  # fmt: skip
    text = result_text(call, TEMPLATES, "en")
    short = shortened(text, tokens, "[part]")
    assert estimate_tokens(short) <= max(tokens, estimate_tokens(text) if short == text else tokens)
    opening, closing = text.splitlines()[1 if not edited else 3], text.splitlines()[-1]
    assert opening in short.splitlines()
    assert short.endswith(f"\n{closing}")
    assert short == text or "\n[part]\n" in short


def test_arguments_of_many_small_parts_lose_their_lists_and_then_everything() -> None:
    many = {"path": "a.txt", "tags": ["x" * 99] * 99}
    assert json.loads(short_arguments(json.dumps(many), "[short]")) == {"path": "a.txt"}
    names = {f"name {number}": "x" for number in range(500)}
    assert short_arguments(json.dumps(names), "[short]") == "{}"


def test_a_name_that_no_tool_has_is_cut_too() -> None:
    asking = AssistantTurn("", (WireCall("w", "x" * 9_000, "{}"),))
    trimmed = trim((UserText("Q"), asking, ToolResult("w", "x", "There is no such tool.")), 400, MARKS)
    assert trimmed.over == 0
    assert isinstance(trimmed.messages[1], AssistantTurn)
    assert trimmed.messages[1].calls[0].tool == "x" * 64


@pytest.mark.parametrize("broken", ["{" * 300, "[1" * 300, "no json " * 100, json.dumps("x" * 900)])
def test_arguments_that_are_no_json_are_never_left_long(broken: str) -> None:
    assert len(short_arguments(broken, "[short]")) <= 200
