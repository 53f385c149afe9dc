"""Model servers that already run on this machine: found by asking the usual ports, all at once and briefly."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from devflow.domain.foreign_json import loads
from devflow.providers.failures import WireFailure
from devflow.providers.model_server import model_rows_in
from devflow.providers.presets import Preset
from devflow.providers.transport import Outgoing, Transport
from devflow.providers.urls import parse

WAIT = 1.5  # seconds for one port
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Found:
    """A running server, ready to be added."""

    preset: str
    name: str
    base_url: str
    models: tuple[str, ...]
    adapter: str = "openai_compat"


async def discover(
    transport: Transport, local: Sequence[Preset], *, addresses: Mapping[str, str] | None = None, wait: float = WAIT
) -> tuple[Found, ...]:
    """The servers that answer, in the order of `local`. `addresses` (preset id → base) replaces the usual ones."""
    asked = [(preset, (addresses or {}).get(preset.id, preset.base_url)) for preset in local]
    found = await asyncio.gather(*(_ask(transport, preset, base_url, wait) for preset, base_url in asked))
    return tuple(server for server in found if server is not None)


async def _ask(transport: Transport, preset: Preset, base_url: str, wait: float) -> Found | None:
    address = parse(base_url).listing(preset.adapter)
    if not await _listens(address, wait):
        return None
    outgoing = Outgoing(preset.name, address, "GET")
    try:
        reply = await transport.request(outgoing, timeout=wait)
        value = loads(reply.body) if reply.status == 200 else None
    except (WireFailure, ValueError):
        return None
    if not isinstance(value, dict) or not {"data", "models"} & value.keys():
        return None  # some other program has the port
    return Found(preset.id, preset.name, base_url, tuple(row["id"] for row in model_rows_in(value)), preset.adapter)


async def _listens(address: str, wait: float) -> bool:
    """Whether anybody is at that port. Asked without httpx: most first starts find nobody, and it takes 15 MB."""
    parts = urlsplit(address)
    try:
        async with asyncio.timeout(wait):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or _PORTS[parts.scheme])
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
