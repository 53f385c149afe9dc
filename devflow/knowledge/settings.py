"""Settings by group, one JSON object each, read once and kept until this or another process changes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from devflow.domain.events import Aggregate, Changes, Event
from devflow.store import settings as table
from devflow.store.database import Database, Unit


class Settings:
    """Groups: `knowledge_config`, `roles`, `window`, `appearance`, `network`, …; each room reads its own."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._cache: dict[str, Any] = {}
        self._generation = 0
        self._unsubscribe = db.hub.subscribe(self._forget)

    async def get(self, group: str) -> dict[str, Any]:
        """The group's value; empty where there is none, or one that is not an object."""
        value = await self.raw(group)
        return dict(value) if isinstance(value, Mapping) else {}

    async def raw(self, group: str) -> Any:
        """The group's value as it stands in the database, of whatever JSON type; None where there is none."""
        if group in self._cache:
            return self._cache[group]
        generation = self._generation
        value = await self._db.read(lambda session: table.get(session, group))
        if generation == self._generation:  # else it changed while we read
            self._cache[group] = value
        return value

    async def fresh(self, group: str) -> Any:
        """The same, read anew: what another process has committed counts at once, watched or not."""
        return await self._db.read(lambda session: table.get(session, group))

    async def save(self, group: str, value: Mapping[str, Any]) -> None:
        """Store the whole group."""
        await self._db.write(lambda unit: table.put(unit, group, value))

    async def update(self, group: str, **fields: Any) -> dict[str, Any]:
        """Store these fields and keep the group's others; returns the whole value."""
        return await self.modify(group, lambda value: {**_object(value), **fields})

    async def modify(self, group: str, change: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Read, change and store in one transaction, so that two processes never undo each other's fields.

        `change` gets the raw value (None where there is none) and returns the whole new one; it runs on the store's
        thread.
        """

        def work(unit: Unit) -> dict[str, Any]:
            value = change(table.get(unit.session, group))
            table.put(unit, group, value)
            return value

        return await self._db.write(work)

    async def groups(self) -> tuple[str, ...]:
        """The groups that have a value."""
        return await self._db.read(table.groups)

    def close(self) -> None:
        self._unsubscribe()

    def _forget(self, event: Event) -> None:
        if isinstance(event, Changes):
            for group in event.of(Aggregate.SETTING):
                self._generation += 1
                self._cache.pop(group, None)


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
