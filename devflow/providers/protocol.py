"""What the rooms above see of a model server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from devflow.domain.provider import ProviderConfig
from devflow.domain.request import ModelRequest, StreamEvent
from devflow.providers.embeddings import Embedder


class Provider(Protocol):
    """One configured server, or the offline assistant. Safe for several streams at once on one loop."""

    id: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Ask for one step. The last event of a good stream is `StreamEnd`; everything else raises `ProviderFailed`.

        Iterate it inside `contextlib.aclosing(...)`, so that stopping closes the connection at once and exactly once.
        """
        ...

    async def models(self) -> tuple[str, ...]:
        """The models that the server offers, in its own order; raises `ProviderFailed`."""
        ...

    async def context_window(self, model: str) -> int | None:
        """Tokens that fit in one request, or None when nobody says; never raises for a server that is away."""
        ...

    async def aclose(self) -> None:
        """Let go of what belongs to this provider alone."""
        ...


class Server(Provider, Protocol):
    """A model server of whatever adapter, as setting one up and testing it need it; `adapters` makes them."""

    config: ProviderConfig

    @property
    def has_key(self) -> bool:
        """Whether a key goes along with its requests."""
        ...

    def embedder(self, model: str) -> Embedder | None:
        """What makes vectors with one of its models; None where its protocol has no embeddings."""
        ...

    async def prepare(self) -> None:
        """Get everything ready but the request, so that a measured time is the server's own."""
        ...
