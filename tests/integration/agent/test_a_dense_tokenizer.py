"""A real model whose tokenizer needs far more tokens for Chinese than is estimated: refused, learnt from, answered."""

from collections.abc import Iterator

import pytest

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.events import TextArrived
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.models.calibration import Calibration
from tests.fakes.llama import CONTEXT, MODEL, LlamaServer
from tests.integration.agent.conftest import Processes

pytestmark = pytest.mark.model

SENTENCE = "灯塔看守人每天傍晚点灯，记录潮水和风向，然后读一本旧书。"


@pytest.fixture
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as server:
        yield server


async def test_a_refusal_of_the_server_teaches_how_dense_its_tokens_are(
    processes: Processes, llama: LlamaServer
) -> None:
    bench = await processes.start()
    config = await bench.core.models.add(ProviderDraft("llama.cpp", llama.base_url, "llama_cpp", models=(MODEL,)))
    choice = ModelChoice(config.id, MODEL)
    conversation = await bench.conversation()
    conversations, turns = bench.core.conversations, bench.core.turns

    # an older turn that would fit by the estimate and does not by the model's own count
    await conversations.set_model(conversation.id, OFFLINE)
    await turns.wait((await turns.send(conversation.id, SENTENCE * 21)).id)
    await conversations.set_model(conversation.id, choice)

    run = await turns.send(conversation.id, SENTENCE * 10, tools=())
    await bench.event(TextArrived, run_id=run.id, patience=60)
    run = await turns.cancel(run.id)
    assert run.state is RunState.CANCELLED
    assert run.measure is not None
    assert run.measure.trimmed == 2, "the older question and its answer"
    assert run.measure.window == CONTEXT
    ratio = await Calibration(bench.core.settings).ratio(choice)
    assert 1.2 < ratio <= 2.0

    # known from now on: the next request is made to fit before it is sent
    run = await turns.send(conversation.id, SENTENCE * 8, tools=())
    await bench.event(TextArrived, run_id=run.id, patience=60)
    run = await turns.cancel(run.id)
    assert run.measure is not None
    assert run.measure.trimmed >= 2
