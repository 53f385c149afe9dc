"""Settings: one JSON value per group in `app_settings` (spec 08)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Text, delete, insert, select, type_coerce
from sqlalchemy.orm import Session

from devflow.domain.events import Aggregate
from devflow.domain.foreign_json import loads
from devflow.store.database import Unit
from devflow.store.schema import SettingRow

log = logging.getLogger(__name__)


def get(session: Session, group: str) -> Any:
    """The group's value as JSON has it; None where there is none, or one that is not JSON (which the log then says)."""
    stored = session.scalar(select(type_coerce(SettingRow.value, Text)).where(SettingRow.key == group))
    if not isinstance(stored, str):
        return stored  # nothing, or a bare number, which SQLite keeps as one
    try:
        return loads(stored)
    except ValueError as error:
        log.warning("the setting %s cannot be read and counts as not set: %s", group, error)
        return None


def put(unit: Unit, group: str, value: Mapping[str, Any]) -> None:
    """Store the whole group's value, whatever stood there, readable or not."""
    unit.session.execute(delete(SettingRow).where(SettingRow.key == group))
    unit.session.execute(insert(SettingRow).values(key=group, value=dict(value), updated_at=unit.at))
    unit.changed(Aggregate.SETTING, group)


def groups(session: Session) -> tuple[str, ...]:
    """The groups that have a value."""
    return tuple(session.scalars(select(SettingRow.key).order_by(SettingRow.key)))
