"""Texts as vectors, from a model server: OpenAI's `/embeddings`, and Ollama's own `/api/embed`.

A vector is checked before it is believed: as many as texts, in their order, all of one dimension, finite, and not zero.
Texts are sent in batches; a batch that is refused is sent in halves, so that one text too many, or too long, does not
take the others along. Nothing is cut in silence: a text that is too long for the model is a failure that says so.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.domain.provider import ProviderConfig
from devflow.providers import failures, urls
from devflow.providers.retry import Retry, retry_after
from devflow.providers.transport import Outgoing, Reply, Transport

log = logging.getLogger(__name__)

Vector = tuple[float, ...]

BATCH = 32
"""Texts in one request; every server that DevFlow knows by name takes so many, but for those below."""
BATCH_CHARS = 200_000
BATCHES = {"dashscope": 10}
WAIT = 120.0  # seconds for one batch: a local model may have to be loaded; a caller in a hurry sets its own timeout
NOT_THERE = (404, 405, 501)


class NotOffered(failures.WireFailure):
    """The server has no embeddings at all."""

    code = "not_offered"


class Embedder(Protocol):
    """One embedding model. Vectors of different models or dimensions are never compared."""

    provider_id: str
    model: str

    @property
    def dimension(self) -> int | None:
        """How many numbers a vector has; None until the first text was embedded."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, in their order. Texts are not blank. Raises `ProviderFailed`."""
        ...


def make_embedder(
    config: ProviderConfig, key: str, transport: Transport, model: str, *, retry: Retry | None = None
) -> Embedder | None:
    """The embedder of a configured server; None where its protocol has none."""
    match config.adapter:
        case "anthropic":
            return None
        case "ollama":
            return OllamaEmbedder(config, key, transport, model, retry=retry)
        case _:
            return OpenAIEmbedder(config, key, transport, model, retry=retry)


class _Batches(ABC):
    """What both protocols share: batches, retries, refusals, and what a vector must be."""

    def __init__(
        self, config: ProviderConfig, key: str, transport: Transport, model: str, *, retry: Retry | None = None
    ) -> None:
        self.provider_id = config.id
        self.model = model
        self._config = config
        self._key = key
        self._transport = transport
        self._retry = retry or Retry()
        self._address = urls.parse(config.base_url)
        self._dimension: int | None = None

    @property
    def dimension(self) -> int | None:
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if any(not text.strip() for text in texts):
            raise ValueError("a blank text has no embedding")
        vectors: list[Vector] = []
        for batch in _batches(texts, BATCHES.get(self._config.preset, BATCH)):
            vectors += await self._embed(batch)
        return vectors

    @abstractmethod
    def _url(self) -> str:
        """Where texts are posted."""

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        return {"model": self.model, "input": list(texts)}

    @abstractmethod
    def _rows(self, value: Mapping[str, Any], count: int) -> list[Any]:
        """The vectors as they came, in the order of the texts; empty where that cannot be told."""

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        try:
            return self._vectors(await self._post(self._body(texts)), len(texts))
        except (failures.BadRequest, failures.ContextOverflow):
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            return [*await self._embed(texts[:half]), *await self._embed(texts[half:])]

    async def _post(self, body: Mapping[str, Any]) -> object:
        failed = 0
        while True:
            try:
                return self._read(await self._transport.request(self._outgoing(body), timeout=WAIT))
            except failures.WireFailure as failure:
                failed += 1
                pause = self._retry.pause(failed, failure, loopback=self._address.is_loopback)
                if pause is None:
                    raise
                log.info("embedding at %s failed (%s); again in %.1f s", self._config.name, failure.code, pause)
            await asyncio.sleep(pause)

    def _outgoing(self, body: Mapping[str, Any]) -> Outgoing:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return Outgoing(self._config.name, self._url(), "POST", headers, body, self._secrets)

    def _read(self, reply: Reply) -> object:
        if reply.status != 200:
            raise self._refusal(reply)
        try:
            return loads(reply.body)
        except ValueError:
            raise self._unusable(failures.words_of(reply.body, self._secrets) or "an empty answer") from None

    def _refusal(self, reply: Reply) -> failures.WireFailure:
        words = failures.words_of(reply.body, self._secrets) or f"HTTP {reply.status}"
        about: dict[str, Any] = {"server": self._config.name, "model": self.model, "words": words}
        if reply.status in (400, 413, 422, 500) and failures.is_overflow(reply.body):
            return _too_long(about)
        failure = failures.from_status(
            reply.status,
            reply.body,
            server=self._config.name,
            model=self.model,
            secrets=self._secrets,
            retry_after=retry_after(reply.headers),
        )
        if reply.status in NOT_THERE and not isinstance(failure, failures.ModelMissing):
            return NotOffered(
                N_("{server} offers no embeddings: {words}."),
                N_("Choose another provider for embeddings."),
                retryable=False,
                status=reply.status,
                **about,
            )
        return failure

    def _vectors(self, value: object, count: int) -> list[Vector]:
        if isinstance(value, Mapping) and value.get("error"):
            words = failures.words_of(str(value["error"]), self._secrets)
            raise self._unusable(words)
        rows = self._rows(value, count) if isinstance(value, Mapping) else []
        if len(rows) != count:
            raise self._unusable(f"{len(rows)} vectors for {count} texts")
        vectors = [_vector(row) for row in rows]
        sizes = {len(vector) for vector in vectors if vector is not None}
        if None in vectors or 0 in sizes:
            raise self._unusable("a vector that is not one of finite numbers")
        if len(sizes) != 1 or self._dimension not in (None, *sizes):
            known = sizes | ({self._dimension} if self._dimension is not None else set())
            raise self._unusable(f"vectors of {' and '.join(map(str, sorted(known)))} dimensions")
        self._dimension = sizes.pop()
        return [vector for vector in vectors if vector is not None]

    def _unusable(self, words: str) -> failures.NotAnAnswer:
        return failures.NotAnAnswer(
            N_("{server} sent embeddings that cannot be used: {words}."),
            N_("Check that {model} is an embedding model."),
            server=self._config.name,
            model=self.model,
            words=words,
        )

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key,) if self._key else ()


