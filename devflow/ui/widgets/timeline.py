"""An entry's events, newest first: a rail of rings, words, and what each edit changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.chips import Label
from devflow.ui.widgets.diff import CodeDiff, ProseDiff

_GUTTER = 22
_RING = 7
_LINE = 64
"""Longer lines are prose, which wraps; shorter ones stand as they were typed."""


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """`title` 13, `meta` 12 faint beside it; `before` and `after` of a changed text are shown as a small diff."""

    title: str
    meta: str = ""
    before: str | None = None
    after: str | None = None


class Timeline(QWidget):
    """Under fifty events it is plain widgets; longer ones show the newest fifty and say how many there are."""

    LIMIT = 50

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def set_items(self, items: Sequence[TimelineItem]) -> None:
        while (old := self._column.takeAt(0)) is not None:
            widget = old.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        shown = items[: self.LIMIT]
        for index, item in enumerate(shown):
            last = index == len(shown) - 1 and len(items) <= self.LIMIT
            self._column.addWidget(_Event(self._look, item, first=index == 0, last=last))
        if len(items) > self.LIMIT:
            more = len(items) - self.LIMIT
            words = self._look.t.n("{count} older event", "{count} older events", more)
            self._column.addWidget(_Event(self._look, TimelineItem("", words), first=False, last=True))

    @property
    def count(self) -> int:
        return self._column.count()


class _Words(Label):
    """Gives way when the pane is narrow; the tooltip then has all of it."""

    def __init__(self, text: str, type: str = "ui", tone: str = "") -> None:
        super().__init__(text, type, tone)
        self.setMinimumWidth(24)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setToolTip(self.text() if self.width() < self.sizeHint().width() else "")


class _Event(QWidget):
    """One event: the rail is painted, the words are labels."""

    def __init__(self, look: Look, item: TimelineItem, *, first: bool, last: bool) -> None:
        super().__init__()
        self._look = look
        self._first, self._last = first, last
        column = QVBoxLayout(self)
        column.setContentsMargins(_GUTTER, 0, 0, 0)
        column.setSpacing(0)
        words = QHBoxLayout()
        words.setContentsMargins(0, 6, 0, 6)
        words.setSpacing(4)
        if item.title:
            words.addWidget(_Words(item.title))
        if item.meta:
            meta = f"· {item.meta}" if item.title else item.meta
            words.addWidget(_Words(meta, "small", "faint"))
        words.addStretch(1)
        column.addLayout(words)
        self.setAccessibleName(", ".join(part for part in (item.title, item.meta) if part))
        if item.before is not None or item.after is not None:
            column.addWidget(_change(look, item.before or "", item.after or ""))
            column.addSpacing(8)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = 9.5, 16.0
        painter.setPen(QPen(theme.color("hairline-strong"), 1))
        if not self._first:
            painter.drawLine(QPointF(x, 0), QPointF(x, y - _RING / 2 - 1))
        if not self._last:
            painter.drawLine(QPointF(x, y + _RING / 2 + 1), QPointF(x, self.height()))
        ring = QRectF(x - _RING / 2, y - _RING / 2, _RING, _RING)
        if self._first:
            painter.setBrush(theme.color("success"))
            painter.setPen(QPen(theme.color("success"), 1))
        else:
            painter.setPen(QPen(theme.color("text-faint"), 1))
        painter.drawEllipse(ring)


def _change(look: Look, before: str, after: str) -> QWidget:
    frame = QFrame()
    frame.setProperty("role", "inset")
    column = QVBoxLayout(frame)
    column.setContentsMargins(1, 4, 1, 4)
    if max(map(len, (*before.splitlines(), *after.splitlines(), ""))) > _LINE:
        prose = ProseDiff(look)
        prose.set_texts(before, after, 0)
        column.addWidget(prose)
    else:
        code = CodeDiff(look, gutters=False)
        code.set_texts(before, after, 1)
        column.addWidget(code)
    return frame
