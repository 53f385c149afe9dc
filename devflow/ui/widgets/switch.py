"""The 32×18 switch: a check box in role, state and keys, painted as a track and a thumb."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QPoint, QRectF, QSize, QVariantAnimation
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import fill_round


class Switch(QCheckBox):
    """`name` is what a screen reader says; the visible label stands beside it in an `OptionRow`."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._place = 0.0
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._slide = QVariantAnimation(self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.valueChanged.connect(self._moved)
        self.toggled.connect(self._start)

    def sizeHint(self) -> QSize:
        return QSize(32, 18)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        track = QRectF(0, (self.height() - 18) / 2, 32, 18)
        if self.isChecked():
            fill = "accent" if self.isEnabled() else "text-disabled"
            fill_round(painter, track, 9, theme.color(fill))
            thumb = theme.color("accent-text") if self.isEnabled() else theme.color("surface-raised")
        else:
            border = "control-border" if self.isEnabled() else "text-disabled"
            fill_round(painter, track, 9, theme.color("surface-raised"), theme.color(border))
            thumb = theme.color(border)
        left = track.left() + 3 + self._place * 14
        fill_round(painter, QRectF(left, track.top() + 3, 12, 12), 6, thumb)

    def _start(self, on: bool) -> None:
        end = 1.0 if on else 0.0
        ms = self._look.theme.duration("hover") if self.isVisible() else 0
        if not ms:
            self._place = end
            self.update()
            return
        self._slide.stop()
        self._slide.setDuration(ms)
        self._slide.setStartValue(self._place)
        self._slide.setEndValue(end)
        self._slide.start()

    def _moved(self, value: float) -> None:
        self._place = value
        self.update()
