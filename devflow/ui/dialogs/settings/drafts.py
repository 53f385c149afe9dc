"""Everything that the settings dialog holds until Save: the options' values over the stored ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QObject, Signal

from devflow.domain import config as knowledge_config
from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.provider import Roles
from devflow.models import roles as stored_roles
from devflow.models.registry import NETWORK
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.edits import Edits
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit
from devflow.ui.dialogs.settings.providers import Providers
from devflow.ui.models.refresh import Refresher

KNOWLEDGE = knowledge_config.FIELDS
"""The fields that the dialog shows."""
EMBEDDING = "embedding_provider_id"
PROXIES = ("system", "manual", "none")


class Drafts(QObject):
    """`changed` after every edit, and when what is stored changed under it. Only `load` fills it."""

    changed = Signal()

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self.services = ctx.services
        self.providers = Providers(ctx, self)
        self.knowledge = Edits({})
        self.network = Edits({})
        self.roles = Edits({})
        self._reread = Refresher(ctx.tasks, self._take, "read the settings", self)
        self.providers.edited.connect(self._told)
        self.providers.listed.connect(self.changed)

    async def load(self) -> None:
        await self._take()
        await self.providers.load()

    def watch(self, ctx: UiContext) -> None:
        """Follow what the command line or another window saves meanwhile."""
        ctx.events.settings_changed.connect(self._changed_elsewhere)

    def set(self, group: Edits, name: str, value: Any) -> None:
        group.set(name, value)
        self.changed.emit()

    @property
    def count(self) -> int:
        """How many options differ from what is stored; a provider counts once."""
        return len(self.knowledge) + len(self.network) + len(self.roles) + self.providers.news

    # roles

    def choices(self) -> tuple[tuple[ModelChoice, ProviderEdit], ...]:
        """Every model of every provider, those that are not saved yet included."""
        return tuple((ModelChoice(edit.id, model), edit) for edit in self.providers.edits for model in edit.models)

    def main(self) -> ModelChoice:
        """What the chat will use: the choice, else what saving will make of it (the first model set up takes over)."""
        chosen: ModelChoice | None = self.roles["main"]
        if chosen is not None:
            return chosen
        coming = (edit for edit in self.providers.edits if edit.changed and edit.models)
        first = next(coming, None)
        return OFFLINE if first is None else ModelChoice(first.id, first.models[0])

    def role(self, name: str) -> ModelChoice | None:
        """Of digest or extraction; None: the same as the chat."""
        chosen: ModelChoice | None = self.roles[name]
        return chosen

    def forget_provider(self, id: str) -> None:
        """A provider is gone: nothing that was chosen here may still name it."""
        for name in stored_roles.NAMES:
            chosen = self.roles[name]
            if chosen is not None and chosen.provider_id == id:
                self.roles.set(name, self.roles.stored(name))
        if self.knowledge[EMBEDDING] == id:
            self.knowledge.set(
                EMBEDDING, None if self.knowledge.stored(EMBEDDING) == id else self.knowledge.stored(EMBEDDING)
            )
        self.changed.emit()

    def rename_provider(self, old: str, new: str) -> None:
        """A new provider was stored and has its real id now."""
        for name in stored_roles.NAMES:
            chosen = self.roles[name]
            if chosen is not None and chosen.provider_id == old:
                self.roles.set(name, ModelChoice(new, chosen.model))
        if self.knowledge[EMBEDDING] == old:
            self.knowledge.set(EMBEDDING, new)

    # what is stored

    async def _take(self) -> None:
        config = await self.services.knowledge.knowledge_get_config()
        values = asdict(config)
        self.knowledge.rebase({name: values[name] for name in KNOWLEDGE})
        roles = await self.services.models.roles()
        self.roles.rebase(role_values(roles))
        stored = await self.services.settings.get(NETWORK)
        proxy = str(stored.get("proxy") or "system")
        self.network.rebase(
            {
                "proxy": proxy if proxy in PROXIES else "system",
                "proxy_url": str(stored.get("proxy_url") or ""),
                "ca_file": str(stored.get("ca_file") or ""),
            }
        )
        self.changed.emit()

    def _changed_elsewhere(self, groups: frozenset[str]) -> None:
        if {knowledge_config.KEY, stored_roles.GROUP, NETWORK} & groups:
            self._reread.ask()

    def _told(self, _edit: object) -> None:
        self.changed.emit()


def role_values(roles: Roles) -> dict[str, ModelChoice | None]:
    return {name: getattr(roles, name) for name in stored_roles.NAMES}
