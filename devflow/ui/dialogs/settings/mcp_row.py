"""A line of the list of MCP servers: how it stands, what it is, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.tools.mcp_config import McpServer
from devflow.tools.mcp_state import Phase, ServerState
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.mcp_words import state_icon, state_words
from devflow.ui.widgets import Button, ElidedLabel, IconButton, IconLabel, Label, Switch


class McpRow(QWidget):
    """Its objectNames end with the server's name: `mcpServer-files`, `mcpTest-files`, …"""

    tested = Signal(object)
    edited = Signal(object)
    removed = Signal(object)
    switched = Signal(object, bool)

    def __init__(self, ctx: UiContext, server: McpServer) -> None:
        super().__init__()
        t = ctx.t
        self._ctx = ctx
        self.server = server
        self.setObjectName(f"mcpServer-{server.name}")
        self._icon = IconLabel(ctx, "circle", "text-faint", 14)
        name = Label(server.name, "ui-strong")
        self._line = ElidedLabel(ctx, server.line, role="code-small", color="text-muted", middle=True)
        self._line.setToolTip(server.line)
        self.state = Label("", "small", "muted", wrap=True)
        self.state.setObjectName(f"mcpState-{server.name}")
        self.test = Button(ctx, t("Test"), small=True)
        self.test.setObjectName(f"mcpTest-{server.name}")
        self.test.setAccessibleName(t("Test {name}", name=server.name))
        self.edit = IconButton(ctx, "pencil", t("Edit {name}", name=server.name), small=True)
        self.edit.setObjectName(f"mcpEdit-{server.name}")
        self.remove = IconButton(ctx, "trash", t("Remove {name}", name=server.name), small=True)
        self.remove.setObjectName(f"mcpRemove-{server.name}")
        self.switch = Switch(ctx, t("{name} is on", name=server.name))
        self.switch.setObjectName(f"mcpEnabled-{server.name}")
        self.switch.setChecked(server.enabled)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._icon)
        head.addWidget(name)
        head.addWidget(self._line, 1)
        head.addWidget(self.test)
        head.addWidget(self.edit)
        head.addWidget(self.remove)
        head.addWidget(self.switch)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        column.addLayout(head)
        self.state.setContentsMargins(22, 0, 0, 0)
        column.addWidget(self.state)
        self.test.clicked.connect(self._test)
        self.edit.clicked.connect(self._edit)
        self.remove.clicked.connect(self._remove)
        self.switch.clicked.connect(self._switch)

    def show_state(self, state: ServerState) -> None:
        words, color = state_words(self._ctx.t, self.server, state)
        self._icon.set_icon(*state_icon(self.server, state))
        self.state.setText(words)
        self.state.set_tone(color if color in ("danger", "success") else "muted")
        self.state.setToolTip(", ".join(state.tools))
        self.setAccessibleName(f"{self.server.name}: {words}")
        self.test.setEnabled(self.server.enabled and state.phase is not Phase.STARTING)

    def _test(self) -> None:
        self.tested.emit(self.server)

    def _edit(self) -> None:
        self.edited.emit(self.server)

    def _remove(self) -> None:
        self.removed.emit(self.server)

    def _switch(self, on: bool) -> None:
        self.switched.emit(self.server, on)
