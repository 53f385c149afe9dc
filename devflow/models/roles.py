"""Which model does what: the settings group `roles`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.provider import Roles

GROUP = "roles"
NAMES = ("main", "digest", "extraction")


def read_roles(value: Mapping[str, Any], known: Collection[str]) -> Roles:
    """The stored choices; one of a provider that is gone, or that cannot be read, counts as not made."""
    return Roles(**{name: _choice(value.get(name), known) for name in NAMES})


def write_roles(value: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """The value to store, with whatever a newer version keeps beside it."""
    return {**value, **{name: _to_json(getattr(roles, name)) for name in NAMES}}


def without_provider(value: Mapping[str, Any], id: str) -> dict[str, Any]:
    """The stored value with no role left to that provider."""
    return {
        name: None if isinstance(choice, Mapping) and choice.get("provider_id") == id else choice
        for name, choice in value.items()
    }


def _choice(value: object, known: Collection[str]) -> ModelChoice | None:
    if not isinstance(value, Mapping):
        return None
    provider_id, model = value.get("provider_id"), value.get("model")
    if not isinstance(provider_id, str) or not isinstance(model, str):
        return None
    if provider_id != OFFLINE.provider_id and provider_id not in known:
        return None
    return ModelChoice(provider_id, model)


def _to_json(choice: ModelChoice | None) -> dict[str, str] | None:
    return None if choice is None else {"provider_id": choice.provider_id, "model": choice.model}
