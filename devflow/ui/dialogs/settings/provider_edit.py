"""One provider in the settings: what is stored of it, what was typed over it, and what its server said."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.domain.provider import Probe, ProviderConfig, ProviderDraft, TestLine, TestReport
from devflow.providers import urls
from devflow.providers.presets import Preset
from devflow.ui.dialogs.settings.edits import Edits


class Reach(StrEnum):
    """Whether a server of this machine answered when the dialog asked it."""

    UNKNOWN = "unknown"
    ASKING = "asking"
    RUNNING = "running"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test was made with; another address, model or key makes its report stale."""

    address: str
    models: tuple[str, ...]
    key: str | None


@dataclass(eq=False, slots=True)
class ProviderEdit:
    """`key` None: the stored one stays; "": none is wanted. `offered` is what the server lists."""

    id: str
    preset: Preset
    config: ProviderConfig | None
    values: Edits
    key: str | None = None
    has_key: bool = False
    offered: tuple[str, ...] = ()
    reach: Reach = Reach.UNKNOWN
    report: TestReport | None = None
    tested: Tested | None = None
    lines: dict[Probe, TestLine] = field(default_factory=dict)
    testing: asyncio.Task[None] | None = None
    listing: asyncio.Task[None] | None = None
    wrong: dict[str, UserFacing] = field(default_factory=dict)
    """What is wrong with a field: name, base_url, key, models or context_window."""

    @classmethod
    def stored(cls, config: ProviderConfig, preset: Preset, *, has_key: bool) -> ProviderEdit:
        return cls(config.id, preset, config, Edits(_values(config)), has_key=has_key, report=config.last_test)

    @classmethod
    def new(cls, id: str, preset: Preset, draft: ProviderDraft) -> ProviderEdit:
        """Not stored yet: everything is an edit over nothing."""
        edit = cls(id, preset, None, Edits({"name": "", "base_url": "", "models": (), "context_window": ""}))
        for name in ("name", "base_url", "models"):
            edit.values.set(name, getattr(draft, name))
        return edit

    @property
    def is_new(self) -> bool:
        return self.config is None

    @property
    def changed(self) -> bool:
        return self.is_new or bool(self.values) or self.key is not None

    @property
    def name(self) -> str:
        return str(self.values["name"])

    @property
    def address(self) -> str:
        return str(self.values["base_url"])

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.values["models"])

    @property
    def window(self) -> str:
        """The context window as it was typed; empty for what the server says."""
        return str(self.values["context_window"])

    @property
    def adapter(self) -> str:
        """What the server is spoken to with: the preset's, unless it was stored with another."""
        return self.preset.adapter if self.config is None else self.config.adapter

    @property
    def origin(self) -> str:
        """Scheme, host and port of the address; empty where there is none."""
        return _origin(self.address)

    @property
    def is_local(self) -> bool:
        try:
            return urls.parse(self.address).is_loopback
        except InvalidInput:
            return False

    @property
    def moved(self) -> bool:
        """The address left the origin that the stored key belongs to: the key must be entered again (spec 03)."""
        stored = "" if self.config is None else _origin(self.config.base_url)
        return self.has_key and self.key is None and bool(self.origin) and self.origin != stored

    def tests(self) -> Tested:
        return Tested(self.address, self.models, self.key)

    def draft(self) -> ProviderDraft:
        """The values to store."""
        preset, settings = (self.preset.id, {}) if self.config is None else (self.config.preset, self.config.settings)
        return ProviderDraft(self.name, self.address, preset, self.adapter, self.models, self._settings(settings))

    def to_ask(self) -> ProviderDraft | ProviderConfig:
        """What a test asks: with an id, so that the stored key is found as long as the origin is its own."""
        if self.config is None:
            return self.draft()
        return replace(self.config, name=self.name, base_url=self.address, models=self.models)

    def _settings(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """The stored ones with the window that was typed; what is no number is left to `check_draft` to refuse."""
        settings = dict(stored)
        if "context_window" in self.values.changed:
            settings.pop("context_window", None)
            typed = re.sub(r"[\s,._']", "", self.window)
            if typed:
                settings["context_window"] = int(typed) if typed.isdecimal() and len(typed) < 19 else typed
        return settings

    @property
    def last_test(self) -> TestReport | None:
        """The newest report, if it speaks of what the form holds now."""
        if self.tested is not None:
            return self.report if self.tested == self.tests() else None
        untouched = self.key is None and not {"base_url", "models"} & self.values.changed.keys()
        return self.report if untouched else None

    def rebase(self, config: ProviderConfig, *, has_key: bool) -> None:
        """Take over what is stored now; what was typed stays."""
        if config.last_test is not None and config.last_test != self.report:
            self.report, self.tested = config.last_test, None
        self.config = config
        self.has_key = has_key
        self.values.rebase(_values(config))


def _values(config: ProviderConfig) -> dict[str, object]:
    window = config.settings.get("context_window")
    return {
        "name": config.name,
        "base_url": config.base_url,
        "models": config.models,
        "context_window": f"{window}" if isinstance(window, int) else "",
    }


def _origin(address: str) -> str:
    try:
        return urls.origin(address)
    except InvalidInput:
        return ""
