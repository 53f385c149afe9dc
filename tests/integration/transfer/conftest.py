"""Two libraries on real files, what carries one into the other, and small sources of every format."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from devflow.domain.knowledge import Entry
from devflow.knowledge.service import Actor
from devflow.transfer.preview import Preview
from devflow.transfer.service import Imported, Transfer
from tests.support.library import Library, open_library

USER = Actor.user()


@dataclass(frozen=True)
class Desk:
    """A library, and its way out and in."""

    library: Library
    transfer: Transfer

    async def look(self, *paths: Path, **options: object) -> Preview:
        return await self.transfer.preview(paths, **options)  # type: ignore[arg-type]

    async def take(self, *paths: Path, **options: object) -> Imported:
        return await self.transfer.take(await self.look(*paths, **options), actor=USER)

    async def taken(self, *paths: Path, **options: object) -> list[Entry]:
        done = await self.take(*paths, **options)
        return list(await self.library.knowledge.knowledge_entries(done.entries))

    async def bytes(self, folder: Path) -> bytes:
        target = folder / f"{id(self)}.zip"
        await self.transfer.export(target)
        return target.read_bytes()


@contextlib.asynccontextmanager
async def open_desk(home: Path, *, agent_child: bool = False) -> AsyncIterator[Desk]:
    async with open_library(home, agent_child=agent_child) as library:
        yield Desk(library, Transfer(library.db, agent_child=agent_child))


@pytest.fixture
async def desk(home: Path) -> AsyncIterator[Desk]:
    async with open_desk(home) as opened:
        yield opened


@pytest.fixture
def source(tmp_path: Path) -> Callable[..., Path]:
    """Write files into a folder: `source({"a.md": "…"})`; bytes are written as they are."""

    def write(files: dict[str, str | bytes], name: str = "source") -> Path:
        folder = tmp_path / name
        for path, content in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write
