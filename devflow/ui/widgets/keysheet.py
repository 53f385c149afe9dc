"""The sheet of keys, opened with `?`."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.buttons import Button
from devflow.ui.widgets.chips import Label
from devflow.ui.widgets.painting import draw_key_cap, key_cap_width


class KeyCap(QWidget):
    """One painted key."""

    def __init__(self, look: Look, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._key = key
        self.setFixedSize(key_cap_width(look.theme, key) + 1, 20)
        self.setAccessibleName(key)

    def sizeHint(self) -> QSize:
        return self.size()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        mid = QRectF(self.rect()).center().y()
        fg, border = theme.color("text-muted"), theme.color("hairline-strong")
        draw_key_cap(QPainter(self), 0, mid, self._key, theme, fg, border)


class KeySheet(QDialog):
    """`groups`: (title, [(keys, what they do), …]); open it with `ctx.dialogs.run(KeySheet(…))`."""

    def __init__(
        self,
        look: Look,
        groups: Sequence[tuple[str, Sequence[tuple[Sequence[str], str]]]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("keySheet")
        self.setWindowTitle(look.t("Keys"))
        self.setMinimumWidth(380)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(6)
        column.addWidget(Label(look.t("Keys"), "title"))
        for title, rows in groups:
            column.addSpacing(8)
            column.addWidget(Label(title, "section"))
            grid = QGridLayout()
            grid.setHorizontalSpacing(16)
            grid.setVerticalSpacing(6)
            grid.setColumnStretch(0, 1)
            for line, (keys, meaning) in enumerate(rows):
                grid.addWidget(Label(meaning, "ui", "muted"), line, 0)
                caps = QHBoxLayout()
                caps.setSpacing(4)
                caps.addStretch(1)
                for key in keys:
                    caps.addWidget(KeyCap(look, key))
                grid.addLayout(caps, line, 1, Qt.AlignmentFlag.AlignRight)
            column.addLayout(grid)
        column.addSpacing(12)
        row = QHBoxLayout()
        row.addStretch(1)
        close = Button(look, look.t("Close"))
        close.clicked.connect(self.accept)
        row.addWidget(close)
        column.addLayout(row)
