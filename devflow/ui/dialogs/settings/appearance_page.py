"""Settings, Appearance: theme and language. They apply at once, so there is nothing to save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import SettingsPage
from devflow.ui.models.refresh import Refresher
from devflow.ui.theme import ThemeMode
from devflow.ui.widgets import ComboBox, OptionRow

GROUP = "appearance"
SYSTEM = "system"
_LANGUAGES = (("en", "English"), ("zh_CN", "中文"))  # each in its own language, whichever is set


class AppearancePage(SettingsPage):
    def __init__(self, ctx: UiContext) -> None:
        t = ctx.t
        super().__init__(ctx, "settingsAppearance", t("Appearance"), t("Changes here apply at once."))
        self.theme = ComboBox(ctx, name=t("Theme"), width=190)
        self.theme.setObjectName("themePicker")
        self.theme.add(t("As the system"), ThemeMode.SYSTEM.value)
        self.theme.add(t("Light"), ThemeMode.LIGHT.value)
        self.theme.add(t("Dark"), ThemeMode.DARK.value)
        self.language = ComboBox(ctx, name=t("Language"), width=190)
        self.language.setObjectName("languagePicker")
        self.language.add(t("As the system"), SYSTEM)
        for code, name in _LANGUAGES:
            self.language.add(name, code)
        self.add_section(
            "",
            OptionRow(ctx, t("Theme"), t("The system's choice is followed while the window is open."), self.theme),
            OptionRow(ctx, t("Language"), t("Of the window, and of the samples it loads."), self.language),
        )
        self.finish()
        self.theme.setCurrentIndex(-1)
        self.language.setCurrentIndex(-1)
        self.theme.activated.connect(self._theme_chosen)
        self.language.activated.connect(self._language_chosen)
        self._storing = 0
        self._reread = Refresher(ctx.tasks, self._read, "read the appearance", self)
        ctx.events.settings_changed.connect(self._changed)
        self._reread.ask()

    def first_field(self) -> QWidget | None:
        return self.theme

    async def _read(self) -> None:
        stored = await self._ctx.services.settings.get(GROUP)
        if self._storing:
            return  # older than what was chosen meanwhile; its own change is read when it is stored
        for box, name in ((self.theme, "theme"), (self.language, "language")):
            if not box.select_data(stored.get(name, SYSTEM)):
                box.select_data(SYSTEM)

    def _changed(self, groups: frozenset[str]) -> None:
        if GROUP in groups:
            self._reread.ask()

    def _theme_chosen(self, _index: int) -> None:
        self._store({"theme": self.theme.currentData()})

    def _language_chosen(self, _index: int) -> None:
        self._store({"language": self.language.currentData()})

    def _store(self, fields: Mapping[str, Any]) -> None:
        self._storing += 1
        self._ctx.tasks.launch(self._save(fields), what="save the appearance")

    async def _save(self, fields: Mapping[str, Any]) -> None:
        try:
            await self._ctx.services.settings.update(GROUP, **fields)
        finally:
            self._storing -= 1
            if isValid(self):
                self._reread.ask()
