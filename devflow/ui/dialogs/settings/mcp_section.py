"""Settings, Tools: the MCP servers, how each stands, and what can be done with them. Everything applies at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.tools import mcp_import
from devflow.tools.mcp_config import McpServer
from devflow.tools.mcp_servers import GROUP, Removed
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.mcp_form import McpForm
from devflow.ui.dialogs.settings.mcp_import_dialog import McpImportDialog
from devflow.ui.dialogs.settings.mcp_row import McpRow
from devflow.ui.dialogs.settings.page import sentence_of
from devflow.ui.models.refresh import Refresher
from devflow.ui.widgets import Button, Card, Label, NoticeStrip, UndoBar

PROGRAMS = {
    "Claude": "Claude Desktop",
    ".cursor": "Cursor",
    ".claude.json": "Claude Code",
    "User": "VS Code",
    ".gemini": "Gemini CLI",
    "windsurf": "Windsurf",
}
"""Whose file it is, by its name or its folder's."""


class McpSection(QWidget):
    """`objectName` mcpSection. `bar` shows Undo after a removal."""

    def __init__(self, ctx: UiContext, bar: UndoBar | None = None) -> None:
        super().__init__()
        t = ctx.t
        self._ctx = ctx
        self._bar = bar
        self._mcp = ctx.services.mcp
        self._seen: tuple[McpServer, ...] | None = None
        self.rows: list[McpRow] = []
        self._card: Card | None = None
        self.setObjectName("mcpSection")
        self.setAccessibleName(t("MCP servers"))
        self.import_button = Button(ctx, t("Import…"), small=True)
        self.import_button.setObjectName("importMcpButton")
        self.add_button = Button(ctx, t("Add…"), icon="plus", small=True)
        self.add_button.setObjectName("addMcpButton")
        self.add_button.setAccessibleName(t("Add an MCP server"))
        self.import_button.setAccessibleName(t("Import MCP servers"))
        self.problem = NoticeStrip(ctx, "", "danger")
        self.problem.setObjectName("mcpSectionProblem")
        self.problem.hide()
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(Label(t("MCP servers"), "section"), 1)
        head.addWidget(self.import_button)
        head.addWidget(self.add_button)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addLayout(head)
        about = t("Programs and addresses that offer the assistant further tools. Every call asks first.")
        self._column.addWidget(Label(about, "small", "muted", wrap=True))
        self._column.addWidget(self.problem)
        self.add_button.clicked.connect(self._add)
        self.import_button.clicked.connect(self._import)
        self._reread = Refresher(ctx.tasks, self._read, "read the MCP servers", self)
        ctx.events.settings_changed.connect(self._changed)
        ctx.events.tool_servers_changed.connect(self._ask)
        self._reread.ask()

    # showing

    def _changed(self, groups: frozenset[str]) -> None:
        if GROUP in groups:
            self._reread.ask()

    def _ask(self, _event: object = None) -> None:
        self._reread.ask()

    async def _read(self) -> None:
        servers = await self._mcp.servers.list()
        if servers != self._seen:
            self._seen = servers
            self._show(servers)
        for row in self.rows:
            row.show_state(self._mcp.state(row.server))

    def _show(self, servers: tuple[McpServer, ...]) -> None:
        focused = self.focusWidget()
        name = focused.objectName() if focused is not None and focused.hasFocus() else ""
        if self._card is not None:
            self._column.removeWidget(self._card)
            self._card.hide()
            self._card.deleteLater()
        self._card = Card(padding=16)
        self.rows = [McpRow(self._ctx, server) for server in servers]
        for row in self.rows:
            row.tested.connect(self._test)
            row.edited.connect(self._edit)
            row.removed.connect(self._remove)
            row.switched.connect(self._switch)
            self._card.add_row(row)
        if not servers:
            self._card.add_row(self._nothing())
        self._column.addWidget(self._card)
        again = self.findChild(QWidget, name) if name else None
        if again is not None:
            again.setFocus()
        elif name.startswith("mcp"):
            self.add_button.setFocus()

    def _nothing(self) -> QWidget:
        words = Label(
            self._ctx.t("None yet. Import reads the files of Claude Desktop, Cursor and others."),
            "ui",
            "muted",
            wrap=True,
        )
        words.setObjectName("mcpEmpty")
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 12, 0, 12)
        column.addWidget(words)
        return holder

    # what the human does

    def _add(self) -> None:
        self._launch(self._edited(None), "add an MCP server")

    def _edit(self, server: McpServer) -> None:
        self._launch(self._edited(server), "edit an MCP server")

    async def _edited(self, server: McpServer | None) -> None:
        self.problem.hide()
        values = await self._mcp.servers.values(server) if server is not None else {}
        form = McpForm(self._ctx, self._mcp.servers, server, values, parent=self.window())
        await self._ctx.dialogs.run(form)

    def _test(self, server: McpServer) -> None:
        self.problem.hide()
        self._launch(self._mcp.test(server), "test an MCP server")

    def _switch(self, server: McpServer, on: bool) -> None:
        work = self._mcp.servers.set_enabled(server.id, on)
        self._ctx.tasks.launch(work, what="switch an MCP server", refused=self._refused)

    def _remove(self, server: McpServer) -> None:
        self._ctx.tasks.launch(self._removed(server), what="remove an MCP server", refused=self._refused)

    async def _removed(self, server: McpServer) -> None:
        removed = await self._mcp.servers.remove(server.id)
        words = self._ctx.t("Removed: {name}", name=server.name)
        if self._bar is not None:
            self._bar.show_undo(words, lambda: self._bring_back(removed))

    def _bring_back(self, removed: Removed) -> None:
        self._ctx.tasks.launch(self._mcp.servers.restore(removed), what="bring an MCP server back")

    def _import(self) -> None:
        self._launch(self._offer_files(), "look for files of MCP servers")

    async def _offer_files(self) -> None:
        """The files found on this machine in a menu; where there are none, the file chooser at once."""
        self.problem.hide()
        files = await asyncio.to_thread(mcp_import.usual_files, Path.home())
        if not files:
            await self._choose_file()
            return
        menu = QMenu(self)
        menu.setObjectName("importMcpMenu")
        for path in files:
            action = QAction(program_of(path), menu)
            action.setToolTip(str(path))
            action.setData(str(path))
            menu.addAction(action)
        menu.addSeparator()
        menu.addAction(QAction(self._ctx.t("Another file…"), menu))
        menu.triggered.connect(self._file_chosen)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.import_button.mapToGlobal(self.import_button.rect().bottomLeft()))

    def _file_chosen(self, action: QAction) -> None:
        path = action.data()
        self._launch(self._preview(path) if isinstance(path, str) else self._choose_file(), "import MCP servers")

    async def _choose_file(self) -> None:
        t = self._ctx.t
        chosen = await self._ctx.dialogs.choose_file(
            t("Choose a file of MCP servers"), "", [t("JSON files (*.json)"), t("All files (*)")]
        )
        if chosen:
            await self._preview(chosen)

    async def _preview(self, path: str) -> None:
        data = await asyncio.to_thread(mcp_import.read_file, Path(path))
        known = await self._mcp.servers.list()
        preview = mcp_import.preview(data, known)
        dialog = McpImportDialog(self._ctx, self._mcp.servers, Path(path).name, preview, known, parent=self.window())
        await self._ctx.dialogs.run(dialog)

    def _launch(self, work: Coroutine[Any, Any, Any], what: str) -> None:
        self._ctx.tasks.launch(work, what=what, owner=self, refused=self._refused)

    def _refused(self, error: UserFacing) -> None:
        self.problem.say(sentence_of(self._ctx.t, error))
        self.problem.show()
        self._reread.ask()


def program_of(path: Path) -> str:
    """`Claude Desktop`, for a file where that program keeps its servers."""
    return PROGRAMS.get(path.name) or PROGRAMS.get(path.parent.name) or path.name
