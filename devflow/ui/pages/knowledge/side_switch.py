"""Library or Wiki: the two sides of the Knowledge tab, at the head of the side column."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.widgets import Segmented

LIBRARY, WIKI = range(2)


class SideSwitch(QWidget):
    """Each side has its own, so that it is where the side's column is; the page keeps them alike. `chosen(side)`."""

    chosen = Signal(int)

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        t = ctx.t
        self.parts = Segmented(ctx, [t.p("side", "Library"), t.p("side", "Wiki")])
        self.parts.setAccessibleName(t("Side"))
        for side, name in ((LIBRARY, "sideLibrary"), (WIKI, "sideWiki")):
            self.parts.part(side).setObjectName(name)
        self.parts.chosen.connect(self.chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 9, 12, 10)
        column.addWidget(self.parts)

    def show_side(self, side: int) -> None:
        self.parts.select(side)
