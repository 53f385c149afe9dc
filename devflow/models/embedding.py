"""The embedding model that `KnowledgeConfig` names: the embedded one, or a model of a provider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devflow.domain import config as knowledge_config
from devflow.domain.config import KnowledgeConfig
from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import UserFacing
from devflow.domain.events import Aggregate, Changes, Event, Hub
from devflow.domain.messages import N_
from devflow.knowledge.embedding_state import EmbeddingModel, Vector
from devflow.knowledge.settings import Settings
from devflow.models.registry import BUILTIN, Models
from devflow.providers import urls

if TYPE_CHECKING:
    from devflow.providers.embedded import EmbeddedEmbedder
    from devflow.providers.embeddings import Embedder

BATCH = 16
PREFIXES = (("e5", "query: ", "passage: "), ("nomic-embed", "search_query: ", "search_document: "))
"""Models that were trained with words before a query and before a text, by a part of their name."""


class NoEmbeddingModel(UserFacing):
    """Search by meaning is on, and nothing makes vectors."""

    code = "no_embedding_model"


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model of a provider."""

    embedder: Embedder
    is_local: bool
    batch: int = BATCH

    @property
    def key(self) -> str:
        return f"{self.embedder.provider_id}/{self.embedder.model}"

    @property
    def name(self) -> str:
        return self.embedder.model

    async def texts(self, texts: Sequence[str]) -> list[Vector]:
        _, prefix = _prefixes(self.name)
        return list(await self.embedder.embed([prefix + text for text in texts]))

    async def query(self, text: str) -> Vector:
        prefix, _ = _prefixes(self.name)
        return (await self.embedder.embed([prefix + text]))[0]


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """A model that pip installed, in a process of its own: it has a low priority, and the chat need not wait for it."""

    embedder: EmbeddedEmbedder
    is_local: bool = False
    batch: int = BATCH

    @property
    def key(self) -> str:
        return f"{BUILTIN}/{self.embedder.model}"

    @property
    def name(self) -> str:
        return self.embedder.model

    async def texts(self, texts: Sequence[str]) -> list[Vector]:
        return list(await self.embedder.embed(texts))

    async def query(self, text: str) -> Vector:
        return (await self.embedder.embed([text], query=True))[0]


class EmbeddingModels:
    """The model in force, built once and kept until what it was built from changes.

    `make_embedded` starts an embedded model by its name; without one, those that are installed.
    """

    def __init__(
        self,
        models: Models,
        settings: Settings,
        hub: Hub,
        make_embedded: Callable[[str], EmbeddedEmbedder] | None = None,
    ) -> None:
        self._models = models
        self._settings = settings
        self._make_embedded = make_embedded or _installed
        self._made: tuple[tuple[str | None, str | None], EmbeddingModel] | None = None
        self._embedded: EmbeddedEmbedder | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._unsubscribe = hub.subscribe(self._forget_changed)

    async def current(self) -> EmbeddingModel | None:
        """None: search by meaning is off. Raises UserFacing where it is on and there is no model."""
        config = knowledge_config.read(await self._settings.raw(knowledge_config.KEY)).config
        if not config.vector_enabled:
            self._let_go()
            return None
        wanted = (config.embedding_provider_id, config.embedding_model)
        if self._made is None or self._made[0] != wanted:
            self._let_go()
            self._made = (wanted, await self._make(config))
        return self._made[1]

    async def aclose(self) -> None:
        self._unsubscribe()
        self._let_go()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _make(self, config: KnowledgeConfig) -> EmbeddingModel:
        provider_id, name = config.embedding_provider_id, config.embedding_model
        if provider_id == BUILTIN:
            self._embedded = self._make_embedded(name or "")
            return EmbeddedModel(self._embedded)
        if provider_id is None or name is None:
            raise NoEmbeddingModel(
                N_("Search by meaning has no embedding model."), N_("Choose one in Settings, under Knowledge.")
            )
        embedder = await self._models.embedder(ModelChoice(provider_id, name))
        if embedder is None:
            raise NoEmbeddingModel(
                N_("The provider of {model} makes no embeddings."),
                N_("Choose another one in Settings, under Knowledge."),
                model=name,
            )
        base_url = (await self._models.get(provider_id)).base_url
        return ServerModel(embedder, urls.parse(base_url).is_loopback)

    def _let_go(self) -> None:
        self._made = None
        if self._embedded is not None:
            task = asyncio.ensure_future(self._embedded.aclose())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
            self._embedded = None

    def _forget_changed(self, event: Event) -> None:
        """A provider changed, or the network: an endpoint's model is built anew at its next use."""
        if not isinstance(event, Changes) or self._embedded is not None:
            return
        if event.of(Aggregate.PROVIDER) or "network" in event.of(Aggregate.SETTING):
            self._made = None


def _installed(name: str) -> EmbeddedEmbedder:
    from devflow.providers import embedded

    found = embedded.installed()
    for model in found:
        if name in ("", model.name):
            return embedded.EmbeddedEmbedder(model.name)
    raise embedded.not_installed(name)


def _prefixes(name: str) -> tuple[str, str]:
    """What stands before a query, and before a text."""
    for part, query, text in PREFIXES:
        if part in name.lower():
            return query, text
    return "", ""
