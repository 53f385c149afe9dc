"""Settings beside `KnowledgeConfig` and the appearance: which model does what, the network, extraction's daily cap."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core

ROLES: Mapping[str, str] = {"main_model": "main", "digest_model": "digest", "extraction_model": "extraction"}
"""Key here → name of the role. A value is PROVIDER/MODEL (the provider by name or id), `offline`, or `none`."""

NETWORK = ("proxy", "proxy_url", "ca_file")
DAILY_CALLS = "daily_calls"
HYBRID_ORDER = "hybrid_order"
"""How hits by words and by meaning are ordered: by one score, or the seed's three groups one after the other."""
ORDERS = ("fused", "strict")
DAILY_TEXTS = "daily_texts"
"""So many texts a day are sent to an embedding model; `none` is no limit."""
KEYS = (*ROLES, *NETWORK, DAILY_CALLS, HYBRID_ORDER, DAILY_TEXTS)
GROUPS: Mapping[str, Mapping[str, str]] = {
    "roles": ROLES,
    "network": {key: key for key in NETWORK},
    "extraction": {DAILY_CALLS: DAILY_CALLS},
    "embedding": {HYBRID_ORDER: HYBRID_ORDER, DAILY_TEXTS: DAILY_TEXTS},
}
"""How `config get` orders them: group → key here → name there."""
MOST_CALLS = 100_000


async def values(core: Core) -> dict[str, Any]:
    """Every one of these settings as JSON: what is stored, or its default."""
    from devflow.extraction.service import DAILY_CALLS as USUAL
    from devflow.extraction.service import GROUP
    from devflow.knowledge.embedding_worker import GROUP as EMBEDDING
    from devflow.models.registry import NETWORK as NETWORK_GROUP
    from devflow.providers.transport import Network

    roles = asdict(await core.models.roles())
    network = {**asdict(Network()), **await core.settings.get(NETWORK_GROUP)}
    return {
        **{key: roles[name] for key, name in ROLES.items()},
        **{key: network[key] for key in NETWORK},
        **_embedding(await core.settings.get(EMBEDDING)),
        DAILY_CALLS: (await core.settings.get(GROUP)).get(DAILY_CALLS, USUAL),
    }


async def change(core: Core, key: str, text: str) -> Any:
    """Set one; returns its new value as JSON. Raises `InvalidInput` for what the setting cannot be."""
    if key in ROLES:
        return await _change_role(core, key, text)
    if key in NETWORK:
        return await _change_network(core, key, text)
    if key == HYBRID_ORDER:
        return await _change_order(core, text)
    if key == DAILY_TEXTS:
        return await _change_daily_texts(core, text)
    return await _change_daily_calls(core, text)


async def _change_role(core: Core, key: str, text: str) -> Any:
    choice = await _choice(core, key, text)
    await core.models.save_roles(replace(await core.models.roles(), **{ROLES[key]: choice}))
    return None if choice is None else asdict(choice)


async def _choice(core: Core, key: str, text: str) -> ModelChoice | None:
    if text in ("none", "null", ""):
        return None
    if text == OFFLINE.provider_id:
        return OFFLINE
    known = await core.models.list()
    for provider in known:
        for name in (provider.id, provider.name):
            model = text.removeprefix(f"{name}/")
            if model != text and model.strip():
                return ModelChoice(provider.id, model)
    named = ", ".join(f"{one.name}/{one.models[0] if one.models else 'MODEL'}" for one in known) or "–"
    raise InvalidInput(
        key,
        N_("{value} names no model of a provider."),
        N_("Write PROVIDER/MODEL, offline, or none. Providers: {known}."),
        value=repr(text),
        known=named,
    )


async def _change_network(core: Core, key: str, text: str) -> Any:
    from devflow.models.registry import NETWORK as NETWORK_GROUP
    from devflow.providers import network
    from devflow.providers.transport import Network

    stored = {name: value for name, value in (await values(core)).items() if name in NETWORK}
    wanted = {**{name: str(value or "") for name, value in stored.items()}, key: "" if text == "none" else text}
    if key == "proxy":
        wanted["proxy"] = text
    as_used = {**wanted, "proxy": "manual"} if key == "proxy_url" and wanted["proxy_url"] else wanted
    checked = await asyncio.to_thread(network.check, Network(**as_used))
    value = getattr(checked, key)
    await core.settings.update(NETWORK_GROUP, **{key: value})
    return value


async def _change_daily_calls(core: Core, text: str) -> int:
    from devflow.extraction.service import GROUP

    number = _whole(DAILY_CALLS, text)
    await core.settings.update(GROUP, **{DAILY_CALLS: number})
    return number


def _embedding(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        HYBRID_ORDER: stored.get("order") if stored.get("order") in ORDERS else ORDERS[0],
        DAILY_TEXTS: stored.get("daily_texts"),
    }


async def _change_order(core: Core, text: str) -> str:
    from devflow.knowledge.embedding_worker import GROUP as EMBEDDING

    if text not in ORDERS:
        raise InvalidInput(
            HYBRID_ORDER,
            N_("{value} is not a value for {field}."),
            N_("Values: {known}."),
            value=repr(text),
            known=", ".join(ORDERS),
        )
    await core.settings.update(EMBEDDING, order=text)
    return text


async def _change_daily_texts(core: Core, text: str) -> int | None:
    from devflow.knowledge.embedding_worker import GROUP as EMBEDDING

    if text in ("none", "null", ""):
        await core.settings.update(EMBEDDING, daily_texts=None)
        return None
    number = _whole(DAILY_TEXTS, text)
    await core.settings.update(EMBEDDING, daily_texts=number)
    return number


def _whole(key: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MOST_CALLS):
        raise InvalidInput(
            key,
            N_("{value} is not a value for {field}."),
            N_("It is a whole number from {low} to {high}."),
            value=repr(text),
            low=0,
            high=MOST_CALLS,
        )
    return int(text)
