"""The popup above the composer that offers pages: title, then where the page stands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QVBoxLayout, QWidget

from devflow.store.page_file import PageRow
from devflow.ui.look import Look
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate, RowList

_ROW, _ROWS, _PAD, _ABOVE, _WIDEST = 32, 8, 5, 6, 560

Index = QModelIndex | QPersistentModelIndex


class CompletionPopup(QFrame):
    """A child of `host`, as wide as the composer at most; it never takes the keyboard. `chosen(PageRow)` by a click."""

    chosen = Signal(object)

    def __init__(self, look: Look, host: QWidget) -> None:
        super().__init__(host)
        self._look = look
        self._host = host
        self.setObjectName("completionPopup")
        self.setProperty("role", "popup")
        self.setAccessibleName(look.t("Pages to refer to"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.model = _Offered(self)
        self.list = RowList(look, look.t("Pages to refer to"))
        self.list.setObjectName("completionList")
        self.list.setModel(self.model)
        self.list.setItemDelegate(_OfferedDelegate(look, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setLayoutMode(QListView.LayoutMode.SinglePass)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.clicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, _PAD, 1, _PAD)
        column.addWidget(self.list)
        self.hide()

    @property
    def current(self) -> PageRow | None:
        """The page that Enter would take."""
        return self.model.page(self.list.currentIndex().row())

    def offer(self, pages: Sequence[PageRow], above: QWidget) -> None:
        """Show these pages, the best one chosen; none hides the popup."""
        same = self.isVisible() and self.current
        self.model.show_pages(pages)
        if not pages:
            self.hide()
            return
        kept = pages.index(same) if isinstance(same, PageRow) and same in pages else 0
        self.list.setCurrentIndex(self.model.index(kept, 0))
        self.place(above)
        arriving = not self.isVisible()
        self.show()
        self.raise_()
        self.list.scrollTo(self.list.currentIndex())
        if arriving:
            count = self._look.t.n("{count} page to refer to", "{count} pages to refer to", len(pages))
            self._say(f"{count}: {pages[0].title}")

    def place(self, above: QWidget) -> None:
        """Above that widget, at its left edge, as high as its rows or the room there."""
        corner = above.mapTo(self._host, QPoint(0, 0))
        room = max(1, min(_ROWS, (corner.y() - _ABOVE - 2 * _PAD - 4) // _ROW))
        height = min(room, self.model.rowCount()) * _ROW + 2 * _PAD
        width = min(above.width(), _WIDEST)
        self.setGeometry(corner.x(), corner.y() - _ABOVE - height, width, height)

    def step(self, by: int) -> None:
        """Move the choice; beyond either end it comes in again at the other."""
        rows = max(1, self.model.rowCount())
        row = (self.list.currentIndex().row() + by) % rows
        self.list.setCurrentIndex(self.model.index(row, 0))
        page = self.current
        if page is not None:
            self._say(page.title)

    def _say(self, words: str) -> None:
        """The keyboard stays in the composer: what is chosen here must be told."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _clicked(self, index: QModelIndex) -> None:
        page = self.model.page(index.row())
        if page is not None:
            self.chosen.emit(page)


class _Offered(QAbstractListModel):
    def __init__(self, parent: CompletionPopup) -> None:
        super().__init__(parent)
        self._pages: tuple[PageRow, ...] = ()

    def show_pages(self, pages: Sequence[PageRow]) -> None:
        self.beginResetModel()
        self._pages = tuple(pages)
        self.endResetModel()

    def page(self, row: int) -> PageRow | None:
        return self._pages[row] if 0 <= row < len(self._pages) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._pages)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        page = self.page(index.row())
        if page is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return page.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{page.title}, {page.path}"
            case Qt.ItemDataRole.ToolTipRole:
                return page.path
            case _ if role == OBJECT_ROLE:
                return page
            case _:
                return None


class _OfferedDelegate(RowDelegate):
    """32 px: title, and the file below `wiki/` in mono, which is what tells two pages of one title apart."""

    def __init__(self, look: Look, view: QAbstractItemView) -> None:
        super().__init__(look, view, height=_ROW, always_active=True)

    def paint_row(self, row: Row, index: Index) -> None:
        page = index.data(OBJECT_ROLE)
        if not isinstance(page, PageRow):
            return
        height = row.rect.height()
        row.icon(row.left - 2, (height - 16) / 2, "file", "text-muted")
        middle = row.left + (row.right - row.left) * 0.5
        row.text(row.left + 22, 0, height, page.title, "ui", until=middle)
        row.text(middle + 12, 0, height, page.path.removeprefix("wiki/"), "code-small", "text-faint", middle=True)
