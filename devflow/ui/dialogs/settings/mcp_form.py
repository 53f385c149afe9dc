"""One MCP server's name, command line or address, its values, and its patience; saved by its own button."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.tools.mcp_config import CALL_S, Http, McpDraft, McpServer, Stdio, check_draft, split_line
from devflow.tools.mcp_servers import McpServers
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.mcp_words import text_as_values, values_as_text
from devflow.ui.dialogs.settings.page import ProblemLine, sentence_of
from devflow.ui.widgets import Button, Label, NoticeStrip, Segmented, SpinBox


class McpForm(QDialog):
    """`server` None: a new one. It closes once what was typed is stored; what cannot be is said, and stays typed."""

    def __init__(
        self,
        ctx: UiContext,
        servers: McpServers,
        server: McpServer | None,
        values: Mapping[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx, self._servers, self._server, self._kept = ctx, servers, server, dict(values)
        title = t("Edit MCP server") if server is not None else t("Add an MCP server")
        self.setObjectName("mcpForm")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        self.name = _line("mcpName", t("Name"))
        self.kind = Segmented(ctx, [t("Program of this machine"), t("Address")])
        self.kind.setObjectName("mcpKind")
        self.command = _line("mcpCommand", t("Command line"), "npx -y @modelcontextprotocol/server-filesystem ~/notes")
        self.folder = _line("mcpFolder", t("Folder it is started in"), t("None"))
        self.url = _line("mcpUrl", t("Address"), "https://example.com/mcp")
        self.values = QPlainTextEdit()
        self.values.setObjectName("mcpValues")
        self.values.setProperty("role", "field")
        self.values.setTabChangesFocus(True)
        self.values.setFont(ctx.theme.font("code"))
        self.values.setFixedHeight(84)
        self.patience = SpinBox(name=t("Longest call, in seconds"), low=1, high=3600, width=80)
        self.patience.setObjectName("mcpPatience")
        self._fields: dict[str, QWidget] = {
            "name": self.name,
            "command": self.command,
            "cwd": self.folder,
            "url": self.url,
            "values": self.values,
        }
        self.wrong = {name: ProblemLine(field) for name, field in self._fields.items()}
        for name, line in self.wrong.items():
            line.setObjectName(f"mcpProblem-{name}")
        self.problem = NoticeStrip(ctx, "", "danger")
        self.problem.setObjectName("mcpProblem")
        self.problem.hide()
        self._values_label = Label("", "small", "muted")
        self._values_hint = Label("", "small", "faint", wrap=True)
        self._program_part, self._address_part = QWidget(), QWidget()
        self.save = Button(ctx, t("Save"), variant="primary")
        self.save.setObjectName("saveMcpButton")
        self.cancel = Button(ctx, t("Cancel"))
        self.cancel.setObjectName("cancelMcpButton")
        self._lay_out(title)
        self._fill()
        self.kind.chosen.connect(self._show_kind)
        self.save.clicked.connect(self._save)
        self.cancel.clicked.connect(self.reject)
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def draft(self) -> McpDraft:
        """What was typed; raises `InvalidInput` for what can be no server."""
        values = text_as_values(self.values.toPlainText(), self._kept)
        transport: Stdio | Http
        if self.kind.current == 0:
            typed = split_line(self.command.text())
            transport = Stdio(typed.command, typed.args, self.folder.text().strip())
        else:
            transport = Http(self.url.text().strip())
        before = self._server
        draft = McpDraft(
            self.name.text(), transport, values, before is None or before.enabled, call_timeout=self.patience.value()
        )
        if before is not None:
            draft = McpDraft(
                draft.name,
                transport,
                values,
                before.enabled,
                before.start_timeout,
                draft.call_timeout,
                before.unknown,
            )
        return check_draft(draft)

    def _save(self) -> None:
        for line in self.wrong.values():
            line.say("")
        self.problem.hide()
        try:
            draft = self.draft()
        except InvalidInput as error:
            self._say(error)
            return
        self.save.setEnabled(False)
        self._ctx.tasks.launch(self._store(draft), what="save an MCP server", owner=self, refused=self._say)

    async def _store(self, draft: McpDraft) -> None:
        if self._server is None:
            await self._servers.add(draft)
        else:
            await self._servers.change(self._server.id, draft)
        self.accept()

    def _say(self, error: UserFacing) -> None:
        self.save.setEnabled(True)
        named = error.field if isinstance(error, InvalidInput) else ""
        named = "values" if named in ("env", "headers") else named
        line = self.wrong.get(named)
        words = sentence_of(self._ctx.t, error)
        if line is None:
            self.problem.say(words)
            self.problem.show()
            return
        line.say(words)
        self._fields[named].setFocus(Qt.FocusReason.OtherFocusReason)

    def _fill(self) -> None:
        server = self._server
        self.patience.setValue(int(server.call_timeout if server is not None else CALL_S))
        self.values.setPlainText(values_as_text(self._kept))
        if server is not None:
            self.name.setText(server.name)
            match server.transport:
                case Stdio(command, args, cwd):
                    self.command.setText(shlex.join([command, *args]))
                    self.folder.setText(cwd)
                case Http(url):
                    self.url.setText(url)
                    self.kind.select(1)
        self._show_kind(self.kind.current)

    def _show_kind(self, kind: int) -> None:
        t = self._ctx.t
        self._program_part.setVisible(kind == 0)
        self._address_part.setVisible(kind == 1)
        label = t("Environment variables") if kind == 0 else t("Headers")
        self._values_label.setText(label)
        self.values.setAccessibleName(label)
        self.values.setPlaceholderText("API_TOKEN=…" if kind == 0 else "Authorization=Bearer …")
        self._values_hint.setText(
            t("NAME=value, one on each line. Values are kept where keys are, and are not shown again.")
        )

    def _lay_out(self, title: str) -> None:
        t = self._ctx.t
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(4)
        column.addWidget(Label(title, "heading"))
        column.addSpacing(6)
        _add(column, t("Name"), self.name, self.wrong["name"])
        column.addSpacing(8)
        column.addWidget(self.kind, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(8)
        for part, fields in (
            (
                self._program_part,
                (
                    (t("Command line"), self.command, self.wrong["command"]),
                    (t("Folder it is started in"), self.folder, self.wrong["cwd"]),
                ),
            ),
            (self._address_part, ((t("Address"), self.url, self.wrong["url"]),)),
        ):
            inner = QVBoxLayout(part)
            inner.setContentsMargins(0, 0, 0, 0)
            inner.setSpacing(4)
            for label, field, wrong in fields:
                _add(inner, label, field, wrong)
                inner.addSpacing(6)
            column.addWidget(part)
        column.addWidget(self._values_label)
        column.addWidget(self.values)
        column.addWidget(self.wrong["values"])
        column.addWidget(self._values_hint)
        column.addSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(Label(t("Longest call, in seconds"), "small", "muted"))
        row.addWidget(self.patience)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.problem)
        column.addSpacing(8)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        column.addLayout(foot)
        self.cancel.setAutoDefault(False)
        self.save.setDefault(True)


def _add(column: QVBoxLayout, label: str, field: QWidget, wrong: ProblemLine) -> None:
    column.addWidget(Label(label, "small", "muted"))
    column.addWidget(field)
    column.addWidget(wrong)


def _line(name: str, spoken: str, hint: str = "") -> QLineEdit:
    line = QLineEdit()
    line.setObjectName(name)
    line.setAccessibleName(spoken)
    line.setPlaceholderText(hint)
    return line
