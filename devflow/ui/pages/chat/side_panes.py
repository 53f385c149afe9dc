"""Three panes side by side; narrow windows put the sources over the transcript and fold the list behind a button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.widgets import HairlineSplitter
from devflow.ui.widgets.painting import restyle

RAIL = 72
_LIST, _LIST_MIN, _LIST_MAX = 248, 200, 360
_SOURCES, _SOURCES_MIN, _SOURCES_MAX = 276, 240, 400
_NARROW, _NARROWER = 1180 - RAIL, 1040 - RAIL


class SidePanes(QWidget):
    """`changed` when a pane comes or goes. What the human wants of the sources is kept for the window's life."""

    changed = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget, left: QWidget, middle: QWidget, right: QWidget) -> None:
        super().__init__(parent)
        self._left, self._right = left, right
        self._wanted: bool | None = None
        self._have = False
        self._narrow = self._narrower = False
        self._list_open = False
        self.splitter = HairlineSplitter(ctx)
        self.splitter.setObjectName("chatSplitter")
        for pane in (left, middle, right):
            self.splitter.addWidget(pane)
        left.setMinimumWidth(_LIST_MIN)
        left.setMaximumWidth(_LIST_MAX)
        right.setMinimumWidth(_SOURCES_MIN)
        right.setMaximumWidth(_SOURCES_MAX)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setStretchFactor(2, 0)
        # The hairline beside a pane is part of its width.
        self.splitter.setSizes([_LIST - 1, 1280 - RAIL - _LIST - _SOURCES, _SOURCES - 1])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self._apply()

    @property
    def list_folds(self) -> bool:
        return self._narrower

    @property
    def sources_shown(self) -> bool:
        return self._right.isVisibleTo(self)

    def have_sources(self, have: bool) -> None:
        """Something was found in this conversation: the panel shows itself, unless it was closed."""
        if have != self._have:
            self._have = have
            self._apply()

    def want_sources(self, wanted: bool) -> None:
        self._wanted = wanted
        self._apply()

    def show_list(self) -> None:
        self._list_open = True
        self._apply()

    def fold_list(self) -> None:
        self._list_open = False
        self._apply()

    def toggle_list(self) -> None:
        self._list_open = not self._list_open
        self._apply()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow, narrower = self.width() < _NARROW, self.width() < _NARROWER
        if (narrow, narrower) != (self._narrow, self._narrower):
            self._narrow, self._narrower = narrow, narrower
            self._list_open = False
            self._apply()
        self._place_overlays()

    def _apply(self) -> None:
        self._settle(self._left, 0, floats=self._narrower, shown=self._list_open or not self._narrower)
        # An overlay hides text, so it comes only when it is asked for.
        auto = self._have and not self._narrow
        self._settle(self._right, 2, floats=self._narrow, shown=auto if self._wanted is None else self._wanted)
        self._place_overlays()
        self.changed.emit()

    def _settle(self, pane: QWidget, place: int, *, floats: bool, shown: bool) -> None:
        floating = pane.parentWidget() is self
        # The splitter's handle is a hairline; over the transcript the pane brings its own.
        restyle(pane, "edge", ("right" if place == 0 else "left") if floats else "none")
        if floats and not floating:
            pane.setParent(self)
        elif not floats and floating:
            self.splitter.insertWidget(place, pane)
            self.splitter.setStretchFactor(place, 0)
        pane.setVisible(shown)

    def _place_overlays(self) -> None:
        if self._left.parentWidget() is self:
            self._left.setGeometry(0, 0, _LIST, self.height())
            self._left.raise_()
        if self._right.parentWidget() is self:
            self._right.setGeometry(self.width() - _SOURCES, 0, _SOURCES, self.height())
            self._right.raise_()
