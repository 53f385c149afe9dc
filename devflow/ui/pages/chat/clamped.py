"""Wrapped text of at most so many lines, the last one elided: titles and excerpts of sources."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from devflow.ui.look import Look


class Clamped(QWidget):
    """Plain text in a role of the type scale. The whole of it is tooltip and accessible name where it does not fit."""

    def __init__(
        self, look: Look, text: str, *, role: str = "small", color: str = "text-muted", lines: int = 2
    ) -> None:
        super().__init__()
        self._look = look
        self._role = role
        self._color = color
        self._lines = lines
        self._text = " ".join(text.split())
        self._shown: list[str] = []
        self._broken_at = -1
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(self._text)

    @property
    def text(self) -> str:
        return self._text

    def set_color(self, color: str) -> None:
        self._color = color
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(1, len(self._broken(width))) * self._line

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 120)))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        shown = self._broken(self.width())
        self.setToolTip(self._text if shown and shown[-1].endswith("…") and not self._text.endswith("…") else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self._look.theme.font(self._role)
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._look.theme.color(self._color))
        lead = round((self._line + metrics.ascent() - metrics.descent()) / 2)
        for row, line in enumerate(self._broken(self.width())):
            painter.drawText(QPointF(0, row * self._line + lead), line)

    @property
    def _line(self) -> int:
        return self._look.theme.line_height(self._role)

    def _broken(self, width: int) -> list[str]:
        if width == self._broken_at:
            return self._shown
        font = self._look.theme.font(self._role)
        metrics = QFontMetrics(font)
        layout = QTextLayout(self._text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[str] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(width, 20))
            start = line.textStart()
            if len(lines) == self._lines - 1:
                lines.append(metrics.elidedText(self._text[start:], Qt.TextElideMode.ElideRight, math.floor(width)))
                break
            lines.append(self._text[start : start + line.textLength()].rstrip())
        layout.endLayout()
        self._broken_at, self._shown = width, lines
        return lines
