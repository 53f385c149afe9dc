"""What a file of MCP servers would add: nothing is stored before the human has seen each line and pressed Add."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.tools.mcp_config import McpServer, as_server
from devflow.tools.mcp_import import Found, Preview, additions
from devflow.tools.mcp_servers import McpServers
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.mcp_words import found_words
from devflow.ui.dialogs.settings.page import sentence_of
from devflow.ui.widgets import Button, Card, ComboBox, Label, NoticeStrip

BOTH, REPLACE = "both", "replace"


class McpImportDialog(QDialog):
    """It closes once the chosen servers are stored."""

    def __init__(
        self,
        ctx: UiContext,
        servers: McpServers,
        file: str,
        preview: Preview,
        known: Sequence[McpServer],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx, self._servers, self._known = ctx, servers, tuple(known)
        self.setObjectName("mcpImport")
        self.setWindowTitle(t("Import MCP servers"))
        self.setMinimumSize(560, 320)
        self.boxes: list[tuple[QCheckBox, Found]] = []
        card = Card(padding=14)
        for found in preview.servers:
            card.add_row(self._row(found))
        self.names = ComboBox(ctx, name=t("A name that is taken"), width=280)
        self.names.setObjectName("mcpNames")
        self.names.add(t("Keep both: the new one gets a number"), BOTH)
        self.names.add(t("Replace the one there"), REPLACE)
        self.problem = NoticeStrip(ctx, "", "danger")
        self.problem.setObjectName("mcpImportProblem")
        self.problem.hide()
        self.add = Button(ctx, "", variant="primary")
        self.add.setObjectName("mcpImportButton")
        self.cancel = Button(ctx, t("Cancel"))
        self.cancel.setObjectName("cancelMcpImportButton")
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        holder = QWidget()
        inside = QVBoxLayout(holder)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(card)
        inside.addStretch(1)
        area.setWidget(holder)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(8)
        column.addWidget(Label(t("Import MCP servers"), "heading"))
        about = t(
            "From {file}. A program is started as written here, with your rights: add only what you know.", file=file
        )
        column.addWidget(Label(about, "small", "muted", wrap=True))
        column.addWidget(area, 1)
        if preview.ignored:
            ignored = t("Left out, for it is no MCP server: {names}", names=", ".join(preview.ignored))
            column.addWidget(Label(ignored, "small", "faint", wrap=True))
        row = QHBoxLayout()
        row.setSpacing(8)
        self._names_label = Label(t("A name that is taken"), "small", "muted")
        row.addWidget(self._names_label)
        row.addWidget(self.names)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.problem)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.add)
        column.addLayout(foot)
        self.cancel.setAutoDefault(False)
        self.add.setDefault(True)
        if not any(found.same_name for found in preview.servers):
            self._names_label.hide()
            self.names.hide()
        self.add.clicked.connect(self._store)
        self.cancel.clicked.connect(self.reject)
        self._count()

    def _row(self, found: Found) -> QWidget:
        t = self._ctx.t
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        box = QCheckBox(found.name)
        box.setObjectName(f"mcpFound-{found.name}")
        line = as_server(found.draft, "", 1).line if found.draft is not None else ""
        box.setAccessibleDescription(line)
        box.setEnabled(found.draft is not None)
        box.setChecked(found.draft is not None and not found.same)
        box.toggled.connect(self._count)
        column.addWidget(box)
        if line:
            shown = Label(line, "small", "muted", wrap=True)
            shown.setContentsMargins(24, 0, 0, 0)
            column.addWidget(shown)
        if found.draft is not None and found.draft.values:
            names = t("With values for {names}", names=", ".join(found.draft.values))
            given = Label(names, "small", "muted", wrap=True)
            given.setContentsMargins(24, 0, 0, 0)
            column.addWidget(given)
        if words := found_words(t, found):
            said = Label(words, "small", "danger" if found.problem is not None else "warning", wrap=True)
            said.setContentsMargins(24, 0, 0, 0)
            column.addWidget(said)
        self.boxes.append((box, found))
        return holder

    @property
    def chosen(self) -> tuple[Found, ...]:
        return tuple(found for box, found in self.boxes if box.isChecked() and box.isEnabled())

    def _count(self, _on: bool = False) -> None:
        count = len(self.chosen)
        self.add.set_label(self._ctx.t.n("Add {count} server", "Add {count} servers", count))
        self.add.setEnabled(count > 0)

    def _store(self) -> None:
        self.add.setEnabled(False)
        made = additions(self.chosen, self._known, replacing=self.names.currentData() == REPLACE)

        async def store() -> None:
            await self._servers.take(made)
            self.accept()

        self._ctx.tasks.launch(store(), what="import MCP servers", owner=self, refused=self._refused)

    def _refused(self, error: UserFacing) -> None:
        self.problem.say(sentence_of(self._ctx.t, error))
        self.problem.show()
        self._count()