class OpenAIEmbedder(_Batches):
    """`POST /embeddings`; rows carry the index of their text, and numbers may come as base64."""

    def _url(self) -> str:
        return f"{self._address.base}/embeddings"

    def _rows(self, value: Mapping[str, Any], count: int) -> list[Any]:
        rows = value.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            return []
        if len(rows) != count:
            return rows
        places = [row.get("index", place) for place, row in enumerate(rows)]
        if sorted(places, key=str) != sorted(range(count), key=str):
            raise self._unusable("indices that are not those of the texts")
        return [row.get("embedding") for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])]


class OllamaEmbedder(_Batches):
    """`POST /api/embed`; it is told not to cut a text that is too long."""

    def _url(self) -> str:
        return f"{self._address.native}/embed"

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        return {**super()._body(texts), "truncate": False}

    def _rows(self, value: Mapping[str, Any], count: int) -> list[Any]:
        rows = value.get("embeddings")
        return rows if isinstance(rows, list) else []


def _batches(texts: Sequence[str], most: int) -> list[list[str]]:
    batches: list[list[str]] = []
    characters = 0
    for text in texts:
        if not batches or len(batches[-1]) == most or characters + len(text) > BATCH_CHARS:
            batches.append([])
            characters = 0
        batches[-1].append(text)
        characters += len(text)
    return batches


def _vector(row: object) -> Vector | None:
    """Numbers in any of the shapes that servers use; None where it is no vector with a direction."""
    if isinstance(row, str):
        row = _from_base64(row)
    if isinstance(row, list) and len(row) == 1 and isinstance(row[0], list):
        row = row[0]  # llama.cpp's shape for several tokens, pooled
    if not isinstance(row, list | tuple):
        return None
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in row):
        return None
    try:
        vector = tuple(map(float, row))
    except OverflowError:
        return None
    return vector if all(map(math.isfinite, vector)) and any(vector) else None


def _from_base64(text: str) -> tuple[float, ...] | None:
    """32-bit numbers, little-endian."""
    try:
        raw = base64.b64decode(text, validate=True)
        return struct.unpack(f"<{len(raw) // 4}f", raw)
    except (binascii.Error, ValueError, struct.error):
        return None


def _too_long(about: Mapping[str, Any]) -> failures.ContextOverflow:
    return failures.ContextOverflow(
        N_("A text is too long for the embedding model {model}: {words}."),
        N_("Choose an embedding model that takes longer texts."),
        retryable=False,
        **about,
    )
