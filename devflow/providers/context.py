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
    readers: dict[str, tuple[tuple[str, Callable[[Any, str], int | None]], ...]] = {
        "llama_cpp": ((f"{address.root}/props", _of_props), (f"{address.root}/slots", _of_slots)),
        "lm_studio": (
            (f"{address.root}/api/v1/models", _of_lm_studio),
            (f"{address.root}/api/v0/models", _of_older_lm_studio),
        ),
        "ollama": ((f"{address.root}/api/ps", _of_ollama),),
    }
    if preset in readers:
        asked = readers[preset]
    elif preset == "custom" and address.is_loopback:
        asked = tuple(reader for each in readers.values() for reader in each)
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
            served = row.get("top_provider")  # OpenRouter: who really answers may serve less of it
            less = _positive(served.get("context_length")) if isinstance(served, Mapping) else None
            return min(tokens, less or tokens)
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


def _of_props(value: Any, _model: str) -> int | None:
    settings = value.get("default_generation_settings") if isinstance(value, Mapping) else None
    return _positive(settings.get("n_ctx")) if isinstance(settings, Mapping) else None


def _of_slots(value: Any, _model: str) -> int | None:
    """Every request gets one slot; the smallest is what surely fits."""
    sizes = (
        [_positive(row.get("n_ctx")) for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
    )
    return min((size for size in sizes if size is not None), default=None)


def _of_lm_studio(value: Any, model: str) -> int | None:
    """A loaded instance answers to its own id; a model's key means its first one."""
    for row in _rows(value, "models"):
        instances = [each for each in _listed(row.get("loaded_instances")) if isinstance(each.get("config"), Mapping)]
        named = [each for each in instances if each.get("id") == model]
        for instance in named or (instances if row.get("key") == model else ()):
            return _positive(instance["config"].get("context_length"))
    return None


def _of_older_lm_studio(value: Any, model: str) -> int | None:
    row = next((row for row in _rows(value, "data") if row.get("id") == model), {})
    return _positive(row.get("loaded_context_length"))


def _of_ollama(value: Any, model: str) -> int | None:
    """A name without a tag means its `latest`."""
    full = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    row = next((row for row in _rows(value, "models") if row.get("name") in (model, full)), {})
    return _positive(row.get("context_length"))


def _rows(value: Any, name: str) -> list[Mapping[str, Any]]:
    return _listed(value.get(name)) if isinstance(value, Mapping) else []


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
