"""Which model makes vectors, and what a test of a provider says of them."""

from __future__ import annotations

import json

import pytest

from devflow.domain.config import KEY
from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.errors import UserFacing
from devflow.domain.provider import LineState, Probe, ProviderDraft, TestLine
from devflow.knowledge.settings import Settings
from devflow.models.registry import Models
from tests.fakes.raw_server import RawServer
from tests.fakes.streams import DONE, chunk

CHAT = (chunk({"content": "one two"}) + chunk({}, "stop") + DONE).encode()


def draft(server: RawServer, *models: str) -> ProviderDraft:
    return ProviderDraft("Mine", server.base_url, models=models)


def answer(server: RawServer, value: object, status: int = 200) -> None:
    server.answer(json.dumps(value).encode(), status=status, kind="application/json")


async def embeddings_line(models: Models, server: RawServer, listed: list[str], *, chosen: str = "chat") -> TestLine:
    server.on("/v1/models", {"data": [{"id": name} for name in listed]})
    server.on("/v1/chat/completions", {"choices": [{"message": {"content": "one"}, "finish_reason": "stop"}]})
    report = await models.test(draft(server, chosen) if chosen else draft(server))
    assert report.usable
    return report.lines[-1]


# the embedder ---------------------------------------------------------------------------------------------------------


async def test_no_model_makes_vectors_until_one_is_chosen(models: Models, settings: Settings) -> None:
    assert await models.embedding_choice() is None
    for half in ({"embedding_provider_id": "p"}, {"embedding_model": "m"}):
        await settings.save(KEY, half)
        assert await models.embedding_choice() is None


async def test_the_built_in_model_is_no_servers(models: Models, settings: Settings) -> None:
    await settings.save(KEY, {"embedding_provider_id": "builtin", "embedding_model": "e5"})
    assert await models.embedding_choice() is None


async def test_the_chosen_model_makes_vectors_with_the_providers_key(
    models: Models, settings: Settings, server: RawServer
) -> None:
    config = await models.add(draft(server, "chat"), key="sk-one")
    await settings.save(KEY, {"embedding_provider_id": config.id, "embedding_model": "bge-m3"})
    choice = await models.embedding_choice()
    assert choice == ModelChoice(config.id, "bge-m3")
    embedder = await models.embedder(choice)
    assert embedder is not None
    answer(server, {"data": [{"index": 0, "embedding": [3, 4]}]})
    assert await embedder.embed(["text"]) == [(3.0, 4.0)]
    assert (embedder.model, embedder.provider_id) == ("bge-m3", config.id)
    assert server.received[0].headers["authorization"] == "Bearer sk-one"


async def test_a_removed_provider_says_so_and_the_offline_assistant_makes_none(
    models: Models, server: RawServer
) -> None:
    config = await models.add(draft(server, "chat"))
    await models.remove(config.id)
    with pytest.raises(UserFacing, match="was removed"):
        await models.embedder(ModelChoice(config.id, "bge-m3"))
    assert await models.embedder(OFFLINE) is None


# the line of a test ---------------------------------------------------------------------------------------------------


async def test_a_model_that_looks_made_for_it_is_asked_and_its_dimension_shown(
    models: Models, server: RawServer
) -> None:
    server.on("/v1/embeddings", {"data": [{"index": 0, "embedding": [0.1] * 1024}]})
    line = await embeddings_line(models, server, ["bge-reranker", "chat", "bge-m3"])
    assert (line.what, line.state) == (Probe.EMBEDDINGS, LineState.OK)
    assert line.message.format(**line.params) == "bge-m3 · 1024 dimensions"


async def test_without_one_the_model_that_chats_is_asked(models: Models, server: RawServer) -> None:
    server.on("/v1/embeddings", {"data": [{"index": 0, "embedding": [0.1, 0.2]}]})
    line = await embeddings_line(models, server, ["chat"])
    assert (line.state, dict(line.params)) == (LineState.OK, {"name": "chat", "count": 2})


@pytest.mark.parametrize(
    "listed, status", [(["chat"], 404), (["chat"], 400), (["chat"], 501), (["chat", "bge-m3"], 501), (["chat"], 403)]
)
async def test_a_server_without_embeddings_is_no_worse_for_it(
    models: Models, server: RawServer, listed: list[str], status: int
) -> None:
    server.on("/v1/embeddings", {"error": {"message": "This server does not support embeddings"}}, status=status)
    line = await embeddings_line(models, server, listed)
    assert (line.state, line.message) == (LineState.NOT_NEEDED, "Not offered")


async def test_an_embedding_model_that_fails_says_why(models: Models, server: RawServer) -> None:
    server.on("/v1/embeddings", {"error": {"message": "the weights are gone"}}, status=400)
    line = await embeddings_line(models, server, ["chat", "text-embedding-3-small"])
    assert (line.state, line.params["words"]) == (LineState.FAILED, "400 the weights are gone")


async def test_vectors_that_are_none_are_a_failure_of_an_embedding_model(models: Models, server: RawServer) -> None:
    server.on("/v1/embeddings", {"data": [{"index": 0, "embedding": []}]})
    line = await embeddings_line(models, server, ["chat", "bge-m3"])
    assert line.state is LineState.FAILED
    assert line.params["words"] == "a vector that is not one of finite numbers"


async def test_the_models_that_the_user_chose_come_first(models: Models, server: RawServer) -> None:
    server.on("/v1/embeddings", {"data": [{"index": 0, "embedding": [0.5]}]})
    server.on("/v1/models", {"data": [{"id": "nomic-embed-text"}, {"id": "chat"}]})
    server.on("/v1/chat/completions", {"choices": [{"message": {"content": "one"}, "finish_reason": "stop"}]})
    report = await models.test(draft(server, "bge-m3", "chat"))
    assert report.usable
    assert report.lines[-1].params["name"] == "bge-m3"
    chats = [request.json["model"] for request in server.received if request.path == "/v1/chat/completions"]
    assert set(chats) == {"chat"}
