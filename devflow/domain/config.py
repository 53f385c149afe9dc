"""`KnowledgeConfig`: how knowledge is learnt and used. Kept as one JSON value under `knowledge_config` (KP-1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable

KEY = "knowledge_config"
MIN_MESSAGES_RANGE = (1, 1000)
IDLE_TIMEOUT_RANGE_MS = (1_000, 86_400_000)


class TriggerMode(StrEnum):
    ON_COMPLETE = "on_complete"
    ON_IDLE = "on_idle"
    MANUAL_ONLY = "manual_only"


@dataclass(frozen=True, slots=True)
class KnowledgeConfig:
    """`min_messages` counts user and assistant messages; `idle_timeout_ms` is in milliseconds.

    `embedding_provider_id` `"builtin"` is the embedded model, else the id of an OpenAI-compatible provider.
    """

    auto_extract: bool = True
    trigger_mode: TriggerMode = TriggerMode.ON_COMPLETE
    min_messages: int = 4
    idle_timeout_ms: int = 30_000
    auto_inject: bool = True
    vector_enabled: bool = False
    embedding_provider_id: str | None = None
    embedding_model: str | None = None


FIELDS = tuple(f.name for f in fields(KnowledgeConfig))


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """A stored value as it could be read: the config, the fields of a newer version to keep, and what was wrong."""

    config: KnowledgeConfig
    unknown: Mapping[str, Any]
    problems: tuple[str, ...]


def read(raw: object) -> ReadConfig:
    """Read a stored value field by field; a field that cannot be read takes its default and is named in `problems`."""
    if raw is None:
        return ReadConfig(KnowledgeConfig(), {}, ())
    if not isinstance(raw, Mapping):
        return ReadConfig(KnowledgeConfig(), {}, (f"{KEY} is not an object",))
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name in FIELDS:
        if name not in raw:
            continue
        try:
            values[name] = check_field(name, raw[name])
        except InvalidInput as error:
            problems.append(f"{name}: {error}")
    unknown = {str(key): value for key, value in raw.items() if key not in FIELDS}
    return ReadConfig(KnowledgeConfig(**values), unknown, tuple(problems))


def write(config: KnowledgeConfig, unknown: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON value to store: every field, and the unknown ones of a newer version untouched."""
    return {**unknown, **{name: getattr(config, name) for name in FIELDS}}


def check(config: KnowledgeConfig) -> KnowledgeConfig:
    """Validate before a save; raises `InvalidInput` naming the first bad field."""
    return KnowledgeConfig(**{name: check_field(name, getattr(config, name)) for name in FIELDS})


def check_field(name: str, value: Any) -> Any:
    """One field's value in its own type, or `InvalidInput`. JSON types in, Python types out."""
    match name:
        case "auto_extract" | "auto_inject" | "vector_enabled":
            if isinstance(value, bool):
                return value
            raise _bad(name, value, N_("It is true or false."))
        case "trigger_mode":
            if isinstance(value, str) and value in set(TriggerMode):
                return TriggerMode(value)
            raise _bad(name, value, N_("It is on_complete, on_idle or manual_only."))
        case "min_messages":
            return _whole_number(name, value, MIN_MESSAGES_RANGE)
        case "idle_timeout_ms":
            return _whole_number(name, value, IDLE_TIMEOUT_RANGE_MS)
        case "embedding_provider_id" | "embedding_model":
            if value is None or (isinstance(value, str) and 0 < len(value) <= 200 and is_storable(value)):
                return value
            raise _bad(name, value, N_("It is a name, or null."))
        case _:
            raise InvalidInput(
                name, N_("There is no setting {field}."), N_("Settings: {known}."), known=", ".join(FIELDS)
            )


def _whole_number(name: str, value: Any, bounds: tuple[int, int]) -> int:
    low, high = bounds
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise _bad(name, value, N_("It is a whole number from {low} to {high}."), low=low, high=high)


def _bad(name: str, value: Any, hint: str, **params: object) -> InvalidInput:
    return InvalidInput(name, N_("{value} is not a value for {field}."), hint, value=repr(value)[:80], **params)
