"""A Markdown text of any length: rendered slice by slice, with time for the window between them.

One document costs more with each block that is added to it, so a long text is a column of several views.
"""

from __future__ import annotations

from time import perf_counter

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.models.page_links import PageLinks
from devflow.ui.widgets.markdown.slices import LEAST, MOST, next_slice
from devflow.ui.widgets.markdown.view import MarkdownView

_PAUSE_MS = 10
_FIRST = 1_500
_SLOW_S, _FAST_S = 0.02, 0.008
_VIEW_CHARACTERS, _VIEW_LINES = 12_000, 120


class LongMarkdown(QWidget):
    """Read-only. `link_activated` carries allowed addresses only."""

    link_activated = Signal(str)

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        """`name` is what assistive technology calls each part."""
        super().__init__(parent)
        self._look = look
        self._name = name
        self._pages: PageLinks | None = None
        self._rest = ""
        self._size = _FIRST
        self._room = (_VIEW_CHARACTERS, _VIEW_LINES)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._slices = QTimer(self)
        self._slices.setSingleShot(True)
        self._slices.setInterval(_PAUSE_MS)
        self._slices.timeout.connect(self._show_slice)
        self.views: list[MarkdownView] = []
        self._add_view()

    @property
    def whole(self) -> bool:
        """Whether all of the text is there."""
        return not self._rest

    def show_text(self, text: str, pages: PageLinks | None) -> None:
        """Show `text` instead of what is there; `pages` says what the names of pages in it lead to."""
        self._slices.stop()
        for view in self.views[1:]:
            self._column.removeWidget(view)
            view.hide()
            view.deleteLater()
        del self.views[1:]
        self._rest, self._pages, self._size = text, pages, _FIRST
        self._room = (_VIEW_CHARACTERS, _VIEW_LINES)
        self.views[0].set_markdown("")
        self.views[0].set_pages(pages)
        self._show_slice()

    def toPlainText(self) -> str:
        """The text as read."""
        return "\n".join(view.toPlainText() for view in self.views)

    def _show_slice(self) -> None:
        began = perf_counter()
        shown, self._rest = next_slice(self._rest, self._size)
        characters, lines = self._room
        if characters < 0 or lines < 0:
            self._add_view()
            characters, lines = _VIEW_CHARACTERS, _VIEW_LINES
        self._room = (characters - len(shown), lines - shown.count("\n"))
        self.views[-1].add_markdown(shown)
        took = perf_counter() - began
        if took > _SLOW_S:
            self._size = max(LEAST, self._size // 2)
        elif took < _FAST_S:
            self._size = min(MOST, self._size * 2)
        if self._rest:
            self._slices.start()

    def _add_view(self) -> None:
        view = MarkdownView(self._look)
        view.setAccessibleName(self._name)
        view.set_citing(False)
        view.set_pages(self._pages)
        view.link_activated.connect(self.link_activated)
        if self.views:
            view.expect_width(self.views[0].width())
        self.views.append(view)
        self._column.addWidget(view)
