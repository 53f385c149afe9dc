"""How many tokens fit, as servers tell it: what one has really allocated, else what it says of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.providers.failures import WireFailure
from devflow.providers.transport import Outgoing, Transport
from devflow.providers.urls import Address

_WAIT = 2.0  # seconds; a turn does not wait longer to know how much fits


async def allocated_window(
    transport: Transport, outgoing: Callable[..., Outgoing], address: Address, preset: str, model: str
) -> int | None:
    """What a local server has allocated for the model: llama.cpp, LM Studio or Ollama. None elsewhere.

    A custom address on this machine is asked as each of them, at the same time.
    """
    readers: dict[str, tuple[str, Callable[[Any, str], int | None]]] = {
        "llama_cpp": (f"{address.root}/props", _of_llama_cpp),
        "lm_studio": (f"{address.root}/api/v0/models", _of_lm_studio),
        "ollama": (f"{address.root}/api/ps", _of_ollama),
    }
    if preset in readers:
        asked = [readers[preset]]
    elif preset == "custom" and address.is_loopback:
        asked = list(readers.values())
    else:
        return None
    answers = await asyncio.gather(*(_ask(transport, outgoing(url, method="GET")) for url, _ in asked))
    found = [read(value, model) for (_, read), value in zip(asked, answers, strict=True)]
    return next((tokens for tokens in found if tokens is not None), None)


def window_in_models(rows: Sequence[Mapping[str, Any]], model: str) -> int | None:
    """What `/models` says: vLLM's `max_model_len`, OpenRouter's `context_length`, and their kin."""
    row = next((row for row in rows if row["id"] == model), {})
    for name in ("max_model_len", "context_length", "max_context_length", "max_input_tokens", "context_window"):
        tokens = _positive(row.get(name))
        if tokens is not None:
            return tokens
    return None


def table_window(windows: Mapping[str, int], model: str) -> int | None:
    """The longest name in the table that the model's own name (without a path before it) begins with."""
    name = model.rpartition("/")[2].casefold()
    fitting = [known for known in windows if name.startswith(known.casefold())]
    return windows[max(fitting, key=len)] if fitting else None


async def _ask(transport: Transport, outgoing: Outgoing) -> object:
    try:
        reply = await transport.request(outgoing, timeout=_WAIT)
        return loads(reply.body) if reply.status == 200 else None
    except (WireFailure, ValueError):
        return None


def _of_llama_cpp(value: Any, _model: str) -> int | None:
    settings = value.get("default_generation_settings") if isinstance(value, Mapping) else None
    return _positive(settings.get("n_ctx")) if isinstance(settings, Mapping) else None


def _of_lm_studio(value: Any, model: str) -> int | None:
    return _in_rows(value, "data", "id", model, "loaded_context_length")


def _of_ollama(value: Any, model: str) -> int | None:
    return _in_rows(value, "models", "name", model, "context_length")


def _in_rows(value: Any, rows: str, name: str, model: str, tokens: str) -> int | None:
    listed = value.get(rows) if isinstance(value, Mapping) else None
    for row in listed if isinstance(listed, list) else ():
        if isinstance(row, Mapping) and row.get(name) == model:
            return _positive(row.get(tokens))
    return None


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
