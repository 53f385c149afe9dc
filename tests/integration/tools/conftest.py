"""A project folder, a library, and the context in which the agent calls its tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.knowledge.projects import Projects
from devflow.knowledge.service import Knowledge
from devflow.knowledge.settings import Settings
from devflow.store.database import Database
from devflow.store.migrate import open_database
from devflow.tools.tool import ToolContext


@pytest.fixture
def db(home: Path) -> Iterator[Database]:
    database = open_database(app_paths(home), Hub())
    yield database
    database.close()


@pytest.fixture
def settings(db: Database) -> Settings:
    return Settings(db)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("one\ntwo\nthree\n")
    return folder


@pytest.fixture
async def ctx(db: Database, settings: Settings, home: Path, root: Path) -> ToolContext:
    project = await Projects(db).ensure(root)
    return ToolContext("conversation-1", project, Knowledge(db, settings), home)
