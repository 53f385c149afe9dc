"""One configured server's life: started when it is needed, kept while it is, closed when idle, started anew after it
died.

All of it runs on the sources' own thread and its asyncio loop (decision 24); nothing polls. A life is one task, which
enters the transport and the SDK's client and leaves them again: anyio demands that both happen in the same task.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any

import anyio
import mcp_types
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from devflow import __version__
from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_
from devflow.domain.text.hidden import with_hidden_shown
from devflow.providers.transport import Network
from devflow.tools import mcp_offered, mcp_state
from devflow.tools.mcp_config import McpServer
from devflow.tools.mcp_expand import Launch, filled_in
from devflow.tools.mcp_offered import Offered, Refused
from devflow.tools.mcp_source_http import HttpTransport
from devflow.tools.mcp_source_reading import Transport, first_of, is_sound, offered_of, reason_of, tidy
from devflow.tools.mcp_source_stdio import StdioTransport
from devflow.tools.mcp_state import STOPPED, Phase, ServerState

log = logging.getLogger(__name__)
logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs session ids, and answers that it cannot read
logging.getLogger("client").setLevel(logging.CRITICAL)

PAGES_MAX = 20
"""Pages of a server's list of tools that are read."""
RELIST_PAUSE_S = 1.0
"""A server that keeps saying that its tools changed is asked so often at most."""
STEADY_S = 30.0
"""A server that ran so long has not failed at starting: the next start is not held back."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0
"""Before the third start in a row that fails, and at most; each pause is twice the one before."""

NOT_FOUND = 404
WAITED_OUT_S = 5.0
"""A call waits so long for a server that is left alone for a while."""


class Session:
    """`values` are read and references filled in at each start. `changed` is called on this thread at every change of
    `state`, which any thread may read."""

    def __init__(
        self,
        server: McpServer,
        values: Mapping[str, str],
        *,
        network: Network,
        environ: Mapping[str, str],
        idle_s: float,
        changed: Callable[[], None],
    ) -> None:
        self.server = server
        self.state: ServerState = STOPPED
        self.offered: tuple[Offered, ...] = ()
        self._values = values
        self._network = network
        self._environ = environ
        self._idle_s = idle_s
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._client: Client | None = None
        self._current: Transport | None = None
        self._life: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._began = 0.0
        self._not_before = 0.0
        self._failures = 0
        self._scope: anyio.CancelScope | None = None
        self._stop = anyio.Event()
        self._relist = anyio.Event()
        self._in_use = 0
        self._last_used = 0.0
        self._idle_check: asyncio.TimerHandle | None = None

    async def ready(self, *, patience: float = math.inf, force: bool = False) -> tuple[Offered, ...]:
        """The tools of the running server, which is started if need be; raises `UserFacing` where it does not run.

        It gets `patience` seconds since its start began, not since this was called: who waits for a server that is slow
        waits once. After failures it is left alone for a while, unless `force`.
        """
        self._touch()
        while self._client is None:
            if self._life is None or self._life.done():
                self._begin(force=force)
            assert self._started is not None
            assert self._life is not None
            if self._started.done():  # it is ending
                await asyncio.wait({self._life})
                continue
            left = max(0.0, self._began + patience - self._loop.time())
            done, _ = await asyncio.wait({self._started}, timeout=None if left == math.inf else left)
            if not done:
                raise mcp_state.too_slow(self.server.name, patience)
            self._started.result()
        return self.offered

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The answer as plain JSON; raises `UserFacing` with a sentence for the model."""
        self._in_use += 1
        try:
            if 0 < (pause := self._not_before - self._loop.time()) <= WAITED_OUT_S and self._client is None:
                await asyncio.sleep(pause)
            await self.ready()
            try:
                return await self._call(tool, arguments)
            except _SessionLost:  # the server was started anew and did nothing: ask it again
                await self.ready()
                return await self._call(tool, arguments)
        finally:
            self._in_use -= 1
            self._touch()

    async def stop(self) -> None:
        """End it, and wait until it is gone."""
        self._stop.set()
        if self._client is None and self._scope is not None:
            self._scope.cancel()  # it is starting
        if self._idle_check is not None:
            self._idle_check.cancel()
        if self._life is not None:
            await asyncio.wait({self._life})

    # a call --------------------------------------------------------------------------------------------------------

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        client, life, transport = self._client, self._life, self._current
        assert client is not None
        assert life is not None
        name, seconds = self.server.name, self.server.call_timeout
        if isinstance(transport, HttpTransport):
            transport.last_status = 0
        request = mcp_types.CallToolRequest(
            params=mcp_types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        )
        try:
            # Not `client.call_tool`: that runs the answer through a schema of the server's making, patterns included.
            result = await client.session.send_request(
                request, mcp_types.CallToolResult, request_read_timeout_seconds=seconds
            )
        except MCPError as error:
            if error.code == mcp_types.REQUEST_TIMEOUT:
                raise mcp_state.no_answer(name, seconds) from None
            if isinstance(transport, HttpTransport) and transport.last_status == NOT_FOUND:
                await self._ended_in_call(life)
                raise _SessionLost(str(error)) from None
            if error.code == mcp_types.CONNECTION_CLOSED:
                raise await self._ended_in_call(life) from None
            raise mcp_state.refused(name, tidy(error.message, self._values)) from None
        except ValidationError:
            raise mcp_state.not_understood(name) from None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):
            raise await self._ended_in_call(life) from None
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def _ended_in_call(self, life: asyncio.Task[None]) -> UserFacing:
        """Let the life end, so that the next call begins another, and say why it did."""
        self._stop.set()
        await asyncio.wait({life}, timeout=2)
        problem = self.state.problem
        reason = str(problem.params.get("what", "")) if problem is not None else ""
        return mcp_state.ended_in_call(self.server.name, reason or N_("the connection is gone"))

    # a life --------------------------------------------------------------------------------------------------------

    def _begin(self, *, force: bool) -> None:
        now = self._loop.time()
        if now < self._not_before and not force and self.state.problem is not None:
            raise self.state.problem.with_traceback(None)
        self._began = now
        self._stop, self._relist = anyio.Event(), anyio.Event()
        self._started = self._loop.create_future()
        self._started.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may go unasked for
        self._set(ServerState(Phase.STARTING))
        self._life = self._loop.create_task(self._live(self._started))

    async def _live(self, started: asyncio.Future[None]) -> None:
        problem: UserFacing | None = None
        try:
            for mode in ("legacy", "auto"):  # nearly all servers know the handshake; the newest may have dropped it
                problem = await self._live_once(mode, started)
                if not isinstance(problem, _OtherProtocol):
                    break
        finally:
            self._client, self._scope, self.offered = None, None, ()
            if not started.done():
                started.set_exception(problem or mcp_state.not_started(self.server.name, N_("it was stopped")))
            if problem is not None:
                self._hold_back()
                self._set(ServerState(Phase.FAILED, problem=problem))
                log.info("%s", problem)
            else:
                self._set(STOPPED)

    async def _live_once(self, mode: str, started: asyncio.Future[None]) -> UserFacing | None:
        """From start to end; returns why it ended, or None if it was asked to."""
        name = self.server.name
        transport: Transport | None = None
        failure: BaseException | None = None
        by_itself = False
        scope = self._scope = anyio.CancelScope(deadline=self._began + self.server.start_timeout)
        try:
            with scope:
                transport = self._current = self._transport()
                async with self._connected(transport, mode) as client:
                    await self._list(client, transport)
                    scope.deadline = math.inf
                    self._client = client
                    if not started.done():
                        started.set_result(None)
                    await self._until_end(client, transport)
                    self._client = None
                    by_itself = transport.ended.is_set()
        except UserFacing as error:
            return error
        except Exception as error:  # noqa: BLE001 - whatever a foreign program makes the SDK raise, it is that program's end
            failure = first_of(error)
        self._client = None
        if self._stop.is_set() and not by_itself and failure is None:
            return None
        if not started.done():
            if scope.cancelled_caught:
                return mcp_state.too_slow(name, self.server.start_timeout)
            if mode == "legacy" and isinstance(failure, MCPError) and failure.code in _OTHER_PROTOCOL:
                return _OtherProtocol(str(failure))
            return mcp_state.not_started(name, reason_of(transport, failure, self._values))
        return mcp_state.ended(name, reason_of(transport, failure, self._values))

    def _transport(self) -> Transport:
        how = filled_in(self.server, self._values, self._environ)
        if isinstance(how, Launch):
            return StdioTransport(self.server.name, how)
        return HttpTransport(how, self._network)

    @contextlib.asynccontextmanager
    async def _connected(self, transport: Transport, mode: str) -> AsyncIterator[Client]:
        client = Client(
            transport.connected(),  # type: ignore[arg-type]  # structurally one
            mode=mode,
            cache=None,
            client_info=mcp_types.Implementation(name="DevFlow", version=__version__),
            message_handler=self._hear,
        )
        async with client:
            yield client

    async def _list(self, client: Client, transport: Transport) -> None:
        """Ask what it offers, page by page; what cannot be offered is left out and named in the log."""
        found: list[Offered] = []
        if client.server_capabilities.tools is not None:
            cursor: str | None = None
            for _ in range(PAGES_MAX):
                page = await client.list_tools(cursor=cursor)
                found += [offered_of(tool) for tool in page.tools]
                cursor = page.next_cursor
                if not cursor or len(found) > 4 * mcp_offered.TOOLS_MAX:
                    break
        fit, left = mcp_offered.fit(found)
        self.offered = tuple(tool for tool in fit if is_sound(tool.schema))
        left += tuple(Refused(tool.name, "its schema is none") for tool in fit if not is_sound(tool.schema))
        for one in left:
            log.info("MCP server %s: its tool %r is left out: %s", self.server.name, one.name[:80], one.why)
        about = client.server_info
        self._set(
            ServerState(
                Phase.RUNNING,
                tuple(tool.name for tool in self.offered),
                tuple(one.name for one in left),
                transport.pid,
                client.protocol_version,
                with_hidden_shown(f"{about.name} {about.version}").strip()[:80] if about is not None else "",
            )
        )

    async def _until_end(self, client: Client, transport: Transport) -> None:
        """Follow changes of its tools until it is stopped, or ends by itself."""
        async with anyio.create_task_group() as group:

            async def when(event: anyio.Event) -> None:
                await event.wait()
                group.cancel_scope.cancel()

            group.start_soon(when, self._stop)
            group.start_soon(when, transport.ended)
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                group.start_soon(self._subscribe, client)
            while True:
                await self._relist.wait()
                self._relist = anyio.Event()
                with contextlib.suppress(MCPError, ValidationError):  # it offers what it offered before
                    await self._list(client, transport)
                await anyio.sleep(RELIST_PAUSE_S)

    async def _subscribe(self, client: Client) -> None:
        """Servers of the newest protocol tell of changes only to those who listen."""
        with contextlib.suppress(Exception):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._relist.set()

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._relist.set()

    # state ---------------------------------------------------------------------------------------------------------

    def _hold_back(self) -> None:
        """After the second failure in a row it is left alone for a while, longer each time."""
        now = self._loop.time()
        self._failures = 1 if self.state.phase is Phase.RUNNING and now - self._began > STEADY_S else self._failures + 1
        pause = 0.0 if self._failures < 2 else min(FIRST_PAUSE_S * 2 ** (self._failures - 2), LONGEST_PAUSE_S)
        self._not_before = now + pause

    def _set(self, state: ServerState) -> None:
        if state != self.state:
            self.state = replace(state)
            self._changed()

    def _touch(self) -> None:
        """It was used: it stays for another while. One timer, set when it is due and not at each use."""
        self._last_used = self._loop.time()
        if self._idle_check is None:
            self._idle_check = self._loop.call_later(self._idle_s, self._look_whether_idle)

    def _look_whether_idle(self) -> None:
        left = self._last_used + self._idle_s - self._loop.time()
        if left > 0.001 or self._in_use:
            self._idle_check = self._loop.call_later(max(left, 1.0), self._look_whether_idle)
        else:
            self._idle_check = None
            self._stop.set()


class _SessionLost(UserFacing):
    """A server behind an address does not know our session any more (its 404 says that nothing was done)."""


class _OtherProtocol(UserFacing):
    """It does not know the handshake; the newer way is tried."""


_OTHER_PROTOCOL = (mcp_types.UNSUPPORTED_PROTOCOL_VERSION, mcp_types.METHOD_NOT_FOUND)
