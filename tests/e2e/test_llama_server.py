"""The chat half of the main path against llama.cpp's own server with a small real model (spec 03, failures)."""

from collections.abc import Iterator

import pytest

from devflow.domain.conversation import ModelChoice
from devflow.domain.provider import ProviderDraft, Roles
from tests.e2e.conftest import Start
from tests.fakes.llama import MODEL, LlamaServer
from tests.support import hands
from tests.support.person import Person

pytestmark = pytest.mark.model

STORY = "Tell me a long story about a lighthouse keeper and the sea."

PATIENCE = 90.0
"""Seconds; a real model on a busy machine."""


@pytest.fixture
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as server:
        yield server


async def test_a_real_model_streams_stops_dies_and_is_asked_again(start: Start, llama: LlamaServer) -> None:
    async with start() as person:
        await _connect(person, llama)

        # it streams: the text grows in the transcript before the answer is finished
        await person.asks(STORY)
        await _grows(person, 1, times=3)

        # Stop keeps what was said, and marks it
        await person.clicks("stopButton")
        await person.misses("stopButton")
        kept = person.answer
        assert kept.strip()
        await person.sees("Stopped", on="turnEnd")
        await person.finds("continueButton")
        await person.finds("retryButton")

        # the server dies in the middle of an answer: one clear sentence and a way on; what was said stays
        await person.asks("Write a very long story about a lighthouse keeper. Write at least twenty paragraphs.")
        await _grows(person, 2, times=2)
        llama.kill()
        await person.misses("stopButton", within=PATIENCE)
        await person.finds("retryButton")
        said = person.words("turnEnd")
        assert "llama.cpp" in said
        assert "Traceback" not in said
        assert "Errno" not in said
        assert person.answer.strip()
        assert hands.answers()[0] == kept, "the first answer is as it was"

        # Retry while it is still dead says so again, and offers Retry again
        await person.clicks("retryButton")
        await person.until(
            lambda: "llama.cpp" in person.words("turnEnd") and hands.visible("retryButton"), "Retry again"
        )

        # it comes back at the same place, and Retry works: a new answer in the place of the broken one
        llama.start()
        broken = _length(2) or PATIENCE
        await person.clicks("retryButton")
        await person.until(lambda: hands.visible("stopButton") and _length(2) < broken, "a new answer", within=PATIENCE)
        await _grows(person, 2, times=2)
        await person.misses("retryButton")
        await person.clicks("stopButton")
        await person.misses("stopButton")


async def test_a_whole_answer_of_a_real_model_is_finished_and_kept(start: Start, llama: LlamaServer) -> None:
    async with start() as person:
        await _connect(person, llama)
        await person.publish_by_service(
            "The name of the harbour", "The harbour of our project is called Tangerine Bay."
        )
        await person.asks("What is the name of the harbour of our project?")
        await person.until(lambda: person.answer and not hands.visible("stopButton"), "an answer", within=PATIENCE)
        assert person.words("retrievalStatus") == "1 library entry found"
        assert person.words("turnEnd") == ""
        answer = person.answer
    async with start() as person:
        await person.until(lambda: person.answer == answer, "the same answer after a restart")


async def _connect(person: Person, llama: LlamaServer) -> None:
    models = person.core.models
    config = await models.add(ProviderDraft("llama.cpp", llama.base_url, "llama_cpp", models=(MODEL,)))
    await models.save_roles(Roles(main=ModelChoice(config.id, MODEL)))
    await person.sees(MODEL, on="modelPicker")


async def _grows(person: Person, answer: int, *, times: int) -> None:
    """The so-many-th answer (from 1) is being written: its text grows, and Stop is there."""
    length = 0
    for _ in range(times):
        await person.until(lambda seen=length: _length(answer) > seen, f"more of answer {answer}", within=PATIENCE)
        assert hands.visible("stopButton"), "it is still being written"
        length = _length(answer)


def _length(answer: int) -> int:
    texts = hands.answers()
    return len(texts[answer - 1]) if len(texts) >= answer else 0
