"""Settings, External tools: what to paste into other tools so that they reach the library, and what they may do."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.messages import Translator
from devflow.domain.rights import DEFAULT, Right
from devflow.tools.mcp_clients import CLIENTS, ClientConfig
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import SettingsPage
from devflow.ui.pages.chat.tool_line import CodeText, WrappedCode
from devflow.ui.widgets import Button, ComboBox, Label, OptionRow


class ExternalPage(SettingsPage):
    """Stores nothing: the right stands in what is pasted, so that each tool has its own."""

    def __init__(self, ctx: UiContext) -> None:
        t = ctx.t
        super().__init__(
            ctx,
            "settingsExternal",
            t("External tools"),
            t("Other tools can search your library and propose entries to it, over MCP. You alone publish."),
        )
        self.client = ComboBox(ctx, name=t("Tool"), width=190)
        self.client.setObjectName("externalClient")
        for client in CLIENTS.values():
            self.client.add(client.name, client.id)
        self.right = ComboBox(ctx, name=t("What it may do"), width=190)
        self.right.setObjectName("externalRight")
        for right, (name, _) in _rights(t).items():
            self.right.add(name, right)
        self.right.select_data(DEFAULT)
        self._right_row = OptionRow(ctx, t("What it may do"), _rights(t)[DEFAULT][1], self.right)
        self._right_row.explanation.setObjectName("externalMay")
        self.config = _Copied(ctx, CodeText(ctx, "", t("Configuration")), "externalConfig", "copyExternalConfigButton")
        self.command = _Copied(ctx, WrappedCode(ctx, "", t("Command")), "externalCommand", "copyExternalCommandButton")
        self.add_section(
            "",
            OptionRow(
                ctx, t("Tool"), t("It starts DevFlow's MCP server by itself, with the window or without."), self.client
            ),
            self._right_row,
        )
        self.add_section(t("Configuration"), self.config)
        self._command_card = self.add_section("", self.command)
        self.add_section(
            t("What holds for every tool"),
            OptionRow(ctx, t("No tool publishes"), t("What it proposes waits in your inbox, with its name.")),
            OptionRow(
                ctx,
                t("What is not published stays yours"),
                t("Without “Manage” a tool reads what is published and what it proposed itself."),
            ),
            OptionRow(
                ctx, t("Secrets are taken out"), t("Of everything a tool proposes or edits, before it is stored.")
            ),
        )
        self.finish()
        self.client.currentIndexChanged.connect(self._show)
        self.right.currentIndexChanged.connect(self._show)
        self._show()

    def first_field(self) -> QWidget | None:
        return self.client

    def _show(self) -> None:
        t, right = self._ctx.t, Right(self.right.currentData())
        made = self._made(right)
        self._right_row.set_words(t("What it may do"), _rights(t)[right][1])
        self.config.show_text(t("Paste it into {file}.", file=made.file), made.text)
        self._command_card.setVisible(bool(made.command))
        self.command.show_text(t("Or run this in a terminal."), made.command)

    def _made(self, right: Right) -> ClientConfig:
        return self._ctx.services.invitation.configuration(self.client.currentData(), right)


class _Copied(QWidget):
    """A sentence, a button that copies, and the text it copies."""

    def __init__(self, ctx: UiContext, text: CodeText, name: str, button: str) -> None:
        super().__init__()
        self._ctx = ctx
        self._label = Label("", "small", "muted", wrap=True)
        self._text = text
        self._text.setObjectName(name)
        self.copy = Button(ctx, ctx.t("Copy"), icon="copy")
        self.copy.setObjectName(button)
        self.copy.clicked.connect(self._copy)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._label, 1)
        head.addWidget(self.copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 10)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self._text)

    def show_text(self, sentence: str, text: str) -> None:
        self._label.setText(sentence)
        self._text.setPlainText(text)
        self._text.fit()
        self.copy.set_label(self._ctx.t("Copy"))
        self.copy.setAccessibleName(f"{self.copy.text()}: {self._text.accessibleName()}")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
        self.copy.set_label(self._ctx.t("Copied"))


def _rights(t: Translator) -> dict[Right, tuple[str, str]]:
    """Each right's name, and what it lets a tool do."""
    return {
        Right.READ: (t.p("right", "Read"), t("Search and read what is published, and ask the knowledge base.")),
        Right.PROPOSE: (
            t.p("right", "Propose"),
            t("Read, propose entries, change or archive its own until you decide, and count uses."),
        ),
        Right.MANAGE: (
            t.p("right", "Manage"),
            t("All that, and read everything, archive any entry, change the configuration, distil conversations."),
        ),
    }
