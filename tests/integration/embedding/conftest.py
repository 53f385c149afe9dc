"""A library, a real embedding server, and the background work on vectors with a clock that the test turns."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.events import EmbeddingChanged, Event
from devflow.domain.ids import now
from devflow.domain.knowledge import Entry, Status
from devflow.domain.provider import ProviderDraft
from devflow.knowledge.embedding import Embeddings
from devflow.knowledge.embedding_state import EmbeddingState
from devflow.knowledge.service import Knowledge
from devflow.models.embedding import EmbeddingModels
from devflow.models.keys import Keys, home_id
from devflow.models.registry import Models
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.requests import probe
from tests.integration.extraction.bench import TurnedClock
from tests.support.library import USER, Library, open_library

MODEL = "embed-small"
PATIENCE = 20.0


@dataclass
class Bench:
    """One process. `busy`: a chat is being answered on this machine."""

    library: Library
    server: EmbeddingServer
    models: Models
    source: EmbeddingModels
    clock: TurnedClock
    embeddings: Embeddings
    knowledge: Knowledge
    busy: bool = False
    told: list[str] = field(default_factory=list)

    async def switch_on(self, model: str = MODEL, **more: Any) -> None:
        providers = await self.models.list()
        if not providers:
            await self.models.add(ProviderDraft("Embeddings", self.server.base_url, models=(MODEL, "embed-large")))
            providers = await self.models.list()
        await self.knowledge.knowledge_change_config(
            {"vector_enabled": True, "embedding_provider_id": providers[0].id, "embedding_model": model, **more},
            actor=USER,
        )

    async def publish(self, title: str, content: str) -> Entry:
        return await self.library.add(title, status=Status.PUBLISHED, content=content)

    async def entry(self, entry: Entry) -> Entry:
        return await self.knowledge.knowledge_get(entry.id)

    async def found(self, query: str, **more: Any) -> list[str]:
        return [hit.entry.title for hit in await self.knowledge.knowledge_search(query, **more)]

    async def state(self) -> EmbeddingState:
        return await self.embeddings.state()

    def vectors(self, sql: str = "SELECT count(*) FROM entry_vectors") -> Any:
        def work(session: Any) -> Any:
            return session.connection().exec_driver_sql(sql).scalar()

        return self.library.db.run_read(work)


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as running:
        yield running


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock(now())


class Benches:
    """`open` starts a process over the same home; leaving it closes it, as quitting does."""

    def __init__(self, home: Path, server: EmbeddingServer, clock: TurnedClock) -> None:
        self._home, self._server, self._clock = home, server, clock

    async def open(self, stack: AsyncExitStack, *, patience: float = 20.0, background: bool = True) -> Bench:
        library = await stack.enter_async_context(open_library(self._home))
        keys = Keys(library.paths, await home_id(library.settings))
        models = Models(
            library.db, keys, library.settings, library.hub, resources=library.paths.resources, probe_request=probe
        )
        stack.push_async_callback(models.close)
        source = EmbeddingModels(models, library.settings, library.hub)
        stack.push_async_callback(source.aclose)

        async def is_busy() -> bool:
            return bench.busy

        embeddings = Embeddings(
            library.db,
            library.settings,
            source,
            resources=library.paths.resources,
            clock=self._clock,
            is_busy=is_busy,
            patience=patience,
        )
        knowledge = Knowledge(library.db, library.settings, embeddings=embeddings)
        bench = Bench(library, self._server, models, source, self._clock, embeddings, knowledge)

        def hear(event: Event) -> None:
            if isinstance(event, EmbeddingChanged):
                bench.told.append(event.phase)

        library.hub.subscribe(hear)
        if background:
            await embeddings.start()
            stack.push_async_callback(embeddings.close)
        return bench


@pytest.fixture
def benches(home: Path, server: EmbeddingServer, clock: TurnedClock) -> Benches:
    return Benches(home, server, clock)


@pytest.fixture
async def bench(benches: Benches) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        yield await benches.open(stack)
