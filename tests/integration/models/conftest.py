"""A real database, a file of keys, and the registry over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from devflow.app.paths import AppPaths, app_paths
from devflow.domain.events import Hub
from devflow.knowledge.settings import Settings
from devflow.models.keys import Keys, home_id
from devflow.models.registry import Models
from devflow.store.database import Database
from devflow.store.migrate import open_database
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import probe


@pytest.fixture
def paths(home: Path) -> AppPaths:
    return app_paths(home)


@pytest.fixture
def db(paths: AppPaths) -> Iterator[Database]:
    database = open_database(paths, Hub())
    yield database
    database.close()


@pytest.fixture
def settings(db: Database) -> Settings:
    return Settings(db)


@pytest.fixture
async def keys(paths: AppPaths, settings: Settings) -> Keys:
    return Keys(paths, await home_id(settings))


@pytest.fixture
async def models(db: Database, keys: Keys, settings: Settings, paths: AppPaths) -> AsyncIterator[Models]:
    registry = Models(
        db,
        keys,
        settings,
        db.hub,
        resources=paths.resources,
        probe_request=probe,
        local_addresses=dict.fromkeys(("ollama", "lm_studio", "llama_cpp"), "http://127.0.0.1:9"),
    )
    yield registry
    await registry.close()


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with RawServer() as running:
        yield running
