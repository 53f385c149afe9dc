"""Two or three choices in one trough, one of them raised."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from devflow.ui.look import Look


class Segmented(QFrame):
    """`chosen(index)` when the human chooses; `select` does not emit it."""

    chosen = Signal(int)

    def __init__(self, look: Look, texts: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "segmented")
        self.setFixedHeight(30)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        for index, text in enumerate(texts):
            part = QToolButton(self)
            part.setProperty("role", "segment")
            part.setText(text)
            part.setAccessibleName(text)
            part.setCheckable(True)
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self._group.addButton(part, index)
            row.addWidget(part, 1)
        self._group.idClicked.connect(self.chosen)
        self.select(0)

    def select(self, index: int) -> None:
        self._group.button(index).setChecked(True)

    @property
    def current(self) -> int:
        return self._group.checkedId()

    def part(self, index: int) -> QToolButton:
        """One choice's button, for an objectName."""
        button = self._group.button(index)
        assert isinstance(button, QToolButton)
        return button
