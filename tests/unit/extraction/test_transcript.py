"""What of a conversation the model reads."""

from dataclasses import replace

import pytest

from devflow.domain.conversation import Message, MessageState, Role
from devflow.domain.ids import now
from devflow.extraction.transcript import Line, budget, find_quote, readable, transcript


def message(number: int, content: str, *, new: bool = True, role: Role = Role.USER) -> Message:
    return Message(f"m{number}", "c1", None, None, role, content, number, now(), extracted_at=None if new else now())


def test_empty_and_unfinished_messages_do_not_count_and_cut_ones_do() -> None:
    cut = replace(message(1, "half"), state=MessageState.PARTIAL)
    streaming = replace(message(2, "now"), state=MessageState.STREAMING)
    tool_step = message(3, "  ", role=Role.ASSISTANT)
    kept = readable([cut, streaming, tool_step, message(4, "whole")])
    assert [each.id for each in kept] == ["m1", "m4"]


def test_a_secret_that_the_cut_would_split_is_out_before_it_is_cut() -> None:
    key = "sk-proj-" + "aB3dE6gH9" * 6
    text = "x" * 380 + f" {key} " + "y" * 400
    (line,) = transcript([message(1, text)], characters=600)
    assert "aB3dE6gH9" not in line.text
    assert len(line.text) < 700


def test_new_messages_keep_twice_the_room_of_context() -> None:
    lines = transcript(
        [message(1, "a" * 9_000, new=False), message(2, "b" * 9_000), message(3, "short")], characters=3_000
    )
    assert [line.new for line in lines] == [False, True, True]
    assert lines[2].text == "short"
    assert 1.7 < lines[1].text.count("b") / lines[0].text.count("a") < 2.3


def test_beginning_and_end_of_a_long_message_stay() -> None:
    (line,) = transcript([message(1, "BEGINNING " + "x" * 5_000 + " END")], characters=1_000)
    assert line.text.startswith("BEGINNING")
    assert line.text.endswith("END")
    assert "characters left out" in line.text


@pytest.mark.parametrize(
    "window, attempt, characters",
    [(None, 1, 24_000), (4_096, 1, 2_048), (1_000_000, 1, 60_000), (4_096, 3, 600), (8_192, 2, 2_048)],
)
def test_the_room_follows_the_window_and_shrinks_with_each_refusal(
    window: int | None, attempt: int, characters: int
) -> None:
    assert budget(window, attempt=attempt) == characters


def test_a_quote_is_found_across_white_space_and_given_as_it_stands() -> None:
    lines = [Line("m1", "user", "one\n  two\tthree", new=True)]
    quote = find_quote(" “two three” ", lines)
    assert quote is not None
    assert (quote.text, quote.message_ids, quote.role) == ("two\tthree", ("m1",), "user")


def test_a_quote_from_context_or_of_a_word_or_two_letters_is_none() -> None:
    lines = [Line("m1", "user", "old words here", new=False), Line("m2", "user", "new", new=True)]
    assert find_quote("old words", lines) is None
    assert find_quote("new", lines) is None
