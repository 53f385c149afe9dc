"""`Models`: the providers there are, their keys and roles, and a live `Provider` for a choice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.domain import config as knowledge_config
from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.errors import InvalidInput, NotFound, UserFacing
from devflow.domain.events import Aggregate, Changes, Event, Hub
from devflow.domain.ids import new_id
from devflow.domain.messages import N_
from devflow.domain.provider import ProviderConfig, ProviderDraft, Roles, TestLine, TestReport
from devflow.domain.text.storable import is_storable
from devflow.knowledge.settings import Settings
from devflow.models import roles as roles_of
from devflow.models.keys import Keys, check_key
from devflow.providers import urls
from devflow.providers.adapters import ADAPTERS, no_adapter
from devflow.store import providers as table
from devflow.store import settings as settings_table
from devflow.store.database import Database, Unit

if TYPE_CHECKING:  # httpx and what needs it load at the first use, not at start-up
    from devflow.providers.discovery import Found
    from devflow.providers.embeddings import Embedder
    from devflow.providers.presets import Preset
    from devflow.providers.probe import ProbeRequest
    from devflow.providers.protocol import Provider, Server
    from devflow.providers.transport import Transport

log = logging.getLogger(__name__)

NAME_MAX = 80
MODEL_MAX = 300
WINDOW_MAX = 100_000_000  # tokens
NETWORK = "network"
BUILTIN = "builtin"
"""The provider id of the embedded model in `KnowledgeConfig`."""


class KeyNeeded(UserFacing):
    """The address names another origin than the one the key belongs to."""

    code = "key_needed"


class Models:
    """`local_addresses` (preset id → base address) replaces the usual ports when looking for local servers."""

    def __init__(
        self,
        db: Database,
        keys: Keys,
        settings: Settings,
        hub: Hub,
        *,
        resources: Path,
        probe_request: ProbeRequest,
        local_addresses: Mapping[str, str] | None = None,
    ) -> None:
        self._db = db
        self._keys = keys
        self._settings = settings
        self._resources = resources
        self._probe_request = probe_request
        self._local_addresses = local_addresses
        self._live: dict[str, Provider] = {}
        self._generation = 0
        self._transport: Transport | None = None
        self._retired: list[Transport] = []
        self._unsubscribe = hub.subscribe(self._forget_changed)

    # the providers -------------------------------------------------------------------------------------------------

    def presets(self) -> tuple[Preset, ...]:
        """The servers known by name, in the order of the menu; the custom one is the last."""
        from devflow.providers.presets import presets

        return presets(self._resources)

    async def list(self) -> tuple[ProviderConfig, ...]:
        """Every provider, in the order in which they were added; the offline assistant is none of them."""
        return await self._db.read(table.all_providers)

    async def get(self, id: str) -> ProviderConfig:
        return await self._db.read(lambda session: table.get(session, id))

    async def add(self, draft: ProviderDraft, key: str = "") -> ProviderConfig:
        """Add a provider; the first one with a model becomes the main role's. Raises `InvalidInput`."""
        checked, key = check_draft(draft), check_key(key)
        id, origin = new_id(), urls.origin(checked.base_url)
        if key:
            await self._keys.put(id, origin, key)
        try:
            return await self._db.write(lambda unit: _adopted(unit, table.insert(unit, id, checked)))
        except UserFacing:
            await self._keys.forget(id, origin)
            raise

    async def update(self, id: str, draft: ProviderDraft, *, key: str | None = None) -> ProviderConfig:
        """Change a provider. `key` None keeps the key, "" forgets it.

        A key belongs to its origin: where the address moves to another one, `KeyNeeded` asks for it again.
        """
        checked = check_draft(draft)
        before = await self.get(id)
        old, new = _origin(before), urls.origin(checked.base_url)
        if key is None and old != new and await self._keys.get(id, old):
            raise key_needed(old, new)
        known = await self._keys.get(id, new) if key is not None else ""
        if key is not None:
            await self._keys.put(id, new, check_key(key))
        try:
            changed = await self._db.write(lambda unit: _adopted(unit, table.update(unit, id, checked)))
        except UserFacing:
            if key is not None:
                await self._keys.put(id, new, known)
            raise
        if old != new:
            await self._keys.forget(id, old)
        return changed

    async def remove(self, id: str) -> None:
        """Remove a provider, its key, and the roles that it had."""
        config = await self.get(id)

        def work(unit: Unit) -> None:
            table.remove(unit, id)
            stored = settings_table.get(unit.session, roles_of.GROUP)
            if isinstance(stored, dict):
                settings_table.put(unit, roles_of.GROUP, roles_of.without_provider(stored, id))

        await self._keys.forget(id, _origin(config))  # first: no key may outlive what the human can see and remove
        await self._db.write(work)

    async def has_key(self, id: str) -> bool:
        config = await self.get(id)
        return bool(await self._keys.get(id, _origin(config)))

    async def save_test(self, id: str, report: TestReport) -> ProviderConfig:
        """Keep what a test said, for the list's mark."""
        return await self._db.write(lambda unit: table.save_test(unit, id, report))

    # asking servers ------------------------------------------------------------------------------------------------

    async def test(
        self,
        what: ProviderDraft | ProviderConfig,
        *,
        key: str | None = None,
        progress: Callable[[TestLine], None] = lambda line: None,
    ) -> TestReport:
        """Test a saved provider or an unsaved form. `key` None takes the saved one, if the origin is still its own."""
        from devflow.providers.probe import examine

        server = await self._server(what, key)
        return await examine(server, self._probe_request, has_key=server.has_key, progress=progress)

    async def fetch_models(self, what: ProviderDraft | ProviderConfig, *, key: str | None = None) -> tuple[str, ...]:
        """The models that the server lists now; raises `ProviderFailed`."""
        return await (await self._server(what, key)).models()

    async def discover(self) -> tuple[Found, ...]:
        """Servers that run on this machine and are not set up yet."""
        from devflow.providers.discovery import discover
        from devflow.providers.presets import presets

        known = {_origin(config) for config in await self.list()}
        local = [preset for preset in presets(self._resources) if preset.is_local]
        found = await discover(await self._network(), local, addresses=self._local_addresses)
        return tuple(server for server in found if urls.origin(server.base_url) not in known)

    # roles ---------------------------------------------------------------------------------------------------------

    async def roles(self) -> Roles:
        known = {config.id for config in await self.list()}
        return roles_of.read_roles(await self._settings.get(roles_of.GROUP), known)

    async def save_roles(self, roles: Roles) -> None:
        def change(value: Any) -> dict[str, Any]:
            return roles_of.write_roles(value if isinstance(value, dict) else {}, roles)

        await self._settings.modify(roles_of.GROUP, change)

    async def choices(self) -> tuple[ModelChoice, ...]:
        """Every model of every provider, and the offline assistant last."""
        found = [ModelChoice(config.id, model) for config in await self.list() for model in config.models]
        return (*found, OFFLINE)

    async def main_choice(self) -> ModelChoice:
        """What a conversation uses that has no choice of its own: the offline assistant until a model is set up."""
        return (await self.roles()).main or OFFLINE

    async def digest_choice(self) -> ModelChoice | None:
        """The digest role's model, else the main one; None without a model."""
        roles = await self.roles()
        return _real(roles.digest or roles.main)

    async def extraction_choice(self) -> ModelChoice | None:
        """The extraction role's model, else the main one; None without a model: then no extraction runs."""
        roles = await self.roles()
        return _real(roles.extraction or roles.main)

    async def embedding_choice(self) -> ModelChoice | None:
        """The server's model that `KnowledgeConfig` names; None for none, half a choice, or the built-in model."""
        chosen = knowledge_config.read(await self._settings.raw(knowledge_config.KEY)).config
        if chosen.embedding_provider_id in (None, BUILTIN) or chosen.embedding_model is None:
            return None
        return ModelChoice(str(chosen.embedding_provider_id), chosen.embedding_model)

    async def embedder(self, choice: ModelChoice) -> Embedder | None:
        """What makes vectors with that model; None where the provider has no embeddings.

        Raises `UserFacing` where the provider was removed.
        """
        if choice.provider_id == OFFLINE.provider_id:
            return None
        return (await self._server(await self._config_for(choice), None)).embedder(choice.model)

    async def resolve(self, choice: ModelChoice) -> Provider:
        """A live provider; raises `UserFacing` where it was removed."""
        live = self._live.get(choice.provider_id)
        if live is not None:
            return live
        if choice.provider_id == OFFLINE.provider_id:
            from devflow.providers.offline import OfflineAssistant

            live = OfflineAssistant(self._resources)
        else:
            generation = self._generation
            live = await self._server(await self._config_for(choice), None)
            if generation != self._generation:  # it changed while we built it
                return live
        return self._live.setdefault(choice.provider_id, live)

    async def close(self) -> None:
        """Give back every connection."""
        self._unsubscribe()
        self._live.clear()
        transports = [*self._retired, *([self._transport] if self._transport is not None else [])]
        self._retired, self._transport = [], None
        for transport in transports:
            await transport.aclose()

    # helpers -------------------------------------------------------------------------------------------------------

    async def _config_for(self, choice: ModelChoice) -> ProviderConfig:
        try:
            return await self.get(choice.provider_id)
        except NotFound:
            raise UserFacing(
                N_("The provider of the model {model} was removed."),
                N_("Choose another model below the message."),
                model=choice.model,
            ) from None

    async def _server(self, what: ProviderDraft | ProviderConfig, key: str | None) -> Server:
        from devflow.providers.adapters import make_server
        from devflow.providers.presets import context_windows, preset

        match what:
            case ProviderConfig():
                config = what
            case ProviderDraft():
                draft = check_draft(what)
                config = ProviderConfig(
                    "", draft.name, draft.adapter, draft.preset, draft.base_url, draft.models, draft.settings
                )
        if key is None:
            key = await self._keys.get(config.id, urls.origin(config.base_url)) if config.id else ""
        return make_server(
            config,
            check_key(key),
            await self._network(),
            preset=preset(self._resources, config.preset),
            windows=context_windows(self._resources),
        )

    async def _network(self) -> Transport:
        """The transport of the network settings as they are now."""
        from devflow.providers.transport import Network, Transport

        if self._transport is None:
            stored = await self._settings.get(NETWORK)
            network = Network(
                proxy=str(stored.get("proxy") or "system"),
                proxy_url=str(stored.get("proxy_url") or ""),
                ca_file=str(stored.get("ca_file") or ""),
            )
            if self._transport is None:  # two first requests at once
                self._transport = Transport(network)
        return self._transport

    def _forget_changed(self, event: Event) -> None:
        """What this or another process changed is built anew at its next use; answers under way go on."""
        if not isinstance(event, Changes):
            return
        for id in event.of(Aggregate.PROVIDER):
            self._generation += 1
            self._live.pop(id, None)
        if NETWORK in event.of(Aggregate.SETTING):
            self._live.clear()
            if self._transport is not None:
                self._retired.append(self._transport)
                self._transport = None


