"""The page list: groups fold by a click, by Enter or by the arrows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from devflow.store.page_file import PageRow
from devflow.ui.look import Look
from devflow.ui.models.page_groups import Group, Listing
from devflow.ui.models.pages import PageModel
from devflow.ui.pages.knowledge.page_rows import HEADER, ROW, PageDelegate
from devflow.ui.widgets.lists import Index

_Key = Qt.Key


class PageList(QTableView):
    """Keeps its page, its folds and its place when pages come and go. `folded(keys)` after the human has folded.

    A table of one column, because Qt then keeps the heights itself: a `QListView` asks the delegate for each of ten
    thousand rows, and while another thread reads pages every answer waits for the interpreter.
    """

    chosen = Signal(QModelIndex)
    page_chosen = Signal(object)
    folded = Signal(object)

    def __init__(self, look: Look, model: PageModel, name: str, since: datetime, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages = model
        self._moving = False
        self.setObjectName("pageList")
        self.setAccessibleName(name)
        delegate = PageDelegate(look, self, model, since)
        self._look_like_a_list(delegate.page_height)
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, False)
        self.chosen.connect(self._chosen)
        self.clicked.connect(self._clicked)

    def _look_like_a_list(self, row: int) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        across, down = self.horizontalHeader(), self.verticalHeader()
        across.hide()
        across.setMinimumSectionSize(1)
        across.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        down.hide()
        down.setMinimumSectionSize(1)
        down.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        down.setDefaultSectionSize(row)

    @property
    def current(self) -> PageRow | None:
        item = self._pages.item(self.currentIndex().row())
        return item if isinstance(item, PageRow) else None

    def show_listing(self, listing: Listing, folded: Iterable[str], keep: str | None) -> None:
        """A new listing: `keep` (a path) is the current row again, and what is on the screen stays where it is."""
        place, seen = self._place(), self._seen()
        was = self._pages.item(self.currentIndex().row())
        self._moving = True
        try:
            if self._pages.show_listing(listing, folded):
                self._set_heights()
                row = self._pages.row_of_group(was.key) if isinstance(was, Group) else self._pages.row_of(keep or "")
                if row >= 0:
                    self.setCurrentIndex(self._pages.index(row, 0))
                self._put_back(place)
            elif self._seen() != seen:
                self.viewport().update()
        finally:
            self._moving = False

    def _set_heights(self) -> None:
        """Every row is a page's until it is said to be a header's."""
        down = self.verticalHeader()
        down.setUpdatesEnabled(False)
        for row in self._pages.heads:
            down.resizeSection(row, HEADER)
        down.setUpdatesEnabled(True)

    def _seen(self) -> list[PageRow | None]:
        """The pages on the screen; None for a header, whose words follow from the rows."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        last = self._pages.rowCount() - 1 if last < 0 else last
        items = [self._pages.item(row) for row in range(max(first, 0), last + 1)]
        return [item if isinstance(item, PageRow) else None for item in items]

    def go_to(self, path: str) -> bool:
        """Make a page the current row, out of a folded group too; False where the list does not have it."""
        group = self._pages.group_of(path)
        if group is None:
            return False
        self._fold(group, False)
        index = self._pages.index(self._pages.row_of(path), 0)
        self.setCurrentIndex(index)
        self.scrollTo(index)
        return True

    def step(self, by: int) -> None:
        """Move the current row by `by`, without leaving the list."""
        row = self.currentIndex().row() + by
        if 0 <= row < self._pages.rowCount():
            self.setCurrentIndex(self._pages.index(row, 0))

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Painted again whole; a new listing that leaves the rows as they are says itself whether it must be."""
        if not self._moving:
            self.viewport().update()

    def keyboardSearch(self, search: str) -> None:
        """Letters are the page's shortcuts."""

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.chosen.emit(self.currentIndex())

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Home and End lead to the ends of the list; a table's lead along the row."""
        match action:
            case QAbstractItemView.CursorAction.MoveHome:
                return self._pages.index(0, 0)
            case QAbstractItemView.CursorAction.MoveEnd:
                return self._pages.index(self._pages.rowCount() - 1, 0)
            case _:
                return super().moveCursor(action, modifiers)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self._pages.item(self.currentIndex().row())
        match _Key(event.key()):
            case _Key.Key_J | _Key.Key_K if not event.modifiers():
                self.step(1 if event.key() == _Key.Key_J else -1)
            case _Key.Key_Left if isinstance(item, PageRow):
                self._to_header(item)
            case _Key.Key_Left if isinstance(item, Group):
                self._turn(item.key, True)
            case _Key.Key_Right if isinstance(item, Group):
                self._turn(item.key, False)
            case _Key.Key_Return | _Key.Key_Enter | _Key.Key_Space if isinstance(item, Group):
                self._turn(item.key, item.key not in self._pages.folded)
            case _:
                super().keyPressEvent(event)
                if event.text() and event.text().isprintable():
                    event.ignore()  # a letter that means nothing here may mean something to the page
                return
        event.accept()

    def _to_header(self, page: PageRow) -> None:
        row = self._pages.row_of_group(self._pages.group_of(page.path) or "")
        if row >= 0:
            self.setCurrentIndex(self._pages.index(row, 0))

    def _clicked(self, index: QModelIndex) -> None:
        item = self._pages.item(index.row())
        if isinstance(item, Group):
            self._turn(item.key, item.key not in self._pages.folded)

    def _turn(self, key: str, on: bool) -> None:
        self._fold(key, on)
        self.folded.emit(self._pages.folded)

    def _fold(self, key: str, on: bool) -> None:
        """A current page that goes out of sight gives its place to the header."""
        current = self.current
        if on and current is not None and self._pages.group_of(current.path) == key:
            self._to_header(current)
        self._pages.fold(key, on)

    def _chosen(self, _index: QModelIndex) -> None:
        page = self.current
        if page is not None and not self._moving:
            self.page_chosen.emit(page)

    def _place(self) -> tuple[str, int] | None:
        """The first page on the screen, and where it begins."""
        if not self.isVisible():
            return None
        for y in (1, HEADER + 1, HEADER + ROW):
            index = self.indexAt(QPoint(12, y))
            item = self._pages.item(index.row())
            if isinstance(item, PageRow):
                return item.path, self.visualRect(index).top()
        return None

    def _put_back(self, place: tuple[str, int] | None) -> None:
        row = self._pages.row_of(place[0]) if place is not None else -1
        if place is None or row < 0:
            return
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.visualRect(self._pages.index(row, 0)).top() - place[1])
