"""Extraction in sentences."""

import pytest

from devflow.domain.errors import UserFacing
from devflow.domain.messages import english
from devflow.extraction.outcome import ExtractionOutcome, State
from devflow.extraction.situation import Reason, Verdict
from devflow.extraction.words import hint, sentence


def test_too_few_messages_are_told_with_both_numbers() -> None:
    assert hint(Verdict(Reason.TOO_FEW, 4, 2), english()) == "Extraction starts after 4 messages; this chat has 2."
    assert hint(Verdict(Reason.TOO_FEW, 1, 0), english()) == "Extraction starts after 1 message; this chat has 0."


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence(reason: Reason) -> None:
    assert hint(Verdict(reason, 4, 2), english()).endswith(".")


@pytest.mark.parametrize(
    "created, repeated, words",
    [
        (2, 0, "2 new candidates"),
        (1, 1, "1 new candidate, 1 seen again"),
        (0, 1, "Nothing new; 1 entry was seen again"),
        (0, 0, "Nothing worth keeping was found"),
    ],
)
def test_what_was_found_is_counted(created: int, repeated: int, words: str) -> None:
    assert sentence(ExtractionOutcome(created, repeated, State.DONE), english()) == words


@pytest.mark.parametrize("state", State)
def test_every_outcome_has_a_sentence(state: State) -> None:
    assert sentence(ExtractionOutcome(0, 0, state), english())


def test_a_failure_says_why() -> None:
    outcome = ExtractionOutcome(0, 0, State.FAILED, problem=UserFacing("{server} is away.", server="Here"))
    assert sentence(outcome, english()) == "Extraction failed: Here is away."
