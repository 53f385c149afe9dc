"""What became of a command, said in the composer above the text: not known, at work, done, failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets import Button, FlowLayout, Hairline, IconButton, IconLabel
from devflow.ui.widgets.chips import Paragraph

Act = tuple[str, str, Callable[[], object]]
"""The objectName of its button, its words, and what it does."""

_ICONS = {
    "warning": ("warning", "warning"),
    "danger": ("warning", "danger"),
    "busy": ("half-disc", "accent-fg"),
    "success": ("check", "success"),
}


class CommandNote(QWidget):
    """Hidden until `say`. One that `asks` goes when the text is changed; others stay until they are closed."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._asks = False
        self.setObjectName("commandNote")
        self._icon = IconLabel(look, "info", "text-muted", 14)
        self._icon.setFixedSize(14, 20)
        self.words = Paragraph(look, "", "ui", "text")
        self.close_button = IconButton(look, "cross", look.t("Close"), small=True)
        self.close_button.setObjectName("closeCommandNote")
        self.close_button.clicked.connect(self.dismiss)
        self.acts: list[Button] = []
        self.follows: QWidget | None = None
        """The text that it speaks of: Tab leads from there to the acts."""
        first = QHBoxLayout()
        first.setContentsMargins(14, 8, 12, 0)
        first.setSpacing(8)
        first.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        first.addWidget(self.words, 1)
        first.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self._row = QWidget()
        self._flow = FlowLayout(self._row, gap=6)
        self._flow.setContentsMargins(36, 4, 12, 0)
        line = QHBoxLayout()
        line.setContentsMargins(2, 8, 2, 0)
        line.addWidget(Hairline())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(first)
        column.addWidget(self._row)
        column.addLayout(line)
        self.hide()

    def say(self, text: str, tone: str, acts: Sequence[Act] = (), *, asks: bool = False) -> None:
        """`tone`: warning, danger, busy or success. The keyboard stays in the text; Tab reaches the acts."""
        self._asks = asks
        self._icon.set_icon(*_ICONS[tone])
        self.words.setText(text)
        self.setAccessibleName(text)
        self._flow.clear()
        self.acts = []
        for name, words, act in acts:
            button = Button(self._look, words, small=True)
            button.setObjectName(name)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._flow.addWidget(button)
            self.acts.append(button)
        self._put_behind_the_text()
        self._row.setVisible(bool(acts))
        self.close_button.setVisible(tone != "busy")
        self.show()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _put_behind_the_text(self) -> None:
        before = self.follows
        for button in (*self.acts, self.close_button):
            if before is not None:
                QWidget.setTabOrder(before, button)
            before = button

    def text_changed(self) -> None:
        """What was said of the text does not fit it any more."""
        if self._asks:
            self.dismiss()

    def dismiss(self) -> None:
        self._asks = False
        self.hide()
