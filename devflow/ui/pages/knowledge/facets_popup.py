"""Where the facets stand: beside the list, or in a popup over it while the window is narrow."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from devflow.ui.pages.knowledge.entry_pane import EntryPane
from devflow.ui.pages.knowledge.facets import FacetPane
from devflow.ui.widgets import HairlineSplitter

SIDE, LIST = 212, 363
_WIDTH, _HEIGHT = 240, 560


class FacetsPopup(QFrame):
    """The popup itself; `place(narrow)` moves the facets into it, or back into the splitter."""

    def __init__(self, facets: FacetPane, pane: EntryPane, parent: QWidget) -> None:
        super().__init__(parent)
        self._facets = facets
        self._pane = pane
        self.setProperty("role", "popup")
        self.setObjectName("filtersPopup")
        self._inside = QVBoxLayout(self)
        self._inside.setContentsMargins(1, 1, 1, 1)
        self.hide()

    def place(self, narrow: bool, splitter: HairlineSplitter) -> None:
        self._pane.filters.setVisible(narrow)
        self._pane.filters.setChecked(False)
        self.hide()
        if narrow:
            self._inside.addWidget(self._facets)
        else:
            splitter.insertWidget(0, self._facets)
            splitter.setSizes([SIDE - 1, LIST, max(1, self._page.width() - SIDE - LIST - 1)])
        self._facets.show()

    def toggle(self) -> None:
        opening = not self.isVisible()
        self._pane.filters.setChecked(opening)
        self.setVisible(opening)
        if opening:
            button, page = self._pane.filters, self._page
            corner = button.mapTo(page, QPoint(0, button.height() + 4))
            self.setGeometry(corner.x(), corner.y(), _WIDTH, min(_HEIGHT, page.height() - corner.y() - 16))
            self.raise_()

    @property
    def _page(self) -> QWidget:
        page = self.parentWidget()
        assert page is not None
        return page
