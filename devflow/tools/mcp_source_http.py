"""A server behind an address: the SDK's streamable HTTP transport over a client with the user's network settings.

No redirect leaves the address's origin (the SDK sees to it), no cookie is kept, no `.netrc` is read. It runs on the
sources' own thread.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client

from devflow.providers import urls
from devflow.providers.transport import Network, certificates
from devflow.tools.mcp_expand import Endpoint

ANSWER_MAX = 8 * 1024 * 1024
"""Bytes of one answer that is no stream, and of one event of a stream."""
_CONNECT_S = 10.0


class HttpTransport:
    """`last_status` is that of the newest answer that was a refusal: the SDK keeps only that there was one."""

    def __init__(self, endpoint: Endpoint, network: Network) -> None:
        self._endpoint = endpoint
        self._network = network
        self.ended = anyio.Event()
        self.why = ""
        self.last_status = 0

    pid: int | None = None
    exit_code: int | None = None

    @property
    def last_words(self) -> str:
        return f"HTTP {self.last_status}" if self.last_status else ""

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[object]:
        direct = urls.is_loopback(urlsplit(self._endpoint.url).hostname or "")
        manual = self._network.proxy_url if self._network.proxy == "manual" and not direct else None
        client = httpx2.AsyncClient(
            verify=await anyio.to_thread.run_sync(certificates, self._network.ca_file),
            trust_env=not direct and self._network.proxy == "system",
            proxy=manual or None,
            timeout=httpx2.Timeout(None, connect=_CONNECT_S, write=60.0, pool=30.0),
            headers={"User-Agent": "DevFlow", **self._endpoint.headers},
            event_hooks={"response": [self._look_at]},
        )
        async with (
            client,
            streamable_http_client(self._endpoint.url, http_client=client, max_sse_event_size=ANSWER_MAX) as streams,
        ):
            yield streams

    async def _look_at(self, response: httpx2.Response) -> None:
        if (
            response.status_code >= 400 and response.status_code != 405
        ):  # 405: it has no stream of its own, which is fine
            self.last_status = response.status_code
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """A body of at most `ANSWER_MAX` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream | httpx2.SyncByteStream) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > ANSWER_MAX:
                raise httpx2.StreamError(f"the answer has more than {ANSWER_MAX:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
