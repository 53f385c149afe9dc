"""The tools of the configured MCP servers, for a turn: which there are now, and calling one.

Servers and the SDK live on a thread of their own (decision 24). Nothing of it exists, and the SDK is not imported,
before a configured server is first needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import math
import os
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from devflow.domain.errors import UserFacing
from devflow.domain.events import Aggregate, Changes, Event, Hub, ToolServersChanged
from devflow.domain.knowledge import Project
from devflow.knowledge.settings import Settings
from devflow.models.registry import NETWORK
from devflow.tools import mcp_offered, mcp_state
from devflow.tools.mcp_config import McpServer
from devflow.tools.mcp_offered import Offered
from devflow.tools.mcp_servers import GROUP, McpServers
from devflow.tools.mcp_source_thread import LoopThread
from devflow.tools.mcp_state import STOPPED, Phase, ServerState
from devflow.tools.mcp_tool import McpTool
from devflow.tools.tool import Tool

if TYPE_CHECKING:
    from devflow.tools.mcp_source_session import Session

log = logging.getLogger(__name__)

IDLE_S = 600.0
"""A server that nobody has used for so long is ended; it is started again when it is needed."""
TURN_WAIT_S = 8.0
"""A turn waits so long for servers that start; one that takes longer is there for a later step."""
TOOLS_MAX = 110
"""Of all servers together: model servers refuse a request with more than 128 tools, ours included."""
CLOSE_S = 1.6
"""Quitting waits at most so long for servers to end."""


class McpSource:
    """A `ToolSources`, and what the settings page needs. Its methods belong to the application's loop."""

    def __init__(
        self,
        servers: McpServers,
        settings: Settings,
        hub: Hub,
        *,
        environ: Mapping[str, str] = os.environ,
        idle_s: float = IDLE_S,
        turn_wait_s: float = TURN_WAIT_S,
    ) -> None:
        self.servers = servers
        self._settings = settings
        self._hub = hub
        self._environ = environ
        self._idle_s = idle_s
        self._turn_wait_s = turn_wait_s
        self._thread = LoopThread("mcp")
        self._sessions: dict[str, Session] = {}
        self._making = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._unsubscribe = hub.subscribe(self._hear)

    async def tools(self, project: Project | None, only: Collection[str] | None = None) -> tuple[Tool, ...]:
        """The tools of all servers that are ready, or get ready in time. The others are left out, and `state` says why.

        With `only`, servers are started whose tools could have these names, and the tools of these names returned.
        """
        wanted = [server for server in await self.servers.list() if server.enabled and _may_offer(server, only)]
        if not wanted or self._closed:
            return ()
        patience = self._turn_wait_s if only is None else math.inf  # a server that was named is waited for
        found = await asyncio.gather(*(self._offered(server, patience) for server in wanted))
        listed = [(server, tools) for server, tools in zip(wanted, found, strict=True) if tools]
        names = mcp_offered.full_names([(server.name, [tool.name for tool in tools]) for server, tools in listed])
        made = [
            McpTool(names[server.name, tool.name], server, tool, self) for server, tools in listed for tool in tools
        ]
        chosen = [tool for tool in made if only is None or tool.spec.name in only]
        if len(chosen) > TOOLS_MAX:
            log.info("of %d tools of MCP servers the first %d are offered", len(chosen), TOOLS_MAX)
        return tuple(chosen[:TOOLS_MAX])

    async def call(self, server: McpServer, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises `UserFacing` with a sentence for the model."""
        now = {each.id: each for each in await self.servers.list()}.get(server.id)
        if now is None or now.revision != server.revision or not now.enabled or self._closed:
            raise mcp_state.gone(server.name)
        session = await self._session(now)
        return await self._thread.run(lambda: session.call(tool, arguments))

    async def test(self, server: McpServer) -> ServerState:
        """Start it now, whatever happened before, and say how it stands. It stays until it is idle."""
        session = await self._session(server)
        with contextlib.suppress(UserFacing):  # the state says so
            await self._thread.run(lambda: session.ready(force=True))
        return session.state

    def state(self, server: McpServer) -> ServerState:
        """How it stands now."""
        session = self._sessions.get(server.id)
        return session.state if session is not None and session.server.revision == server.revision else STOPPED

    async def failed(self, only: Collection[str] | None = None) -> tuple[tuple[McpServer, UserFacing], ...]:
        """The servers that are switched on and do not run, each with the reason."""
        found = [(server, self.state(server)) for server in await self.servers.list() if server.enabled]
        return tuple(
            (server, state.problem)
            for server, state in found
            if state.phase is Phase.FAILED and state.problem is not None and _may_offer(server, only)
        )

    async def close(self) -> None:
        """End every server. What does not end in time is killed by then, or dies with its closed input."""
        self._closed = True
        self._unsubscribe()
        for task in self._tasks:
            task.cancel()
        sessions, self._sessions = list(self._sessions.values()), {}
        if sessions:

            async def stop_all() -> None:
                await asyncio.wait([asyncio.ensure_future(session.stop()) for session in sessions], timeout=CLOSE_S)

            await self._thread.run(stop_all)
        await self._thread.close(CLOSE_S)

    # helpers -------------------------------------------------------------------------------------------------------

    async def _offered(self, server: McpServer, patience: float) -> tuple[Offered, ...]:
        try:
            session = await self._session(server)
            return await self._thread.run(lambda: session.ready(patience=patience))
        except UserFacing as problem:
            log.info("the turn goes on without an MCP server: %s", problem)
            return ()

    async def _session(self, server: McpServer) -> Session:
        """The server's session as it is configured now; one of an earlier revision is ended first."""
        async with self._making:
            if self._closed:
                raise mcp_state.gone(server.name)
            session = self._sessions.get(server.id)
            if session is not None and session.server.revision == server.revision:
                return session
            if session is not None:
                await self._thread.run(session.stop)
            values = await self.servers.values(server)
            stored = await self._settings.get(NETWORK)
            loop = asyncio.get_running_loop()

            def changed() -> None:
                with contextlib.suppress(RuntimeError):  # the application's loop is gone
                    loop.call_soon_threadsafe(self._tell)

            async def make() -> Session:
                # Here, on the thread: it imports the SDK, which takes a second.
                is_first = "mcp" not in sys.modules
                from devflow.providers.transport import Network
                from devflow.tools.mcp_source_session import Session

                if is_first and not gc.isenabled():  # the window collects by itself (ui/garbage), and would walk it all
                    gc.freeze()
                network = Network(
                    proxy=str(stored.get("proxy") or "system"),
                    proxy_url=str(stored.get("proxy_url") or ""),
                    ca_file=str(stored.get("ca_file") or ""),
                )
                return Session(
                    server, values, network=network, environ=self._environ, idle_s=self._idle_s, changed=changed
                )

            made = self._sessions[server.id] = await self._thread.run(make)
            return made

    def _tell(self) -> None:
        if not self._closed:
            self._hub.publish(ToolServersChanged())

    def _hear(self, event: Event) -> None:
        """End what was removed, switched off or changed, also by another process."""
        if isinstance(event, Changes) and GROUP in event.of(Aggregate.SETTING) and not self._closed:
            if self._sessions:
                task = asyncio.ensure_future(self._end_stale())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            self._hub.publish(ToolServersChanged())

    async def _end_stale(self) -> None:
        now = {server.id: server for server in await self.servers.list() if server.enabled}
        async with self._making:
            for id, session in list(self._sessions.items()):
                current = now.get(id)
                if current is None or current.revision != session.server.revision:
                    await self._thread.run(session.stop)
                    del self._sessions[id]
        self._tell()


def _may_offer(server: McpServer, only: Collection[str] | None) -> bool:
    if only is None:
        return True
    prefix = mcp_offered.server_prefix(server.name)
    return any(name.startswith(prefix) for name in only)
