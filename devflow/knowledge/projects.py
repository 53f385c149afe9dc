"""Projects: the workspace folders that entries may hold for."""

from __future__ import annotations

from pathlib import Path

from devflow.domain.errors import InvalidInput
from devflow.domain.knowledge import Project
from devflow.domain.messages import N_
from devflow.store import projects as table
from devflow.store.database import Database


class Projects:
    def __init__(self, db: Database) -> None:
        self._db = db

    async def ensure(self, path: Path | str) -> Project:
        """The project of that folder, made if there is none; raises InvalidInput where there is no such folder."""
        return await self._db.write(lambda unit: table.ensure(unit, _folder(Path(path))))

    async def list(self) -> tuple[Project, ...]:
        return await self._db.read(table.all_projects)

    async def get(self, id: str) -> Project:
        return await self._db.read(lambda session: table.get(session, id))


def _folder(path: Path) -> Path:
    folder = path.expanduser().resolve()
    if not folder.is_dir():
        raise InvalidInput("project", N_("There is no folder {path}."), N_("Name an existing folder."), path=folder)
    return folder
