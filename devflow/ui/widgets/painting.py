"""Drawing by baseline and the few shapes that every painted row and control shares."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QPainterPath, QPen, QTextLine
from PySide6.QtWidgets import QWidget

from devflow.ui.theme import ThemeController


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a dynamic property that the style sheet selects on, and have it looked at again."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def baseline(rect: QRectF, font: QFont) -> float:
    """The y of the baseline that centres one line of `font` in `rect`.

    Measured from the font's own metrics: a CJK fallback's taller ascent must not move the line.
    """
    metrics = QFontMetrics(font)
    return rect.top() + round((rect.height() + metrics.ascent() - metrics.descent()) / 2)


def draw_text(painter: QPainter, x: float, base: float, text: str, font: QFont, color: QColor) -> float:
    """Draw one line from (x, baseline); returns the x where it ends."""
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(QPointF(x, base), text)
    return x + text_width(text, font)


def draw_text_right(painter: QPainter, right: float, base: float, text: str, font: QFont, color: QColor) -> float:
    """Draw one line that ends at `right`; returns the x where it starts."""
    left = right - text_width(text, font)
    draw_text(painter, left, base, text, font, color)
    return left


def text_width(text: str, font: QFont) -> float:
    return QFontMetricsF(font).horizontalAdvance(text)


def elided(text: str, font: QFont, width: float, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> str:
    return QFontMetrics(font).elidedText(text, mode, max(0, int(width)))


def fill_round(painter: QPainter, rect: QRectF, radius: float, fill: QColor, border: QColor | None = None) -> None:
    """A filled rounded rectangle, with a 1 px inner border when one is given."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if border is not None:
        rect = rect.adjusted(0.5, 0.5, -0.5, -0.5)
        radius -= 0.5
        painter.setPen(QPen(border, 1))
    else:
        painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(rect, radius, radius)
    painter.restore()


def draw_dot(painter: QPainter, center: QPointF, side: float, color: QColor, square: bool) -> None:
    """A kind's rounded square or a status's disc."""
    rect = QRectF(center.x() - side / 2, center.y() - side / 2, side, side)
    fill_round(painter, rect, 2 if square else side / 2, color)


KEY_CAP_HEIGHT = 18


def key_cap_width(theme: ThemeController, key: str) -> int:
    """A cap is at least square; long names such as `Ctrl K` pad 5 px."""
    return max(KEY_CAP_HEIGHT, round(text_width(key, theme.font("label"))) + 10)


def draw_key_cap(
    painter: QPainter, x: float, mid: float, key: str, theme: ThemeController, fg: QColor, border: QColor
) -> float:
    """Draw a key cap with its left edge at x, centred on `mid`; returns the x where it ends."""
    width = key_cap_width(theme, key)
    rect = QRectF(round(x), round(mid - KEY_CAP_HEIGHT / 2), width, KEY_CAP_HEIGHT)
    fill_round(painter, rect, 4, QColor(Qt.GlobalColor.transparent), border)
    font = theme.font("label")
    draw_text(painter, rect.center().x() - text_width(key, font) / 2, baseline(rect, font), key, font, fg)
    return rect.right()


def line_x(line: QTextLine, position: int) -> float:
    """Where in its line a text position lies, in px from the block's left."""
    x, _ = line.cursorToX(position)  # type: ignore[misc]
    return float(x)  # type: ignore[has-type]


def rounded_path(rect: QRectF, radius: float, top: bool = True, bottom: bool = True) -> QPainterPath:
    """A rectangle rounded at the top, the bottom or both."""
    path = QPainterPath()
    path.addRoundedRect(rect, radius, radius)
    if not top:
        path.addRect(QRectF(rect.left(), rect.top(), rect.width(), rect.height() / 2))
    if not bottom:
        path.addRect(QRectF(rect.left(), rect.center().y(), rect.width(), rect.height() / 2))
    return path.simplified()
