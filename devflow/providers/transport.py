"""HTTP, and the only importer of httpx: a successor is a swap of this file.

Loopback is always direct; other hosts go through the system's proxies, one of the user's, or none. A redirect is
followed within its origin only, because a key belongs to its origin.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.providers import failures, urls

if TYPE_CHECKING:
    import httpx

CONNECT_TIMEOUT = 10.0  # seconds
CONNECTIONS = 20
DRAIN_S = 1.0
"""A server that has said the last thing we read has so many seconds to end its answer."""
BODY_MAX = 32 * 1024 * 1024  # bytes of an answer that is not streamed
_REDIRECTS = 3
_QUEUED_CHUNKS = 32


@dataclass(frozen=True, slots=True)
class Network:
    """The user's network settings. `proxy` is `system`, `none` or `manual`; `proxy_url` counts for `manual` only."""

    proxy: str = "system"
    proxy_url: str = ""
    ca_file: str = ""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request. `server` is its name in sentences; `secrets` never appear in them."""

    server: str
    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer, whatever its status. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Incoming:
    """An answer whose body is still arriving."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class _Head:
    status: int
    headers: Mapping[str, str]


class _End:
    pass


_Item = _Head | bytes | Exception | _End


class Transport:
    """Connections to model servers, pooled. Belongs to the loop of its first request; close it on that loop.

    Clients are made on first use, off the loop: httpx and the system's certificates take 100 ms to load.
    """

    def __init__(
        self,
        network: Network | None = None,
        *,
        connections: int = CONNECTIONS,
        connect_timeout: float = CONNECT_TIMEOUT,
    ) -> None:
        self._network = network or Network()
        self._connections = connections
        self._connect_timeout = connect_timeout
        self._clients: dict[bool, httpx.AsyncClient] = {}
        self._making = asyncio.Lock()
        self._exchanges: set[_Exchange] = set()

    @asynccontextmanager
    async def stream(self, outgoing: Outgoing) -> AsyncGenerator[Incoming, None]:
        """Send, and hand out the answer as it arrives. Raises `Unreachable`, `StreamCut` or `Redirected`."""
        client = await self._client(urls.is_loopback(urlsplit(outgoing.url).hostname or ""))
        exchange = _Exchange(client, outgoing)
        self._exchanges.add(exchange)
        exchange.task.add_done_callback(lambda _: self._exchanges.discard(exchange))
        try:
            head = await exchange.items.get()
            if isinstance(head, Exception):
                raise head
            assert isinstance(head, _Head)
            yield Incoming(head.status, head.headers, _chunks(exchange.items))
        except BaseException:
            exchange.stop()
            raise
        # The reader has what it wanted; where the end of the body is still on its way, the connection can serve again.
        exchange.stop_after(DRAIN_S)

    async def request(self, outgoing: Outgoing, *, timeout: float = 30.0) -> Reply:
        """Send, and wait for the whole answer for at most `timeout` seconds. Raises as `stream` does."""
        try:
            async with asyncio.timeout(timeout), self.stream(outgoing) as incoming:
                body = bytearray()
                async for chunk in incoming.chunks:
                    body += chunk
                    if len(body) > BODY_MAX:
                        raise failures.too_much(outgoing.server, BODY_MAX)
                return Reply(incoming.status, incoming.headers, bytes(body))
        except TimeoutError:
            words = f"no answer within {timeout:g} s"
            raise failures.unreachable(outgoing.server, _address(outgoing.url), words) from None

    async def prepare(self, url: str) -> None:
        """Make the client now, so that the first request is as fast as the next."""
        await self._client(urls.is_loopback(urlsplit(url).hostname or ""))

    async def aclose(self) -> None:
        """End what is open and wait until every connection is given back."""
        exchanges = tuple(self._exchanges)
        for exchange in exchanges:
            exchange.stop()
        if exchanges:
            _, late = await asyncio.wait({exchange.task for exchange in exchanges}, timeout=DRAIN_S)
            for task in late:
                task.cancel()
        clients, self._clients = tuple(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def _client(self, direct: bool) -> httpx.AsyncClient:
        async with self._making:
            if direct not in self._clients:
                self._clients[direct] = await asyncio.to_thread(
                    _make_client, self._network, direct, self._connections, self._connect_timeout
                )
            return self._clients[direct]


class _Exchange:
    """One request and its answer, carried by a task of its own into a queue: head, body, then end or failure.

    httpx 0.28 leaks a pooled connection when its task is cancelled while it closes a stream: a user who stops twice
    does that, and so does one who stops just as the answer ends. So once the answer has begun, this task is not
    cancelled at all: its socket is closed under it, and httpx cleans up as after any lost connection.

    Before that it is cancelled, once; and since httpx also forgets the socket of a TLS handshake that is cancelled, the
    socket of a new connection is watched for (httpx's `trace`) and closed here too.
    """

    def __init__(self, client: httpx.AsyncClient, outgoing: Outgoing) -> None:
        self.items: asyncio.Queue[_Item] = asyncio.Queue(_QUEUED_CHUNKS)
        self._outgoing = outgoing
        self._stopped = False
        self._network: Any = None
        self._connecting: Any = None
        self._closing: asyncio.Task[None] | None = None
        self.task = asyncio.create_task(self._carry(client))

    def stop(self) -> None:
        """End it now, from however many sides it is asked; returns at once."""
        if self._stopped or self.task.done():
            return
        self._stopped = True
        while not self.items.empty():  # nobody reads any more: a full queue must not hold the task
            self.items.get_nowait()
        if self._network is None:
            self.task.cancel()
        if (wire := self._network or self._connecting) is not None:
            self._closing = asyncio.create_task(wire.aclose())

    def stop_after(self, seconds: float) -> None:
        if not self.task.done():
            timer = asyncio.get_running_loop().call_later(seconds, self.stop)
            self.task.add_done_callback(lambda _: timer.cancel())

    async def _carry(self, client: httpx.AsyncClient) -> None:
        try:
            url, method = self._outgoing.url, self._outgoing.method
            for _ in range(_REDIRECTS + 1):
                request = _request(client, self._outgoing, method, url)
                request.extensions["trace"] = self._watch
                response = await client.send(request, stream=True)
                try:
                    target = _redirect(response, self._outgoing, method)
                    if target is None:
                        await self._carry_body(response)
                        return
                    url = target
                finally:
                    await response.aclose()
            await self.items.put(_redirected(self._outgoing, url))
        except Exception as error:  # noqa: BLE001 - handed to the caller, who raises it
            if not self._stopped:
                await self.items.put(_failure(error, self._outgoing))
        finally:
            if self._closing is not None:  # so that this task ends last
                await asyncio.wait({self._closing})

    async def _watch(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            self._connecting = info["return_value"]

    async def _carry_body(self, response: httpx.Response) -> None:
        self._network = response.extensions.get("network_stream")
        await self.items.put(_Head(response.status_code, dict(response.headers.items())))
        # Never left half-way: httpx's generators would be given up while they hold the connection, and complain. Once
        # stopped, the closed socket ends them.
        async for chunk in response.aiter_bytes():
            if not self._stopped:
                await self.items.put(chunk)
        if not self._stopped:
            await self.items.put(_End())


async def _chunks(items: asyncio.Queue[_Item]) -> AsyncGenerator[bytes, None]:
    while True:
        item = await items.get()
        match item:
            case bytes():
                yield item
            case Exception():
                if isinstance(item, failures.Unreachable):
                    raise failures.cut(str(item.params["server"]), str(item.params["words"])) from item
                raise item
            case _:
                return


def _request(client: httpx.AsyncClient, outgoing: Outgoing, method: str, url: str) -> httpx.Request:
    content = None if outgoing.body is None else json.dumps(outgoing.body, ensure_ascii=False).encode()
    headers = {"Accept": "text/event-stream, application/json", **outgoing.headers}
    if content is not None:
        headers["Content-Type"] = "application/json"
    return client.build_request(method, url, headers=headers, content=content)


def _redirect(response: httpx.Response, outgoing: Outgoing, method: str) -> str | None:
    """The new address within the same origin, None if this is no redirect; raises `Redirected` for another host."""
    location = str(response.headers.get("location", ""))
    if response.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    target = urljoin(str(response.url), location)
    if _origin(target) != _origin(outgoing.url) or (method != "GET" and response.status_code not in (307, 308)):
        raise _redirected(outgoing, target)
    return target


def _redirected(outgoing: Outgoing, target: str) -> failures.Redirected:
    return failures.Redirected(
        N_("{server} sends elsewhere, to {location}; that is not followed, because a key belongs to its address."),
        N_("If that is the right address, enter it in Settings, under Providers."),
        retryable=False,
        server=outgoing.server,
        location=failures.tidy(target, outgoing.secrets),
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port


def _failure(error: Exception, outgoing: Outgoing) -> Exception:
    """Before the head every failure means "unreachable"; `_chunks` makes "cut" of it after the head."""
    import httpx

    if not isinstance(error, httpx.HTTPError | httpx.InvalidURL):
        return error
    return failures.unreachable(outgoing.server, _address(outgoing.url), failures.tidy(_words(error), outgoing.secrets))


def _words(error: Exception) -> str:
    """The most telling words of a chain of exceptions: the system's, if it had any."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, httpx.PoolTimeout):
        return "too many requests at once"
    link: BaseException | None = error
    seen = 0
    while link is not None and seen < 10:
        if isinstance(link, BaseExceptionGroup) and link.exceptions:
            link = link.exceptions[0]
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({link.verify_message})"
        if isinstance(link, OSError) and link.errno and not isinstance(link, ssl.SSLError):
            # asyncio puts words of its own ("Connect call failed") where the system's belong; a resolver has its own.
            return str(link.strerror) if isinstance(link, socket.gaierror) else os.strerror(link.errno)
        link, seen = link.__cause__ or link.__context__, seen + 1
    return str(error) or type(error).__name__


def _address(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _make_client(network: Network, direct: bool, connections: int, connect_timeout: float) -> httpx.AsyncClient:
    """Runs on a thread. `trust_env` brings the system's proxies; no cookie is kept, no `.netrc` read."""
    import anyio  # noqa: F401 - httpcore imports it at the first connection, which would be on the loop
    import httpx

    manual = network.proxy_url if not direct and network.proxy == "manual" and network.proxy_url else None
    try:
        return httpx.AsyncClient(
            verify=certificates(network.ca_file),
            trust_env=not direct and network.proxy == "system",
            proxy=manual,
            timeout=httpx.Timeout(None, connect=connect_timeout, write=60.0, pool=30.0),
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            headers={"User-Agent": "DevFlow"},
        )
    except (ImportError, ValueError) as error:  # a SOCKS proxy, or one that is no address
        raise InvalidInput(
            "proxy",
            N_("The proxy cannot be used: {reason}."),
            N_("Use an http proxy, or choose no proxy in Settings, under Network."),
            reason=failures.tidy(str(error)),
        ) from error


def certificates(ca_file: str) -> ssl.SSLContext:
    """The system's certificates, the bundled ones, and the user's own."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    if ca_file:
        try:
            context.load_verify_locations(ca_file)
        except OSError as error:
            raise InvalidInput(
                "ca_file",
                N_("The certificate file {path} cannot be used: {reason}."),
                N_("Choose a PEM file in Settings, under Network."),
                path=ca_file,
                reason=failures.tidy(str(error)),
            ) from error
    return context
