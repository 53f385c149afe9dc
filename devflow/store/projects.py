"""Projects: the workspace folders that entries and conversations refer to."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.knowledge import Project
from devflow.domain.messages import N_
from devflow.store.database import Unit
from devflow.store.schema import ProjectRow

WHAT = N_("project")
UNPLACED = "unplaced:"
"""Before its name, in place of a path: a project that came with a library from elsewhere, and whose folder nobody has
opened here yet."""


def to_project(row: ProjectRow) -> Project:
    return Project(row.id, row.name, row.path)


def ensure(unit: Unit, folder: Path) -> Project:
    """The project of that folder, made if there is none. `folder` is absolute; its name becomes the project's."""
    path = str(folder)
    row = unit.session.scalar(select(ProjectRow).where(ProjectRow.path == path))
    if row is None:
        name = folder.name or path
        row = unit.session.scalar(select(ProjectRow).where(ProjectRow.path == f"{UNPLACED}{name}"))
        if row is None:
            row = _add(unit, name, path)
        else:
            row.path = path
            unit.changed(Aggregate.PROJECT, row.id)
    return to_project(row)


def named(unit: Unit, name: str) -> Project:
    """The oldest project of that name; without one, a project whose folder is not known yet (`ensure` finds it)."""
    query = select(ProjectRow).where(ProjectRow.name == name).order_by(ProjectRow.created_at, ProjectRow.id)
    row = unit.session.scalar(query.limit(1))
    return to_project(row if row is not None else _add(unit, name, f"{UNPLACED}{name}"))


def get(session: Session, id: str) -> Project:
    row = session.get(ProjectRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    return to_project(row)


def all_projects(session: Session) -> tuple[Project, ...]:
    """Every project, by name."""
    return tuple(to_project(row) for row in session.scalars(select(ProjectRow).order_by(ProjectRow.name)))


def with_folder(session: Session) -> tuple[Project, ...]:
    """Those whose folder is known here, by name."""
    return tuple(project for project in all_projects(session) if not project.path.startswith(UNPLACED))


def _add(unit: Unit, name: str, path: str) -> ProjectRow:
    row = ProjectRow(id=new_id(), name=name, path=path, created_at=unit.at)
    unit.session.add(row)
    unit.session.flush()
    unit.changed(Aggregate.PROJECT, row.id)
    return row
