"""Save: everything is checked first, then stored group by group; what is stored is no edit any more."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from devflow.domain import config as knowledge_config
from devflow.domain.errors import InvalidInput, UserFacing
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor
from devflow.models.keys import check_key
from devflow.models.registry import NETWORK, check_draft
from devflow.providers import network
from devflow.providers.transport import Network
from devflow.ui.dialogs.settings.drafts import KNOWLEDGE, Drafts, role_values
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit


class NotSaved(Exception):
    """`error` belongs to the option `field` of `page` (and of `edit`, on the page of providers)."""

    def __init__(self, page: str, field: str, error: UserFacing, edit: ProviderEdit | None = None) -> None:
        super().__init__(str(error))
        self.page = page
        self.field = field
        self.error = error
        self.edit = edit


async def save(drafts: Drafts) -> None:
    """Store every edit; raises NotSaved for the first option that cannot be stored. Nothing typed is lost by it."""
    await _check_knowledge(drafts)
    checked = await _check_network(drafts)
    for edit in _news(drafts):
        await _check_provider(edit, drafts)
    for edit in _news(drafts):
        await _save_provider(edit, drafts)
    await _save_roles(drafts)
    if drafts.network:
        changed = {name: getattr(checked, name) for name in drafts.network.changed}
        await drafts.services.settings.update(NETWORK, **changed)
        drafts.network.rebase({name: getattr(checked, name) for name in ("proxy", "proxy_url", "ca_file")})
    if drafts.knowledge:
        await _save_knowledge(drafts)
    drafts.changed.emit()


def _news(drafts: Drafts) -> list[ProviderEdit]:
    return [edit for edit in drafts.providers.edits if edit.changed]


async def _check_knowledge(drafts: Drafts) -> None:
    for name, value in drafts.knowledge.changed.items():
        try:
            knowledge_config.check_field(name, value)
        except InvalidInput as error:
            raise NotSaved("knowledge", name, error) from error
    if drafts.knowledge["vector_enabled"] and not (
        drafts.knowledge["embedding_provider_id"] and drafts.knowledge["embedding_model"]
    ):
        missing = InvalidInput(
            "embedding_model", N_("No embedding model is chosen."), N_("Choose one, or switch search by meaning off.")
        )
        raise NotSaved("knowledge", "embedding_model", missing)


async def _check_network(drafts: Drafts) -> Network:
    wanted = Network(**{name: drafts.network[name] for name in ("proxy", "proxy_url", "ca_file")})
    if not drafts.network:
        return wanted
    try:
        return await asyncio.to_thread(network.check, wanted)
    except InvalidInput as error:
        raise NotSaved("network", error.field, error) from error


async def _check_provider(edit: ProviderEdit, drafts: Drafts) -> None:
    try:
        check_draft(edit.draft())
        if edit.key is not None:
            check_key(edit.key)
    except InvalidInput as error:
        raise NotSaved("providers", error.field, error, edit) from error
    if not edit.models:
        await _find_models(edit, drafts)


async def _find_models(edit: ProviderEdit, drafts: Drafts) -> None:
    """A provider without a model can do nothing: ask its server, else say so."""
    try:
        await drafts.providers.adopt_models(edit)
    except InvalidInput as error:
        raise NotSaved("providers", error.field, error, edit) from error
    except UserFacing as error:
        raise NotSaved("providers", "models", error, edit) from error
    if not edit.models:
        missing = InvalidInput("models", N_("No model is chosen."), N_("Choose at least one, or type its name."))
        raise NotSaved("providers", "models", missing, edit)


async def _save_provider(edit: ProviderEdit, drafts: Drafts) -> None:
    before = edit.id
    try:
        await drafts.providers.save(edit)
    except InvalidInput as error:
        raise NotSaved("providers", error.field, error, edit) from error
    except UserFacing as error:
        raise NotSaved("providers", "key" if error.code == "key_needed" else "name", error, edit) from error
    drafts.rename_provider(before, edit.id)


async def _save_roles(drafts: Drafts) -> None:
    """The first model that was set up has taken the main role by now, where none was chosen."""
    models = drafts.services.models
    changed = drafts.roles.changed
    roles = await models.roles()
    if changed:
        roles = replace(roles, **changed)
        await models.save_roles(roles)
    drafts.roles.rebase(role_values(roles))


async def _save_knowledge(drafts: Drafts) -> None:
    """The fields that are not shown, and those that nobody touched here, stay as they are stored."""
    knowledge = drafts.services.knowledge
    stored = await knowledge.knowledge_get_config()
    saved = await knowledge.knowledge_save_config(replace(stored, **drafts.knowledge.changed), actor=Actor.user())
    drafts.knowledge.rebase({name: getattr(saved, name) for name in KNOWLEDGE})
