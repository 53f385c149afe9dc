"""A column that scrolls, and a scroll position that nothing but the reader moves."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

COLUMN = 760
"""The widest text, in px."""
_PADDING, _BOTTOM = 24, 8
_AT_END_PX = 32


class AnchoredScroll(QScrollArea):
    """Follows the end while the reader is there; else keeps the line that the reader looks at where it is.

    Derive, and say in `anchors` which children of the column stand from top to bottom, and in `end_loaded` whether the
    last of them is the very last there is.
    """

    reader_moved = Signal()
    place_kept = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._following = True
        self._moving = False
        self._anchor: tuple[QWidget, int] | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("focusRadius", 4)
        self.content = _Content(self)
        self.column = QVBoxLayout(self.content)
        self.column.setContentsMargins(_PADDING, _PADDING, _PADDING, _BOTTOM)
        self.column.setSpacing(0)
        self.column.addStretch(1)
        self.setWidget(self.content)
        self.content.laid_out.connect(self.keep_place)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        bar.rangeChanged.connect(self.keep_place)

    def anchors(self) -> Sequence[QWidget]:
        raise NotImplementedError

    @property
    def end_loaded(self) -> bool:
        raise NotImplementedError

    @property
    def following(self) -> bool:
        return self._following

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return self.end_loaded and bar.maximum() - bar.value() <= _AT_END_PX

    @property
    def text_width(self) -> int:
        """What the column's children have, in px."""
        return max(120, min(COLUMN, self.width() - 2 * _PADDING))

    def follow(self, on: bool = True) -> None:
        """Go to the end and stay there; or stay where the reader is."""
        self._following = on
        if on:
            self._set_value(self.verticalScrollBar().maximum())
        else:
            self.remember()

    def show_widget(self, widget: QWidget) -> None:
        """Put `widget` near the top of the view; the reader is then there."""
        self.settle()
        top = widget.mapTo(self.content, widget.rect().topLeft()).y()
        self._following = False
        self._set_value(max(0, top - 48))
        self.remember()

    def page(self, by: int) -> None:
        """Scroll by that many views."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + by * (bar.pageStep() - 48))

    def remember(self) -> None:
        """The child at the top of the view, and how far above the view it begins."""
        top = self.verticalScrollBar().value()
        for child in self.anchors():
            if child.y() + child.height() > top:
                self._anchor = (child, top - child.y())
                return
        self._anchor = None

    def forget(self, child: QWidget | None = None) -> None:
        """That child goes (None: all do): it can hold no place any more."""
        if child is None or (self._anchor is not None and self._anchor[0] is child):
            self._anchor = None

    def keep_place(self, *_range: int) -> None:
        if self._following:
            self._set_value(self.verticalScrollBar().maximum())
        elif self._anchor is not None:
            child, above = self._anchor
            self._set_value(child.y() + above)
        self.place_kept.emit()

    def settle(self) -> None:
        """Lay everything out now, to know where things are."""
        self.column.activate()
        width = self.viewport().width()
        self.content.resize(width, max(self.content.heightForWidth(width), self.viewport().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The column is centred in the whole width, so that a scroll bar that comes moves nothing."""
        super().resizeEvent(event)
        width = self.text_width
        left = (self.width() - width) // 2
        right = max(0, self.viewport().width() - left - width)
        margins = self.column.contentsMargins()
        if (margins.left(), margins.right()) != (left, right):
            self.column.setContentsMargins(left, _PADDING, right, _BOTTOM)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_End:
                self.follow()
            case Qt.Key.Key_Home:
                self.verticalScrollBar().setValue(0)
            case _:
                super().keyPressEvent(event)

    def _scrolled(self, _value: int) -> None:
        if self._moving:
            return
        self._following = self.is_at_end
        self.remember()
        self.reader_moved.emit()

    def _set_value(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False


class _Content(QWidget):
    """Tells when its children have their new places."""

    laid_out = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.laid_out.emit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.laid_out.emit()
        return done
