"""The adapters by name, and the one place that makes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_

if TYPE_CHECKING:  # httpx and what needs it load at the first use, not at start-up
    from devflow.domain.provider import ProviderConfig
    from devflow.providers.presets import Preset
    from devflow.providers.protocol import Server
    from devflow.providers.retry import Retry
    from devflow.providers.transport import Transport

ADAPTERS = frozenset({"openai_compat", "anthropic", "ollama"})


def make_server(
    config: ProviderConfig,
    key: str,
    transport: Transport,
    *,
    preset: Preset,
    windows: Mapping[str, int] | None = None,
    retry: Retry | None = None,
) -> Server:
    """The live server of a configuration; raises `InvalidInput` for an adapter of a newer version."""
    match config.adapter:
        case "openai_compat":
            from devflow.providers.openai_compat import OpenAICompat

            return OpenAICompat(config, key, transport, dialect=preset.dialect, windows=windows, retry=retry)
        case "anthropic":
            from devflow.providers.anthropic import Anthropic

            return Anthropic(config, key, transport, windows=windows, retry=retry)
        case "ollama":
            from devflow.providers.ollama import Ollama

            return Ollama(config, key, transport, windows=windows, retry=retry)
        case _:
            raise no_adapter(config.adapter)


def no_adapter(name: str) -> InvalidInput:
    return InvalidInput("adapter", N_("There is no adapter {value}."), N_("Choose one of the presets."), value=name)
