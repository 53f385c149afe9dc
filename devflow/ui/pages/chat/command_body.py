"""What the approval card shows of a command: its exact line, who reads it, and where it would run."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from devflow.domain.run import ToolCall
from devflow.tools.call_words import arguments_of, line_of
from devflow.tools.process_output import shown_controls
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.tool_line import WrappedCode
from devflow.ui.widgets import Label

_NAME = 88


class CommandBody(QWidget):
    """The line is wrapped, never cut: what stands far to the right is seen too."""

    def __init__(self, ctx: UiContext, call: ToolCall) -> None:
        super().__init__()
        t = ctx.t
        preview = call.preview or {}
        line = line_of(arguments_of(call))
        self.line = WrappedCode(ctx, shown_controls(line), t("Command"))
        self.line.setFont(ctx.theme.font("code"))
        self.line.setObjectName("commandLine")
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnMinimumWidth(0, _NAME)
        self._grid.setColumnStretch(1, 1)
        folder, program = str(preview.get("folder", "")), str(preview.get("program", ""))
        self._add(t("Folder"), shown_controls(folder), "commandFolder")
        if preview.get("shell"):
            self._add(t("Read by"), t("A shell ({program}): ; | > $(…) and * work in it", program=program))
        else:
            self._add(t("Program"), t("{program}, without a shell", program=shown_controls(program)))
        self._add(t("Ended after"), t.n("{count} second", "{count} seconds", int(preview.get("timeout", 0))))
        column = QVBoxLayout(self)
        column.setContentsMargins(13, 11, 13, 11)
        column.setSpacing(9)
        column.addWidget(self.line)
        column.addLayout(self._grid)

    def _add(self, name: str, value: str, object_name: str = "") -> None:
        row = self._grid.rowCount()
        words = Label(value, "small", wrap=True)
        words.setObjectName(object_name)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(Label(name, "small", "muted"), row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(words, row, 1)
