"""The 28 px lines of a turn: what retrieval found, a fold, a tool call. All are painted, pressed and spoken alike."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, QVariantAnimation
from PySide6.QtGui import QHideEvent, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from devflow.ui.context import UiContext
from devflow.ui.pages.chat.turn_views import LookupWords
from devflow.ui.widgets.painting import baseline, draw_text, draw_text_right, elided

LINE = 28
_PATIENCE_MS = 300


class Line(QAbstractButton):
    """One line across the column. `inert` lines are words only: they take no focus and no press."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._inert = False
        self.setProperty("focusRadius", 6)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(LINE)
        self.set_inert(False)

    @property
    def inert(self) -> bool:
        return self._inert

    def set_inert(self, inert: bool) -> None:
        self._inert = inert
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if inert else Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor if inert else Qt.CursorShape.PointingHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._inert:
            event.ignore()
        else:
            super().mousePressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, LINE)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, LINE)

    def paint_words(self, painter: QPainter, x: float, text: str, role: str, color: str, until: float) -> float:
        """One run of words, elided at `until`; returns where it ends."""
        font = self._ctx.theme.font(role)
        shown = elided(text, font, until - x)
        return draw_text(painter, x, baseline(QRectF(self.rect()), font), shown, font, self._ctx.theme.color(color))

    def paint_right(self, painter: QPainter, text: str, color: str) -> float:
        """Words at the right edge; returns where they start."""
        if not text:
            return float(self.width())
        font = self._ctx.theme.font("small")
        base = baseline(QRectF(self.rect()), font)
        return draw_text_right(painter, self.width(), base, text, font, self._ctx.theme.color(color))

    def paint_icon(self, painter: QPainter, x: float, name: str, color: str, size: int) -> None:
        self._ctx.icons.paint(painter, x, (self.height() - size) / 2, name, color, size)

    @property
    def words_color(self) -> str:
        return "text" if self.underMouse() and not self._inert else "text-muted"


_MARKS = {
    "searching": ("half-disc", "accent-fg"),
    "found": ("check", "success"),
    "nothing": ("circle", "text-faint"),
    "searching_pages": ("half-disc", "accent-fg"),
    "nothing_pages": ("circle", "text-faint"),
    "failed": ("warning", "warning"),
    "off": ("circle", "text-faint"),
    "off_here": ("circle", "text-faint"),
}


class RetrievalLine(Line):
    """What was looked up for the question; a press opens the sources when there are any, the next closes them."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, parent)
        self.setObjectName("retrievalStatus")
        self._words = LookupWords("hidden")
        self.show_lookup(self._words)

    def show_lookup(self, words: LookupWords) -> None:
        self._words = words
        text = lookup_sentence(self._ctx, words)
        self.setText(text)
        self.setAccessibleName(text)
        self.set_inert(words.state != "found")
        self.setVisible(words.state != "hidden")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        icon, color = _MARKS[self._words.state]
        self.paint_icon(painter, 0, icon, color, 14)
        tone = "warning" if self._words.state == "failed" else self.words_color
        end = self.paint_words(painter, 20, self.text(), "small", tone, self.width() - 24)
        if not self.inert:
            self.paint_icon(painter, end + 8, "chevron-right", self.words_color, 14)


def lookup_sentence(ctx: UiContext, words: LookupWords) -> str:
    """The retrieval line's words."""
    t = ctx.t
    match words.state:
        case "searching":
            return t("Searching the library…")
        case "found":
            return found_words(ctx, words)
        case "searching_pages":
            return t("Searching the knowledge base…")
        case "nothing":
            return t("Nothing in the library matches")
        case "nothing_pages":
            return t("Nothing in this knowledge base matches")
        case "failed":
            return t("Search failed; answered without it")
        case "off":
            return t("Automatic retrieval is off")
        case "off_here":
            return t("Retrieval is off for this conversation")
        case _:
            return ""


def found_words(ctx: UiContext, words: LookupWords) -> str:
    t = ctx.t
    if words.entries and words.pages:
        entries = t.n("{count} library entry", "{count} library entries", words.entries)
        pages = t.n("{count} page", "{count} pages", words.pages)
        return t("{pages} and {entries} found", pages=pages, entries=entries)
    if words.pages:
        return t.n("{count} page found", "{count} pages found", words.pages)
    return t.n("{count} library entry found", "{count} library entries found", words.entries)


class WaitingLine(Line):
    """The model was asked and has not said anything yet. A wait of less than 300 ms is not worth a word (DESIGN)."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, parent)
        self.setObjectName("waitingLine")
        self.set_inert(True)
        self.setText(ctx.t("Waiting for the first words…"))
        self.setAccessibleName(self.text())
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self.show)
        self._pulse = QVariantAnimation(self)
        self._pulse.setKeyValues([(0.0, 1.0), (0.5, 0.35), (1.0, 1.0)])
        self._pulse.setLoopCount(-1)
        self._pulse.valueChanged.connect(self._beat)
        self.hide()

    def wait(self, waiting: bool) -> None:
        if not waiting:
            self._patience.stop()
            self.hide()
        elif self.isHidden() and not self._patience.isActive():
            self._patience.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        beats = self._pulse.state() is QVariantAnimation.State.Running
        painter.setOpacity(float(self._pulse.currentValue()) if beats else 1.0)
        self.paint_icon(painter, 0, "half-disc", "accent-fg", 14)
        painter.setOpacity(1.0)
        self.paint_words(painter, 20, self.text(), "small", "text-muted", self.width())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if (length := self._ctx.theme.duration("pulse")) > 0:  # 0: motion is reduced, and the half disc is still
            self._pulse.setDuration(length)
            self._pulse.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._pulse.stop()

    def _beat(self, _value: object) -> None:
        self.update(0, 0, 14, self.height())


class FoldLine(Line):
    """Opens and closes what is under it: the model's thinking."""

    def __init__(self, ctx: UiContext, text: str, parent: QWidget | None = None) -> None:
        super().__init__(ctx, parent)
        self._busy = False
        self.setCheckable(True)
        self.set_words(text)

    def set_words(self, text: str, *, busy: bool = False) -> None:
        self._busy = busy
        self.setText(text)
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint_icon(painter, 0, "chevron-down" if self.isChecked() else "chevron-right", self.words_color, 14)
        x = 22.0
        if self._busy:
            self.paint_icon(painter, x, "half-disc", "accent-fg", 14)
            x += 22
        self.paint_words(painter, x, self.text(), "ui", self.words_color, self.width())
