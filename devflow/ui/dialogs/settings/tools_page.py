"""Settings, Tools: what the assistant may do by itself, what it never may, and the servers it has tools from."""

from __future__ import annotations

import importlib
import importlib.util

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import SettingsPage
from devflow.ui.dialogs.settings.rules_list import RulesList
from devflow.ui.widgets import Label, UndoBar


class ToolsPage(SettingsPage):
    """Acts at once; nothing here waits for Save."""

    def __init__(self, ctx: UiContext) -> None:
        t = ctx.t
        super().__init__(
            ctx,
            "settingsTools",
            t("Tools"),
            t("What the assistant may do by itself, and what it never may. Deny beats ask, ask beats allow."),
        )
        self.bar = UndoBar(ctx, self)
        self.bar.button.setObjectName("undoButton")
        QShortcut(QKeySequence.StandardKey.Undo, self).activated.connect(self.bar.button.click)
        self.column.addSpacing(16)
        self.column.addWidget(Label(t("Rules"), "section"))
        self.column.addSpacing(6)
        self.rules = RulesList(ctx, self.bar)
        self.column.addWidget(self.rules)
        servers = _mcp_section(ctx)
        if servers is not None:
            self.column.addSpacing(20)
            self.column.addWidget(servers)
        self.finish()


def _mcp_section(ctx: UiContext) -> QWidget | None:
    name = "devflow.ui.dialogs.settings.mcp_section"
    if importlib.util.find_spec(name) is None:
        return None
    section = importlib.import_module(name).McpSection(ctx)
    assert isinstance(section, QWidget)
    return section
