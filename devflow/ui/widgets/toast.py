"""The bar that says what was done and offers Undo for eight seconds."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QPropertyAnimation, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QStackedWidget, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import baseline, draw_text, elided, fill_round, text_width

_TICK_MS = 50


class UndoBar(QWidget):
    """A child of `host`, centred `above` px over its bottom edge; one at a time, the newest wins.

    Hover or focus pauses the clock. Give `button` its objectName (`undoButton`); it is hidden for plain messages.
    """

    undone = Signal()
    expired = Signal()

    def __init__(self, look: Look, host: QWidget, *, above: int = 12) -> None:
        super().__init__(host)
        self._look = look
        self._above = above
        self._act: Callable[[], object] | None = None
        self._text = ""
        self._left = 0
        self._whole = 1
        self.button = _UndoButton(look, self)
        self.button.clicked.connect(self._undo)
        self.words = QLabel(self)
        self.words.setProperty("role", "toast")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 0, 14, 0)
        row.setSpacing(20)
        row.addWidget(self.words)
        row.addWidget(self.button)
        self.setFixedHeight(36)
        self._clock = QTimer(self)
        self._clock.setInterval(_TICK_MS)
        self._clock.timeout.connect(self._tick)
        self._rising = QPropertyAnimation(self, b"pos", self)
        self._rising.setEasingCurve(QEasingCurve.Type.OutCubic)
        host.installEventFilter(self)
        if isinstance(host, QStackedWidget):
            host.currentChanged.connect(self._stay_above)
        self.hide()

    def show_undo(self, text: str, undo: Callable[[], object], *, key: str = "Ctrl Z") -> None:
        """Say `text` and offer Undo; `undo` is called once, on click."""
        self._act = undo
        self.button.set_words(self._look.t("Undo"), key)
        self.button.show()
        self._show(text)

    def show_action(self, text: str, label: str, act: Callable[[], object]) -> None:
        """Say `text` and offer one act that undoes nothing (`Open`); `act` is called once, on click."""
        self._act = act
        self.button.set_words(label, "", icon="")
        self.button.show()
        self._show(text)

    def show_message(self, text: str) -> None:
        """Say `text` without an act."""
        self._act = None
        self.button.hide()
        self._show(text)

    def dismiss(self) -> None:
        self._clock.stop()
        self._rising.stop()
        self._act = None
        self.hide()

    def _show(self, text: str) -> None:
        theme = self._look.theme
        self._text = text
        self.setAccessibleName(text)
        self._whole = self._left = theme.duration("undo-window")
        self._clock.start()
        arriving = not self.isVisible()
        self._place()
        self.show()
        if arriving:
            self._rise()
        self.raise_()
        event = QAccessibleAnnouncementEvent(self, text)
        QAccessible.updateAccessibility(event)

    def _rise(self) -> None:
        """Come up the last 8 px; a bar that is there already only changes its words."""
        ms = self._look.theme.duration("toast-in")
        if ms:
            self._rising.setDuration(ms)
            self._rising.setStartValue(self.pos() + QPoint(0, 8))
            self._rising.setEndValue(self.pos())
            self._rising.start()

    def _place(self) -> None:
        host = self.parentWidget()
        if host is None:
            return
        font, button = self._look.theme.font("ui"), 20 + self.button.width() if self.button.isVisibleTo(self) else 0
        room = host.width() - 32 - 2 * 14 - button
        self.words.setText(elided(self._text, font, room))
        self.words.setToolTip(self._text if self.words.text() != self._text else "")
        width = min(self.sizeHint().width(), host.width() - 32)
        self.setGeometry((host.width() - width) // 2, host.height() - self._above - 36, width, 36)

    def _tick(self) -> None:
        if self.underMouse() or self.button.hasFocus():
            return
        self._left -= _TICK_MS
        if self._left <= 0:
            self.dismiss()
            self.expired.emit()
        else:
            self.update()

    def _undo(self) -> None:
        act, self._act = self._act, None
        self.dismiss()
        if act is not None:
            act()
        self.undone.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _stay_above(self, _index: int) -> None:
        """A stack puts the page that comes to the front over everything else in it."""
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        fill_round(painter, rect, 8, theme.color("tooltip-bg"))
        if self._act is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        path = QPainterPath()
        path.addRoundedRect(rect, 8, 8)
        painter.setClipPath(path)
        done = rect.width() * self._left / self._whole
        painter.fillRect(QRectF(0, rect.height() - 2, done, 2), theme.color("tooltip-accent"))


class _UndoButton(QPushButton):
    """Undo arrow, word and key, in the inverted accent."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._key = ""
        self._icon_name = "undo"
        self.setProperty("variant", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_words(self, text: str, key: str, icon: str = "undo") -> None:
        self.setText(text)
        self.setAccessibleName(text)
        self._key = key
        self._icon_name = icon
        theme = self._look.theme
        width = (20 if icon else 0) + text_width(text, theme.font("ui-strong"))
        width += 6 + text_width(key, theme.font("small")) if key else 0
        self.setFixedWidth(round(width) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self._icon_name:
            self._look.icons.paint(painter, 0, rect.center().y() - 7, self._icon_name, "tooltip-accent", 14)
        font = theme.font("ui-strong")
        font.setUnderline(self.underMouse())
        start = 20 if self._icon_name else 0
        end = draw_text(painter, start, baseline(rect, font), self.text(), font, theme.color("tooltip-accent"))
        small = theme.font("small")
        draw_text(painter, end + 6, baseline(rect, font), self._key, small, theme.color("tooltip-accent", 0.8))
