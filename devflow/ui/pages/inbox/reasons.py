"""Why it was rejected: four reasons by key, offered for as long as the rejection can be undone."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QWidget

from devflow.ui.look import Look
from devflow.ui.models.words import reject_reasons
from devflow.ui.widgets import Button, Label


class Reasons(QFrame):
    """A popup over `host`, `above` px over its bottom edge. `chosen(code)`; it never takes the keyboard."""

    chosen = Signal(str)

    def __init__(self, look: Look, host: QWidget, *, above: int) -> None:
        super().__init__(host)
        self._above = above
        self._codes = tuple(reject_reasons(look.t))
        self.setObjectName("rejectReasons")
        self.setProperty("role", "popup")
        self.setAccessibleName(look.t("Reason"))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 6, 4)
        row.setSpacing(2)
        row.addWidget(Label(look.t("Reason"), "small", "muted"))
        row.addSpacing(6)
        for place, (code, word) in enumerate(reject_reasons(look.t).items(), 1):
            button = Button(look, word, variant="ghost", key=str(place), small=True)
            button.setObjectName(f"rejectReason-{code}")
            button.clicked.connect(self._clicked)
            row.addWidget(button)
        host.installEventFilter(self)
        if isinstance(host, QStackedWidget):
            host.currentChanged.connect(self._stay_above)
        self.hide()

    def offer(self) -> None:
        self.adjustSize()
        self._place()
        self.show()
        self.raise_()

    def take(self, number: int) -> bool:
        """Choose by key, 1–4; False where nothing is offered."""
        if self.isHidden() or not 1 <= number <= len(self._codes):
            return False
        self.hide()
        self.chosen.emit(self._codes[number - 1])
        return True

    def _clicked(self) -> None:
        button = self.sender()
        if button is not None:
            self.hide()
            self.chosen.emit(button.objectName().partition("-")[2])

    def _place(self) -> None:
        host = self.parentWidget()
        if host is not None:
            width, height = min(self.sizeHint().width(), host.width() - 32), self.sizeHint().height()
            self.setGeometry((host.width() - width) // 2, host.height() - self._above - height, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _stay_above(self, _index: int) -> None:
        """A stack puts the page that comes to the front over everything else in it."""
        self.raise_()
