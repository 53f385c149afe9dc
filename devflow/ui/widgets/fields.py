"""Fields: search with a key hint, combo box with a styled list, and the label above a field."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QListView, QSpinBox, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import draw_key_cap, key_cap_width

SPIN_MARGINS = (7, 0, 0, 0)
"""A spin box's own line ignores the style sheet's padding."""


class SearchField(QLineEdit):
    """A field with a magnifier and, while empty, the key that reaches it. Escape clears, then gives the focus back.

    `moved(+1 | -1)` on Down and Up, so that the list below can follow while the focus stays here.
    """

    moved = Signal(int)
    escaped = Signal()

    def __init__(self, look: Look, placeholder: str, *, key: str | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._key = key
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(False)
        right = key_cap_width(look.theme, key) + 6 if key else 0
        self.setTextMargins(24, 0, right, 0)
        self._clear = QAction(self)
        look.icons.put(self._clear, "cross", "text-faint", 14)
        self.addAction(self._clear, QLineEdit.ActionPosition.TrailingPosition)
        self._clear.setToolTip(look.t("Clear"))
        self._clear.setVisible(False)
        self._clear.triggered.connect(self.clear)
        self.textChanged.connect(self._show_clear)

    def _show_clear(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        right = 0 if text or not self._key else key_cap_width(self._look.theme, self._key) + 6
        self.setTextMargins(24, 0, right, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape if self.text():
                self.clear()
            case Qt.Key.Key_Escape:
                self.escaped.emit()
            case Qt.Key.Key_Down:
                self.moved.emit(1)
            case Qt.Key.Key_Up:
                self.moved.emit(-1)
            case _:
                super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._look.theme
        painter = QPainter(self)
        mid = self.height() / 2
        self._look.icons.paint(painter, 10, mid - 7, "search", "text-muted", 14)
        if self._key and not self.text():
            width = key_cap_width(theme, self._key)
            fg, border = theme.color("text-muted"), theme.color("hairline-strong")
            draw_key_cap(painter, self.width() - width - 9, mid, self._key, theme, fg, border)


class ComboBox(QComboBox):
    """A 30 px combo box; the wheel never changes it by accident while a page scrolls.

    `add(text, data)` adds a choice; `select_data(data)` chooses without regard to the text.
    """

    def __init__(self, look: Look, *, name: str = "", width: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        view = QListView(self)
        view.setMouseTracking(True)
        self.setView(view)
        self.setMaxVisibleItems(8)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        if name:
            self.setAccessibleName(name)
        if width:
            self.setFixedWidth(width)

    def add(self, text: str, data: object = None) -> None:
        self.addItem(text, data)

    def select_data(self, data: object) -> bool:
        """Choose the item with that data; False (and no change) when there is none."""
        for row in range(self.count()):
            if self.itemData(row) == data:
                self.setCurrentIndex(row)
                return True
        return False

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width() + 8, hint.height())


class SpinBox(QSpinBox):
    """A whole-number field; the wheel never changes it by accident."""

    def __init__(self, *, name: str = "", low: int = 0, high: int = 99, suffix: str = "", width: int = 0) -> None:
        super().__init__()
        self.setRange(low, high)
        self.setSuffix(suffix)
        self.setAccessibleName(name)
        self.lineEdit().setTextMargins(*SPIN_MARGINS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if width:
            self.setFixedWidth(width)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class DecimalBox(QDoubleSpinBox):
    """A number field with decimals; the wheel never changes it by accident."""

    def __init__(
        self, *, name: str = "", low: float = 0.0, high: float = 1.0, step: float = 0.05, decimals: int = 2
    ) -> None:
        super().__init__()
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setDecimals(decimals)
        self.setAccessibleName(name)
        self.lineEdit().setTextMargins(*SPIN_MARGINS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
