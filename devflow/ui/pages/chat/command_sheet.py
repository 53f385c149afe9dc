"""`/help`: the commands and the keys of the chat on one sheet."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from devflow.domain.skill import BrokenSkill
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.commands import Command
from devflow.ui.widgets import Button, Label
from devflow.ui.widgets.keysheet import KeyCap

_WIDTH, _HEIGHT = 520, 560
_DOES = 160
"""Characters of a skill's description; some are as long as a page."""
_BROKEN = 20


class CommandSheet(QDialog):
    """Open it with `ctx.dialogs.run`. It scrolls where there are many skills."""

    def __init__(
        self,
        ctx: UiContext,
        commands: Sequence[Command],
        broken: Sequence[BrokenSkill] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._ctx = ctx
        t = ctx.t
        self.setObjectName("commandSheet")
        self.setWindowTitle(t("Commands and keys"))
        self.setFixedWidth(_WIDTH)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(24, 0, 24, 0)
        self._column.setSpacing(6)
        self._commands(t("Commands"), [each for each in commands if not each.skill])
        self._commands(t("Skills"), [each for each in commands if each.skill])
        self._broken(broken)
        self._keys()
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("commandSheetScroll")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        scroll.setMinimumHeight(min(inner.sizeHint().height(), _HEIGHT))
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 24, 0)
        row.addStretch(1)
        close = Button(ctx, t("Close"))
        close.setObjectName("closeButton")
        close.clicked.connect(self.accept)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 20, 0, 16)
        column.setSpacing(12)
        head = QHBoxLayout()
        head.setContentsMargins(24, 0, 24, 0)
        head.addWidget(Label(t("Commands and keys"), "title"))
        column.addLayout(head)
        column.addWidget(scroll, 1)
        column.addLayout(row)

    def _commands(self, title: str, commands: Sequence[Command]) -> None:
        if not commands:
            return
        self._section(title)
        grid = self._grid(stretch=1)
        for line, command in enumerate(commands):
            grid.addWidget(Label(command.typed, "ui-strong"), line, 0, Qt.AlignmentFlag.AlignTop)
            does = command.does if len(command.does) <= _DOES else f"{command.does[: _DOES - 1]}…"
            grid.addWidget(Label(does, "ui", "muted", wrap=True), line, 1)

    def _broken(self, broken: Sequence[BrokenSkill]) -> None:
        """What is meant as a skill and cannot be used, and why."""
        if not broken:
            return
        self._section(self._ctx.t("Skills that cannot be used"))
        for each in broken[:_BROKEN]:
            label = Label(each.problem.render(self._ctx.t), "ui", "warning", wrap=True)
            label.setObjectName("brokenSkill")
            label.setToolTip(str(each.folder))
            self._column.addWidget(label)

    def _keys(self) -> None:
        t = self._ctx.t
        self._section(t("Keys"))
        grid = self._grid(stretch=0)
        for line, (keys, meaning) in enumerate(
            (
                (["/"], t("At the beginning of a message: commands and skills")),
                (["@"], t("Name a page of the knowledge base")),
                (["Enter"], t("Send")),
                (["Shift", "Enter"], t("New line")),
                (["Esc"], t("Stop the reply")),
                (["Ctrl", "N"], t("New conversation")),
                (["Ctrl", "K"], t("Search all messages")),
                (["F6"], t("Go to the question that waits for a decision")),
            )
        ):
            grid.addWidget(Label(meaning, "ui", "muted"), line, 0)
            caps = QHBoxLayout()
            caps.setSpacing(4)
            caps.addStretch(1)
            for key in keys:
                caps.addWidget(KeyCap(self._ctx, key))
            grid.addLayout(caps, line, 1, Qt.AlignmentFlag.AlignRight)

    def _section(self, title: str) -> None:
        self._column.addSpacing(8)
        self._column.addWidget(Label(title, "section"))

    def _grid(self, *, stretch: int) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(stretch, 1)
        if stretch:
            grid.setColumnMinimumWidth(0, 96)
        self._column.addLayout(grid)
        return grid
