"""How full the model's window is: a bar of five parts, and the parts in words on a click."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from devflow.domain.request import Measure
from devflow.ui.look import Look
from devflow.ui.pages.chat.left_out import left_out_words
from devflow.ui.widgets import Hairline, Label
from devflow.ui.widgets.painting import baseline, draw_text, fill_round, text_width

_BAR, _HEIGHT, _GAP = 72, 6, 7


def short(tokens: int) -> str:
    """`980`, `11.6k`, `32k`, `1M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            value = tokens / size
            text = f"{value:.0f}" if value >= 100 or abs(value - round(value)) < 0.05 else f"{value:.1f}"
            return text + unit
    return str(tokens)


class ContextMeter(QAbstractButton):
    """72×6 px: system, knowledge, pages, history, free, and `11.6k / 32k`. Hidden until a request was made."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._measure: Measure | None = None
        self._popup: _Parts | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self.open_parts)
        self.hide()

    def show_measure(self, measure: Measure | None) -> None:
        """Show what the newest request was made of; None (the offline assistant, no request yet) hides the meter."""
        self._measure = measure
        if self._popup is not None:
            self._popup.close()
        if measure is None:
            self.hide()
            return
        spoken = "; ".join(f"{name}: {short(tokens)}" for name, tokens, _ in parts(self._look, measure))
        left_out = left_out_words(self._look.t, measure)
        self.setAccessibleName(self._look.t("Context: {parts}", parts="; ".join(filter(None, (spoken, left_out)))))
        self.setToolTip(left_out or self._look.t("What the last request was made of"))
        self.updateGeometry()
        self.update()
        self.show()

    @property
    def words(self) -> str:
        """`11.6k / 32k`, or only what is used where the window's size is unknown."""
        if self._measure is None:
            return ""
        total = short(used(self._measure))
        return f"{total} / {short(self._measure.window)}" if self._measure.window else total

    def open_parts(self) -> None:
        """List the parts in words above the meter."""
        if self._measure is None:
            return
        if self._popup is not None:
            self._popup.close()
        self._popup = _Parts(self._look, self._measure, self)
        self._popup.destroyed.connect(self._forget)
        size = self._popup.sizeHint()
        corner = self.mapToGlobal(QPoint(self.width() - size.width(), -size.height() - 8))
        self._popup.move(corner)
        self._popup.show()

    def sizeHint(self) -> QSize:
        return QSize(round(_BAR + _GAP + text_width(self.words, self._look.theme.font("small"))) + 3, 26)

    def minimumSizeHint(self) -> QSize:
        return QSize(_BAR, 26)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._measure is None:
            return
        theme = self._look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(0, (self.height() - _HEIGHT) / 2, _BAR, _HEIGHT)
        fill_round(painter, bar, 3, theme.color("hairline-strong"))
        clip = QPainterPath()
        clip.addRoundedRect(bar, 3, 3)
        painter.save()
        painter.setClipPath(clip)
        whole = self._measure.window or used(self._measure) or 1
        x = 0.0
        for _name, tokens, color in parts(self._look, self._measure):
            if color is None or tokens <= 0:
                continue
            width = max(2.0, _BAR * tokens / whole)
            painter.fillRect(QRectF(x, bar.top(), width, _HEIGHT), theme.color(color))
            x += width
            painter.fillRect(QRectF(x, bar.top(), 1, _HEIGHT), theme.color("surface-raised"))
            x += 1
        painter.restore()
        font = theme.font("small")
        color = "text" if self.underMouse() else "text-muted"
        draw_text(painter, _BAR + _GAP, baseline(QRectF(self.rect()), font), self.words, font, theme.color(color))

    def _forget(self) -> None:
        self._popup = None


def used(measure: Measure) -> int:
    return measure.system + measure.knowledge + measure.pages + measure.history


def parts(look: Look, measure: Measure) -> tuple[tuple[str, int, str | None], ...]:
    """Name, tokens and colour of each part; free space has no colour and is left out where the window is unknown."""
    t = look.t
    rows: list[tuple[str, int, str | None]] = [
        (t("System"), measure.system, "text-faint"),
        (t("Knowledge"), measure.knowledge, "accent"),
        (t("Pages"), measure.pages, "kind-workflow_optimization-dot"),
        (t("History"), measure.history, "kind-architecture_pattern-dot"),
    ]
    if measure.window:
        rows.append((t.p("context", "Free"), max(0, measure.window - used(measure)), None))
    return tuple(rows)


class _Parts(QFrame):
    """The parts, one a line, with their share in tokens."""

    def __init__(self, look: Look, measure: Measure, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self.setObjectName("contextParts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        column.addWidget(Label(look.t("Context, in tokens"), "section"))
        for name, tokens, color in parts(look, measure):
            row = QHBoxLayout()
            row.setSpacing(8)
            row.addWidget(_Swatch(look, color))
            row.addWidget(Label(name, "small"))
            row.addStretch(1)
            row.addSpacing(32)
            row.addWidget(Label(short(tokens), "small", "muted"))
            column.addLayout(row)
        if left_out := left_out_words(look.t, measure):
            column.addWidget(Hairline())
            column.addWidget(Label(left_out, "small", "warning", wrap=True))


class _Swatch(QWidget):
    def __init__(self, look: Look, color: str | None) -> None:
        super().__init__()
        self._look = look
        self._color = color
        self.setFixedSize(8, 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = self._color or "hairline-strong"
        fill_round(QPainter(self), QRectF(self.rect()), 2, self._look.theme.color(color))
