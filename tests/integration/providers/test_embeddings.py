"""Embeddings over a real socket: batches, order, what a vector must be, and refusals in the server's own words."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from typing import Any

import pytest

from devflow.domain.provider import ProviderConfig
from devflow.providers import failures
from devflow.providers.embeddings import BATCH, Embedder, NotOffered, make_embedder
from devflow.providers.retry import Retry
from devflow.providers.transport import Transport
from tests.fakes.raw_server import RawServer

AT_ONCE = Retry(random=lambda: 0.0)


def embedder(server: RawServer, transport: Transport, *, key: str = "", **config: Any) -> Embedder:
    base = {"id": "p", "name": "Server", "adapter": "openai_compat", "preset": "custom", "base_url": server.base_url}
    made = make_embedder(ProviderConfig(**{**base, **config}), key, transport, "bge-m3", retry=AT_ONCE)
    assert made is not None
    return made


def answer(server: RawServer, value: object, status: int = 200, **options: Any) -> None:
    server.answer(json.dumps(value).encode(), status=status, kind="application/json", **options)


def rows(*vectors: object, first: int = 0) -> dict[str, Any]:
    return {"data": [{"index": first + place, "embedding": vector} for place, vector in enumerate(vectors)]}


async def test_texts_become_vectors_in_their_order_whatever_the_order_of_the_answer(
    server: RawServer, transport: Transport
) -> None:
    answer(server, {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]})
    asked = embedder(server, transport, key="sk-one")
    assert asked.dimension is None
    assert await asked.embed(["a", "b"]) == [(1.0, 0.0), (0.0, 1.0)]
    assert (asked.model, asked.provider_id) == ("bge-m3", "p")
    assert [asked.dimension] == [2]
    (request,) = server.received
    assert (request.path, request.headers["authorization"]) == ("/v1/embeddings", "Bearer sk-one")
    assert request.json == {"model": "bge-m3", "input": ["a", "b"]}


async def test_ollama_is_asked_in_its_own_way_and_told_to_cut_nothing(server: RawServer, transport: Transport) -> None:
    answer(server, {"model": "bge-m3", "embeddings": [[1, 2], [3, 4]]})
    asked = embedder(server, transport, adapter="ollama", preset="ollama")
    assert await asked.embed(["a", "b"]) == [(1.0, 2.0), (3.0, 4.0)]
    assert server.received[0].path == "/api/embed"
    assert server.received[0].json == {"model": "bge-m3", "input": ["a", "b"], "truncate": False}


async def test_numbers_may_come_as_base64(server: RawServer, transport: Transport) -> None:
    answer(server, rows(base64.b64encode(struct.pack("<3f", 0.5, -0.25, 2.0)).decode()))
    assert await embedder(server, transport).embed(["a"]) == [(0.5, -0.25, 2.0)]


async def test_many_texts_go_in_batches_and_nothing_is_asked_for_none(server: RawServer, transport: Transport) -> None:
    count = BATCH * 2 + 3
    for size in (BATCH, BATCH, 3):
        answer(server, rows(*([1.0, 2.0] for _ in range(size))))
    asked = embedder(server, transport)
    assert len(await asked.embed([f"text {number}" for number in range(count)])) == count
    assert [len(request.json["input"]) for request in server.received] == [BATCH, BATCH, 3]
    assert await asked.embed([]) == []
    assert len(server.received) == 3


async def test_a_server_that_takes_fewer_at_once_is_given_fewer(server: RawServer, transport: Transport) -> None:
    answer(server, rows(*([1.0] for _ in range(10))))
    answer(server, rows([1.0], [1.0]))
    await embedder(server, transport, preset="dashscope").embed(["x"] * 12)
    assert [len(request.json["input"]) for request in server.received] == [10, 2]


async def test_a_refused_batch_is_sent_in_halves(server: RawServer, transport: Transport) -> None:
    answer(server, {"error": {"message": "batch size is invalid, it should not be larger than 2"}}, 400)
    answer(server, rows([1], [2]))
    answer(server, rows([3], [4]))
    assert await embedder(server, transport).embed(list("abcd")) == [(1.0,), (2.0,), (3.0,), (4.0,)]


@pytest.mark.parametrize(
    "status, words",
    [
        (400, "the input length exceeds the context length"),
        (500, "input (5001 tokens) is too large to process. increase the physical batch size"),
    ],
)
async def test_one_text_that_is_too_long_is_called_that(
    server: RawServer, transport: Transport, status: int, words: str
) -> None:
    answer(server, {"error": {"message": words}}, status)
    with pytest.raises(failures.ContextOverflow, match="A text is too long for the embedding model bge-m3") as refusal:
        await embedder(server, transport).embed(["x" * 9_000])
    assert refusal.value.hint
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "value, words",
    [
        (rows([1.0]), "1 vectors for 2 texts"),
        (rows([1.0], [2.0], [3.0]), "3 vectors for 2 texts"),
        (rows([1.0], [1.0], first=1), "indices that are not those of the texts"),
        (rows([1.0, 2.0], [1.0]), "vectors of 1 and 2 dimensions"),
        (rows([1.0, None], [1.0, 2.0]), "not one of finite numbers"),
        (rows([1.0, float("nan")], [1.0, 2.0]), "not one of finite numbers"),
        (rows([1.0, float("inf")], [1.0, 2.0]), "not one of finite numbers"),
        (rows([1.0, 10**400], [1.0, 2.0]), "not one of finite numbers"),
        (rows([0.0, 0.0], [1.0, 2.0]), "not one of finite numbers"),
        (rows([], []), "not one of finite numbers"),
        (rows("no base64!", [1.0]), "not one of finite numbers"),
        (rows([True, False], [1.0, 2.0]), "not one of finite numbers"),
        ({"data": "nothing"}, "0 vectors for 2 texts"),
        ({"error": {"message": "the model is asleep"}}, "the model is asleep"),
        ([1, 2], "0 vectors for 2 texts"),
    ],
)
async def test_what_is_no_vector_for_each_text_is_not_believed(
    server: RawServer, transport: Transport, value: object, words: str
) -> None:
    answer(server, value)
    asked = embedder(server, transport)
    with pytest.raises(failures.NotAnAnswer, match=words) as failure:
        await asked.embed(["a", "b"])
    assert str(failure.value).startswith("Server sent embeddings that cannot be used")
    assert asked.dimension is None


async def test_a_dimension_that_changes_is_not_believed(server: RawServer, transport: Transport) -> None:
    answer(server, rows([1.0, 2.0]))
    answer(server, rows([1.0, 2.0, 3.0]))
    asked = embedder(server, transport)
    await asked.embed(["a"])
    with pytest.raises(failures.NotAnAnswer, match="vectors of 2 and 3 dimensions"):
        await asked.embed(["b"])
    assert asked.dimension == 2


async def test_a_web_page_is_no_answer(server: RawServer, transport: Transport) -> None:
    server.answer(b"<html><title>Welcome</title></html>", kind="text/html")
    with pytest.raises(failures.NotAnAnswer, match="Welcome"):
        await embedder(server, transport).embed(["a"])


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_server_without_embeddings_is_known_as_one_and_not_asked_again(
    server: RawServer, transport: Transport, status: int
) -> None:
    answer(server, {"error": {"message": "This server does not support embeddings"}}, status)
    with pytest.raises(NotOffered, match="Server offers no embeddings: This server does not support embeddings"):
        await embedder(server, transport).embed(["a"])
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "status, body, kind",
    [
        (401, {"error": {"message": "bad key sk-one"}}, failures.KeyRefused),
        (404, {"error": {"message": "model 'bge-m3' not found"}}, failures.ModelMissing),
        (402, {"message": "Insufficient Balance"}, failures.NoCredit),
    ],
)
async def test_a_refusal_is_shown_in_the_servers_own_words_and_not_repeated(
    server: RawServer, transport: Transport, status: int, body: object, kind: type[failures.WireFailure]
) -> None:
    answer(server, body, status)
    with pytest.raises(kind) as refusal:
        await embedder(server, transport, key="sk-one").embed(["a"])
    assert "sk-one" not in str(refusal.value)
    assert len(server.received) == 1


async def test_a_busy_server_is_asked_again(server: RawServer, transport: Transport) -> None:
    answer(server, {"error": "busy"}, 503)
    answer(server, {"error": "busy"}, 429, headers={"Retry-After": "0"})
    answer(server, rows([1.0]))
    assert await embedder(server, transport).embed(["a"]) == [(1.0,)]


async def test_a_server_that_is_not_there_is_named(transport: Transport) -> None:
    config = ProviderConfig("p", "Dead", "openai_compat", "custom", "http://127.0.0.1:9")
    asked = make_embedder(config, "", transport, "m", retry=AT_ONCE)
    assert asked is not None
    with pytest.raises(failures.Unreachable, match="Dead does not answer"):
        await asked.embed(["a"])


async def test_a_caller_that_gives_up_closes_its_connection(server: RawServer, transport: Transport) -> None:
    server.answer(asyncio.Event(), kind="application/json")
    waiting = asyncio.create_task(embedder(server, transport).embed(["a"]))
    request = await server.wait_for(1)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    await asyncio.wait_for(request.gone.wait(), 5)
    answer(server, rows([1.0]))
    assert await embedder(server, transport).embed(["a"]) == [(1.0,)]


async def test_a_blank_text_is_a_mistake_of_the_caller(server: RawServer, transport: Transport) -> None:
    with pytest.raises(ValueError, match="blank"):
        await embedder(server, transport).embed(["a", " "])
    assert server.received == []


async def test_the_messages_api_has_no_embeddings(server: RawServer, transport: Transport) -> None:
    config = ProviderConfig("p", "Anthropic", "anthropic", "anthropic", server.base_url)
    assert make_embedder(config, "", transport, "m") is None