def key_needed(old: str, new: str) -> KeyNeeded:
    """The refusal to send the key of one origin to another; a form may say it before it is saved."""
    return KeyNeeded(
        N_("The address now leads to {new}; the key belongs to {old}."),
        N_("Enter the key for the new address, or clear it if none is needed."),
        old=old,
        new=new,
    )


def check_draft(draft: ProviderDraft) -> ProviderDraft:
    """The draft, tidied; raises `InvalidInput` naming the field."""
    name = " ".join(draft.name.split())
    if not name:
        raise InvalidInput("name", N_("The name is empty."), N_("Name it as you want to see it in lists."))
    if len(name) > NAME_MAX:
        raise InvalidInput(
            "name", N_("The name is longer than {limit} characters."), N_("Write a shorter one."), limit=NAME_MAX
        )
    if not name.isprintable():
        raise InvalidInput("name", N_("The name holds a character that is not seen."), N_("Type it anew."))
    urls.parse(draft.base_url)
    if draft.adapter not in ADAPTERS:
        raise no_adapter(draft.adapter)
    models = tuple(dict.fromkeys(model.strip() for model in draft.models if model.strip()))
    if any(len(model) > MODEL_MAX or not is_storable(model) for model in models):
        raise InvalidInput(
            "models",
            N_("No model has such a name: it is too long, or no text."),
            N_("Write it as the server lists it."),
        )
    window = draft.settings.get("context_window", 1)
    if not isinstance(window, int) or not 1 <= window <= WINDOW_MAX:
        raise InvalidInput(
            "context_window",
            N_("A context window has 1 to {limit} tokens."),
            N_("Leave it empty to take what the server says."),
            limit=f"{WINDOW_MAX:,}",
        )
    return replace(draft, name=name, base_url=draft.base_url.strip(), models=models)


def _origin(config: ProviderConfig) -> str:
    """What the provider's key belongs to; empty for an address that was edited by hand into none."""
    try:
        return urls.origin(config.base_url)
    except InvalidInput:
        return ""


def _adopted(unit: Unit, config: ProviderConfig) -> ProviderConfig:
    """Until a model is set up the offline assistant answers; the first model that comes takes over."""
    if config.models:
        stored = settings_table.get(unit.session, roles_of.GROUP)
        value = stored if isinstance(stored, dict) else {}
        known = {other.id for other in table.all_providers(unit.session)}
        roles = roles_of.read_roles(value, known)
        if roles.main is None:
            chosen = replace(roles, main=ModelChoice(config.id, config.models[0]))
            settings_table.put(unit, roles_of.GROUP, roles_of.write_roles(value, chosen))
    return config


def _real(choice: ModelChoice | None) -> ModelChoice | None:
    return None if choice is None or choice.provider_id == OFFLINE.provider_id else choice
