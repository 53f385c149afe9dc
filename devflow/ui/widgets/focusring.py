"""The focus ring: one overlay that follows the focused control, for keyboard focus only."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget
from shiboken6 import isValid

from devflow.ui.theme import ThemeController

_OUT = 3  # 1 px offset + 2 px ring


class FocusRing(QObject):
    """Install one per application. Fields and lists show focus themselves; buttons and combo boxes get the ring.

    A widget with the dynamic property `focusRadius` (px) is followed too, with that radius. It is the keyboard's focus
    when it came by Tab, or by `setFocus` with ShortcutFocusReason; Qt keeps that as an attribute of the window. Events
    are watched on the focused widget and those around it only: a filter on the application would cost every event a
    call into Python, a tenth of the time the window needs to open.
    """

    def __init__(self, app: QApplication, theme: ThemeController) -> None:
        super().__init__(app)
        self._theme = theme
        self._target: QWidget | None = None
        self._watched: list[QWidget] = []
        self._overlay: _Overlay | None = None
        app.focusChanged.connect(self._focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place()
        elif event.type() == QEvent.Type.Hide:
            self._leave()
        return False

    def _focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        self._leave()
        if new is not None and _by_keyboard(new) and _wants_ring(new):
            self._follow(new)

    def _follow(self, target: QWidget) -> None:
        window = target.window()
        self._target = target
        widget: QWidget | None = target
        while widget is not None and widget is not window:
            self._watched.append(widget)
            widget.installEventFilter(self)
            widget = widget.parentWidget()
        radius = target.property("focusRadius")
        self._overlay = _Overlay(window, self._theme, 6 if radius is None else int(radius))
        self._place()

    def _place(self) -> None:
        if self._target is None or self._overlay is None or not isValid(self._overlay):
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
        watched, self._watched = self._watched, []
        for widget in watched:
            if isValid(widget):
                widget.removeEventFilter(self)
        overlay, self._overlay = self._overlay, None
        if overlay is not None and isValid(overlay):
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


def _by_keyboard(widget: QWidget) -> bool:
    return widget.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)


def _wants_ring(widget: QWidget) -> bool:
    if widget.property("focusRadius") is not None:
        return True
    if isinstance(widget, QComboBox):
        return not widget.isEditable()
    return isinstance(widget, QAbstractButton)
