"""`KnowledgeConfig` as it is kept: read field by field, saved whole, unknown fields left alone (KP-1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from devflow.domain import config
from devflow.domain.config import KEY, KnowledgeConfig
from devflow.domain.messages import N_
from devflow.knowledge.acts import Actor, require_human
from devflow.knowledge.settings import Settings

log = logging.getLogger(__name__)

SAVING = N_("Changing the configuration is a human act.")


class Configuration:
    def __init__(self, settings: Settings, *, agent_child: bool = False) -> None:
        self._settings = settings
        self._agent_child = agent_child
        self._said: tuple[str, ...] = ()

    async def get(self) -> KnowledgeConfig:
        """The config in force; what cannot be read takes its default, and the log says so once."""
        found = config.read(await self._settings.raw(KEY))
        if found.problems and found.problems != self._said:
            log.warning("%s: defaults are used for what cannot be read: %s", KEY, "; ".join(found.problems))
        self._said = found.problems
        return found.config

    async def save(self, new: KnowledgeConfig, *, actor: Actor) -> KnowledgeConfig:
        """Store every field, and keep those of a newer version; raises InvalidInput naming the first bad field."""
        self._require_right(actor)
        checked = config.check(new)
        await self._settings.modify(KEY, lambda raw: config.write(checked, config.read(raw).unknown))
        return checked

    async def change(self, fields: Mapping[str, Any], *, actor: Actor) -> KnowledgeConfig:
        """Store these fields alone (JSON values), whatever another process did to the others."""
        self._require_right(actor)
        checked = {name: config.check_field(name, value) for name, value in fields.items()}

        def changed(raw: Any) -> dict[str, Any]:
            found = config.read(raw)
            return config.write(replace(found.config, **checked), found.unknown)

        return config.read(await self._settings.modify(KEY, changed)).config

    def _require_right(self, actor: Actor) -> None:
        """A human, or a program that the user allowed it; neither through a command of the agent's."""
        require_human(replace(actor, human=actor.human or actor.manages), SAVING, agent_child=self._agent_child)
