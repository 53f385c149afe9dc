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

    async def with_folder(self) -> tuple[Project, ...]:
        """Those that can be worked in: a library from elsewhere may name projects that nobody has opened here."""
        return await self._db.read(table.with_folder)

    async def get(self, id: str) -> Project:
        return await self._db.read(lambda session: table.get(session, id))


def is_folder(given: str) -> bool:
    """Whether this names a folder that is there; what can be no path at all names none."""
    try:
        return Path(given).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):  # too long; a user unknown after `~`; NUL
        return False


def _folder(path: Path) -> Path:
    if is_folder(str(path)):
        try:
            return path.expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            pass  # it has just gone, or the folder it is relative to has
    raise InvalidInput("project", N_("There is no folder {path}."), N_("Name an existing folder."), path=path)
