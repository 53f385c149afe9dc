from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from devflow.app.paths import app_paths
from devflow.domain.rights import Right
from devflow.mcp_server.room import Opening
from tests.support.library import Library, open_library
from tests.support.mcp_client import Tool, inside


@pytest.fixture
async def library(home: Path) -> AsyncIterator[Library]:
    """The human's side: another connection to the same home."""
    async with open_library(home) as opened:
        yield opened


class Entrance:
    """Clients in this process, each with its right and its name."""

    def __init__(self, opening: Opening) -> None:
        self.opening = opening

    def __call__(self, right: str = "propose", name: str = "tester") -> AbstractAsyncContextManager[Tool]:
        return inside(self.opening, Right(right), name)


@pytest.fixture
async def enter(home: Path, library: Library) -> AsyncIterator[Entrance]:
    opening = Opening(app_paths(home))
    yield Entrance(opening)
    await opening.close()
