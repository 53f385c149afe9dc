"""The list of configured MCP servers: stored in the settings, their values in the keychain. Only a human changes it.

A server is a program that is started, or an address that is asked, without a further question: what the assistant
starts may not add one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from devflow.domain.errors import NotFound
from devflow.domain.ids import new_id
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, require_human
from devflow.knowledge.settings import Settings
from devflow.models.keys import Keys
from devflow.tools.mcp_config import McpDraft, McpServer, as_server, check_draft, from_json, to_json

GROUP = "mcp_servers"
CHANGING = N_("Only a human adds, changes or removes MCP servers.")


@dataclass(frozen=True, slots=True)
class Removed:
    """What `remove` took away, for its undo."""

    server: McpServer
    values: Mapping[str, str]
    at: int


@dataclass(frozen=True, slots=True)
class Addition:
    """One server of an import. `replaces` is the name of the one that makes way."""

    draft: McpDraft
    replaces: str = ""


class McpServers:
    """Changes are stored at once. Raises InvalidInput, NotFound, HumanOnly."""

    def __init__(self, settings: Settings, keys: Keys, *, agent_child: bool = False) -> None:
        self._settings = settings
        self._keys = keys
        self._agent_child = agent_child

    async def list(self) -> tuple[McpServer, ...]:
        """The servers in the user's order; rows that cannot be read are left out."""
        return tuple(server for row in _rows(await self._settings.get(GROUP)) if (server := from_json(row)))

    async def get(self, id: str) -> McpServer:
        found = next((server for server in await self.list() if server.id == id), None)
        if found is None:
            raise NotFound("MCP server", id)
        return found

    async def values(self, server: McpServer) -> dict[str, str]:
        """Its environment variables, or its headers, with their values."""
        return {name: await self._keys.get(*_account(server.id, name)) for name in server.value_names}

    async def add(self, draft: McpDraft) -> McpServer:
        """Store a new one; a name that is taken gets a number."""
        self._require_human()
        return await self._insert(check_draft(draft))

    async def change(self, id: str, draft: McpDraft) -> McpServer:
        """Store what was edited. A running server is started anew at its next use."""
        self._require_human()
        checked = check_draft(draft)
        before = await self.get(id)
        taken = {server.name.casefold() for server in await self.list() if server.id != id}
        now = as_server(replace(checked, name=free_name(checked.name, taken)), id, before.revision + 1)
        await self._keep(now, checked.values, before)
        await self._modify(id, lambda _: to_json(now))
        return now

    async def set_enabled(self, id: str, enabled: bool) -> None:
        self._require_human()
        await self._modify(id, lambda row: {**row, "enabled": enabled})

    async def remove(self, id: str) -> Removed:
        """Take it off the list, and forget its values; `restore` brings both back."""
        self._require_human()
        server = await self.get(id)
        values = await self.values(server)
        at = [each.id for each in await self.list()].index(id)
        await self._settings.modify(
            GROUP, lambda value: _with_rows(value, [row for row in _rows(value) if not _is(row, id)])
        )
        for name in server.value_names:
            await self._keys.forget(*_account(id, name))
        return Removed(server, values, at)

    async def restore(self, removed: Removed) -> None:
        """The undo of `remove`."""
        self._require_human()
        await self._keep(removed.server, removed.values, None)

        def change(value: Any) -> dict[str, Any]:
            rows = [row for row in _rows(value) if not _is(row, removed.server.id)]
            rows.insert(removed.at, to_json(removed.server))
            return _with_rows(value, rows)

        await self._settings.modify(GROUP, change)

    async def take(self, additions: Sequence[Addition]) -> tuple[McpServer, ...]:
        """Store what was chosen of an import; all of it is checked before any of it is stored."""
        self._require_human()
        checked = [(check_draft(addition.draft), addition.replaces) for addition in additions]
        taken = []
        for draft, replaces in checked:
            same = next((each for each in await self.list() if replaces and each.name == replaces), None)
            if same is not None:
                taken.append(await self.change(same.id, draft))
            else:
                taken.append(await self._insert(draft))
        return tuple(taken)

    # helpers -------------------------------------------------------------------------------------------------------

    def _require_human(self) -> None:
        require_human(Actor.user(), CHANGING, agent_child=self._agent_child)

    async def _insert(self, checked: McpDraft) -> McpServer:
        taken = {server.name.casefold() for server in await self.list()}
        server = as_server(replace(checked, name=free_name(checked.name, taken)), new_id(), 1)
        await self._keep(server, checked.values, None)
        await self._settings.modify(GROUP, lambda value: _with_rows(value, [*_rows(value), to_json(server)]))
        return server

    async def _keep(self, server: McpServer, values: Mapping[str, str], before: McpServer | None) -> None:
        for name in server.value_names:
            await self._keys.put(*_account(server.id, name), values[name])
        for name in before.value_names if before is not None else ():
            if name not in server.value_names:
                await self._keys.forget(*_account(server.id, name))

    async def _modify(self, id: str, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
        found = False

        def work(value: Any) -> dict[str, Any]:
            nonlocal found
            rows = []
            for row in _rows(value):
                if _is(row, id):
                    found, row = True, change(row)
                rows.append(row)
            return _with_rows(value, rows)

        await self._settings.modify(GROUP, work)
        if not found:
            raise NotFound("MCP server", id)


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the name with the first number that makes it one of its own; letter case makes no difference."""
    number, free = 1, name
    while free.casefold() in taken:
        number += 1
        free = f"{name[:34]} {number}"
    return free


def _account(id: str, name: str) -> tuple[str, str]:
    return f"mcp-{id}", name


def _is(row: object, id: str) -> bool:
    return isinstance(row, Mapping) and row.get("id") == id


def _rows(value: object) -> list[Any]:
    rows = value.get("servers") if isinstance(value, Mapping) else None
    return rows if isinstance(rows, list) else []


def _with_rows(value: object, rows: Sequence[Any]) -> dict[str, Any]:
    return {**(value if isinstance(value, Mapping) else {}), "servers": list(rows)}
