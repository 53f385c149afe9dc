"""Chat completions as OpenAI's API has them, and as the many servers that speak it really do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.provider import ProviderConfig
from devflow.domain.request import ModelRequest
from devflow.providers.answers import Answer
from devflow.providers.chat_body import Dialect, Structured, chat_body, without
from devflow.providers.model_server import ModelServer
from devflow.providers.retry import Retry
from devflow.providers.transport import Transport


class OpenAICompat(ModelServer):
    """One configured server; `dialect` is what it accepts, and is corrected as it complains."""

    def __init__(
        self,
        config: ProviderConfig,
        key: str,
        transport: Transport,
        *,
        dialect: Dialect | None = None,
        windows: Mapping[str, int] | None = None,
        retry: Retry | None = None,
    ) -> None:
        super().__init__(config, key, transport, windows=windows, retry=retry)
        self._dialect = dialect or Dialect()

    @property
    def structured(self) -> Structured:
        """How far this server has gone with structured output so far."""
        return self._dialect.structured

    @property
    def _chat_url(self) -> str:
        return self.address.chat

    def _body(self, request: ModelRequest) -> Mapping[str, Any]:
        return chat_body(request, self._dialect)

    def _answer(self, request: ModelRequest) -> Answer:
        return Answer(self._speaker(request))

    def _learns(self, body: Mapping[str, Any], complaint: bytes) -> bool:
        learnt = without(self._dialect, body, complaint.decode("utf-8", "replace"))
        if learnt is None or learnt == self._dialect:
            return False
        self._dialect = learnt
        return True
