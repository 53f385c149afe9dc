"""Tells a client that the library has changed, whoever changed it: the window, the command line, another tool.

The older protocol's notifications go out unasked to whoever has listed or subscribed; the newer one's on the streams
that a client opens (`subscriptions/listen`). Only what the client may see is compared, so that nothing is told of what
waits for the user. Until a client has listed, subscribed or listened, nothing is watched.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated

from devflow.domain.errors import DatabaseProblem, UserFacing
from devflow.domain.events import Aggregate, Changes, Event
from devflow.domain.knowledge import Kind
from devflow.mcp_server.resources import entry_id
from devflow.mcp_server.room import Opening, Room

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Seen = Mapping[str, tuple[int, str]]
    """Published entries: version and kind."""

log = logging.getLogger(__name__)

FOLLOWED_MAX = 1_000
"""Resources that one client may subscribe to."""


class Announcer:
    """One client's. `follow` begins it; it ends with the opening."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._session: ServerSession | None = None
        self._followed: dict[str, int | None] = {}
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._ready = asyncio.Event()

    async def follow(self, session: ServerSession, room: Room) -> None:
        """From now on this client is told of changes."""
        self._session = session
        if self._task is None or self._task.done():
            self._ready = asyncio.Event()
            self._task = asyncio.create_task(self._watch(room, self._ready), name="announce changes")
            self._opening.keep(self._task)
        await self._ready.wait()  # what is listed next is not older than what is compared with

    async def subscribe(self, session: ServerSession, room: Room, uris: Iterable[str]) -> None:
        """Raises MCPError for what is no resource of this server's, and for too many."""
        for uri in uris:
            if len(self._followed) >= FOLLOWED_MAX:
                raise MCPError(types.INVALID_PARAMS, f"At most {FOLLOWED_MAX:,} resources can be subscribed to.")
            self._followed[uri] = await _version(room, uri)
        await self.follow(session, room)

    def unsubscribe(self, uri: str) -> None:
        self._followed.pop(uri, None)

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], room: Room, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """A stream of the newer protocol; it ends when the client or the server does."""
        await self.subscribe(ctx.session, room, params.notifications.resource_subscriptions or ())
        return await self._listening(ctx, params)

    async def _watch(self, room: Room, ready: asyncio.Event) -> None:
        """Until it is cancelled, or the library cannot be read at all: whoever lists next begins it anew."""
        from devflow.store.watch import watch

        unsubscribe = room.core.hub.subscribe(self._hear)
        watching = asyncio.create_task(watch(room.core.db, room.core.hub), name="watch for changes")
        try:
            seen = await room.library.published()
            ready.set()
            while True:
                await self._changed.wait()
                self._changed.clear()
                seen = await self._compare(room, seen)
        except DatabaseProblem as problem:  # every call says it
            log.info("cannot look for what has changed: %s", problem)
        finally:
            ready.set()
            unsubscribe()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Changes) and event.of(Aggregate.ENTRY):
            self._changed.set()

    async def _compare(self, room: Room, before: Seen) -> Seen:
        """Tell what differs; returns what is there now."""
        seen = await room.library.published()
        session = self._session
        assert session is not None
        if seen != before:
            await self._bus.publish(ResourcesListChanged())
            await session.send_resource_list_changed()
        if _templates(seen) != _templates(before):
            await self._bus.publish(PromptsListChanged())
            await session.send_prompt_list_changed()
        for uri, version in list(self._followed.items()):
            if (now := await _version(room, uri)) != version:
                self._followed[uri] = now
                await self._bus.publish(ResourceUpdated(uri))
                await session.send_resource_updated(uri)
        return seen


async def _version(room: Room, uri: str) -> int | None:
    """Of the entry, as far as the client sees it. Raises MCPError for what names no entry."""
    try:
        return (await room.library.get(room.visitor, entry_id(uri))).version
    except DatabaseProblem:
        raise
    except UserFacing:
        return None


def _templates(seen: Seen) -> dict[str, int]:
    return {id: version for id, (version, kind) in seen.items() if kind == Kind.PROMPT_TEMPLATE.value}
