"""A knowledge base, a model server, and the digests over both."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.digest.backoff import Pace
from devflow.digest.batch import Workbench
from devflow.digest.service import Digests
from devflow.domain.digest import DigestBatch, FileState
from devflow.domain.events import DigestChanged, Event
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.provider import ProviderDraft
from tests.fakes.digest_server import DigestServer

QUICK = Pace(base=0.01, cap=0.05)
"""The pauses of a batch, so short that a test need not wait for them."""
PURPOSE = "收集自媒体创作的文章，研究怎样写作。"


@dataclass(frozen=True)
class Desk:
    """An open core with a knowledge base and quick digests."""

    core: Core
    base: KnowledgeBase
    digests: Digests
    events: list[DigestChanged]

    @property
    def root(self) -> Path:
        return Path(self.base.path)

    @property
    def pages(self) -> dict[str, str]:
        """The digests' pages by their path."""
        folder = self.root / "wiki/synthesis/sessions"
        return {f.relative_to(self.root).as_posix(): f.read_text(encoding="utf-8") for f in sorted(folder.glob("*.md"))}

    def raw(self, name: str, text: str | bytes) -> Path:
        """An original."""
        file = self.root / "raw" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    async def digest(self, *files: Path, concurrency: int = 3, force: bool = False) -> DigestBatch:
        batch = await self.digests.start(self.base.id, files, concurrency=concurrency, force=force)
        return await self.digests.wait(batch.id)


Desks = Callable[[DigestServer], contextlib.AbstractAsyncContextManager[Desk]]


@pytest.fixture
def desk(home: Path, tmp_path: Path) -> Desks:
    @contextlib.asynccontextmanager
    async def open_desk(server: DigestServer) -> AsyncIterator[Desk]:
        folder = tmp_path / "知识库"
        folder.mkdir(exist_ok=True)
        async with opened(app_paths(home)) as core:
            if not await core.models.list():
                await core.models.add(ProviderDraft("Model", server.base_url, models=("scripted",)))
            known = await core.bases.list()
            base = known[0] if known else await core.bases.initialise(folder, PURPOSE)
            bench = core.digests._bench
            digests = Digests(replace(bench, pace=QUICK), core.bases, core.lock.is_alive)
            heard: list[DigestChanged] = []

            def hear(event: Event) -> None:
                if isinstance(event, DigestChanged):
                    heard.append(event)

            core.hub.subscribe(hear)
            assert isinstance(bench, Workbench)
            try:
                yield Desk(core, base, digests, heard)
            finally:
                await digests.close()

    return open_desk


def states(batch: DigestBatch) -> list[FileState]:
    return [file.state for file in batch.files]
