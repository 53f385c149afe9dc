"""Chips, the confidence bar, and text that elides."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import baseline, draw_text, elided, fill_round, restyle, text_width


class Chip(QLabel):
    """A 20 px chip. `kind`: a knowledge kind, `status-<status>`, tag, reference, warning, danger, info, success."""

    def __init__(self, text: str, kind: str = "tag", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setProperty("chip", kind)
        self.setIndent(0)  # a styled QLabel would add half an x to its padding
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_kind(self, text: str, kind: str) -> None:
        self.setText(text)
        restyle(self, "chip", kind)


class Label(QLabel):
    """Plain text in a role of the type scale (`type`) and a tone: muted, faint, accent, danger, warning, success."""

    def __init__(
        self, text: str = "", type: str = "ui", tone: str = "", *, wrap: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if type != "ui":
            self.setProperty("type", type)
        if tone:
            self.setProperty("tone", tone)

    def set_tone(self, tone: str) -> None:
        restyle(self, "tone", tone)

    def paintEvent(self, event: QPaintEvent) -> None:
        """One line stands on the baseline of its own face: Qt would move it down for a taller Han fallback."""
        if self.wordWrap() or self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            super().paintEvent(event)
            return
        rect, font, align = QRectF(self.contentsRect()), self.font(), self.alignment()
        if align & Qt.AlignmentFlag.AlignTop:
            rect.setHeight(min(rect.height(), self.minimumHeight() or rect.height()))
        x, room = rect.left(), max(0.0, rect.width() - text_width(self.text(), font))
        if align & Qt.AlignmentFlag.AlignRight:
            x += room
        elif align & Qt.AlignmentFlag.AlignHCenter:
            x += room / 2
        shown = elided(self.text(), font, math.ceil(rect.width()) + 1)
        draw_text(QPainter(self), x, baseline(rect, font), shown, font, self.palette().color(self.foregroundRole()))


class Paragraph(QLabel):
    """Wrapped plain text with the line height of its role, which a QLabel does not have."""

    def __init__(
        self, look: Look, text: str = "", role: str = "body", color: str = "text-muted", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._role = role
        self._color = color
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._line() * max(1, len(self._wrapped(width)))

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(self.width()))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._line())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font, color = self._look.theme.font(self._role), self._look.theme.color(self._color)
        for number, line in enumerate(self._wrapped(self.width())):
            band = QRectF(0, number * self._line(), self.width(), self._line())
            draw_text(painter, 0, baseline(band, font), line, font, color)

    def _line(self) -> int:
        return self._look.theme.line_height(self._role)

    def _wrapped(self, width: int) -> list[str]:
        lines: list[str] = []
        for paragraph in self.text().split("\n"):
            layout = QTextLayout(paragraph, self._look.theme.font(self._role))
            layout.beginLayout()
            while (line := layout.createLine()).isValid():
                line.setLineWidth(max(width, 40))
                start = line.textStart()
                lines.append(paragraph[start : start + line.textLength()].rstrip())
            layout.endLayout()
        return lines


class ElidedLabel(QWidget):
    """One line that elides at the end (titles) or in the middle (paths); the whole text is tooltip and name."""

    def __init__(
        self,
        look: Look,
        text: str = "",
        *,
        role: str = "ui",
        color: str = "text",
        middle: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._role = role
        self._color = color
        self._mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def text(self) -> str:
        return self._text

    def set_text(self, text: str, color: str | None = None) -> None:
        self._text = " ".join(text.split())
        self._color = color or self._color
        self.setAccessibleName(self._text)
        self._tell_whole()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = round(text_width(self._text, self._look.theme.font(self._role))) + 2
        return QSize(width, self._look.theme.line_height(self._role) if "code" not in self._role else 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._tell_whole()

    def paintEvent(self, event: QPaintEvent) -> None:
        font = self._look.theme.font(self._role)
        token = self._color if self.isEnabled() else "text-disabled"
        shown = elided(self._text, font, self.width(), self._mode)
        painter = QPainter(self)
        draw_text(painter, 0, baseline(QRectF(self.rect()), font), shown, font, self._look.theme.color(token))

    def _tell_whole(self) -> None:
        fits = text_width(self._text, self._look.theme.font(self._role)) <= self.width()
        self.setToolTip("" if fits else self._text)


class ConfidenceBar(QWidget):
    """A 28×4 bar and the number: `0.86`."""

    def __init__(self, look: Look, value: float = 0.0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._value = value
        self.setFixedSize(64, 18)
        self.set_value(value)

    def set_value(self, value: float) -> None:
        self._value = max(0.0, min(1.0, value))
        self.setAccessibleName(self._look.t("Confidence {value}", value=f"{self._value:.2f}"))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_confidence(painter, self._look, 0, QRectF(self.rect()), self._value)


CONFIDENCE_WIDTH = 28


def paint_confidence(painter: QPainter, look: Look, x: float, rect: QRectF, value: float) -> float:
    """Bar and number from x, centred in `rect`; returns the x where they end."""
    theme = look.theme
    y = rect.center().y() - 2
    fill_round(painter, QRectF(x, y, CONFIDENCE_WIDTH, 4), 2, theme.color("hairline-strong"))
    if value > 0:
        fill_round(painter, QRectF(x, y, CONFIDENCE_WIDTH * value, 4), 2, theme.color("text-muted"))
    font = theme.font("small")
    return draw_text(painter, x + 33, baseline(rect, font), f"{value:.2f}", font, theme.color("text-faint"))
