"""Settings, Tools: what the assistant may do by itself, what it never may, and the servers it has tools from."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.mcp_section import McpSection
from devflow.ui.dialogs.settings.page import SettingsPage
from devflow.ui.dialogs.settings.rules_list import RulesList
from devflow.ui.widgets import UndoBar


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
        self.rules = RulesList(ctx, self.bar)
        self.servers = McpSection(ctx, self.bar)
        for section in (self.rules, self.servers):
            self.column.addSpacing(18)
            self.column.addWidget(section)
        self.finish()

    def first_field(self) -> QWidget | None:
        return self.rules.add
