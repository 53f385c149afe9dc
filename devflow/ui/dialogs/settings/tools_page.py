"""Settings, Tools: what the assistant may do by itself, what it never may, and the servers it has tools from."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence, QShortcut

from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.mcp_section import McpSection
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
        self.column.addSpacing(20)
        self.servers = McpSection(ctx, self.bar)
        self.column.addWidget(self.servers)
        self.finish()
