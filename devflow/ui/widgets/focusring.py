"""The focus ring: one overlay that follows the focused control, for keyboard focus only."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget

from devflow.ui.theme import ThemeController

_KEYBOARD = frozenset(
    {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}
)
_OUT = 3  # 1 px offset + 2 px ring


class FocusRing(QObject):
    """Install one per application. Fields and lists show focus themselves; buttons and combo boxes get the ring.

    A widget with the dynamic property `focusRadius` (px) is followed too, with that radius.
    """

    def __init__(self, app: QApplication, theme: ThemeController) -> None:
        super().__init__(app)
        self._theme = theme
        self._target: QWidget | None = None
        self._watched: list[QWidget] = []
        self._overlay: _Overlay | None = None
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.FocusIn and isinstance(watched, QWidget) and isinstance(event, QFocusEvent):
            if event.reason() in _KEYBOARD and _wants_ring(watched):
                self._follow(watched)
            else:
                self._leave()
        elif kind == QEvent.Type.FocusOut and watched is self._target:
            self._leave()
        elif kind in (QEvent.Type.Move, QEvent.Type.Resize) and watched in self._watched:
            self._place()
        elif kind in (QEvent.Type.Hide, QEvent.Type.Destroy, QEvent.Type.DeferredDelete) and watched in self._watched:
            self._leave()
        return False

    def _follow(self, target: QWidget) -> None:
        self._leave()
        window = target.window()
        self._target = target
        self._watched = []
        widget: QWidget | None = target
        while widget is not None and widget is not window:
            self._watched.append(widget)
            widget = widget.parentWidget()
        radius = target.property("focusRadius")
        self._overlay = _Overlay(window, self._theme, 6 if radius is None else int(radius))
        self._place()

    def _place(self) -> None:
        if self._target is None or self._overlay is None:
            return
        window = self._target.window()
        corner = self._target.mapTo(window, QPoint(0, 0))
        size = self._target.size()
        self._overlay.setGeometry(
            corner.x() - _OUT, corner.y() - _OUT, size.width() + 2 * _OUT, size.height() + 2 * _OUT
        )
        self._overlay.show()
        self._overlay.raise_()

    def _leave(self) -> None:
        self._target = None
        self._watched = []
        if self._overlay is not None:
            overlay, self._overlay = self._overlay, None
            overlay.hide()
            overlay.deleteLater()


class _Overlay(QWidget):
    def __init__(self, window: QWidget, theme: ThemeController, radius: int) -> None:
        super().__init__(window)
        self._theme = theme
        self._radius = radius + 2
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("focus-ring"), 2))
        painter.setBrush(QColor(Qt.GlobalColor.transparent))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), self._radius, self._radius)


def _wants_ring(widget: QWidget) -> bool:
    if widget.property("focusRadius") is not None:
        return True
    if isinstance(widget, QComboBox):
        return not widget.isEditable()
    return isinstance(widget, QAbstractButton)
