"""The rows of the page list, and the list itself: groups fold by a click, by Enter or by the arrows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyleOptionViewItem, QWidget

from devflow.store.page_file import PageRow
from devflow.ui.look import Look
from devflow.ui.models.moments import local_now
from devflow.ui.models.page_groups import Group
from devflow.ui.models.page_words import changed_words, problem_words
from devflow.ui.models.pages import PageModel
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate, RowList
from devflow.ui.widgets.lists import Index

_ROW, _HEADER, _TEXT = 48, 28, 30
_Key = Qt.Key


class PageDelegate(RowDelegate):
    """Group 28 (chevron, folder, count); page 48 (title, file in mono, when it was changed, a dot for a new digest)."""

    def __init__(self, look: Look, view: QAbstractItemView, model: PageModel, since: datetime) -> None:
        super().__init__(look, view, height=_ROW, header=_HEADER)
        self._model = model
        self._since_ns = int(since.timestamp() * 1e9)
        self._header_size, self._page_size = QSize(60, _HEADER), QSize(60, self._height)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Asked for every row when the list is laid out: it must cost next to nothing."""
        return self._header_size if self._model.heads[index.row()] else self._page_size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row = self._row(painter, option, self._fill_rect(option))
        self._paint_fill(row)
        match index.data(OBJECT_ROLE):
            case Group() as group:
                self._paint_group(row, group)
            case PageRow() as page:
                self._paint_page(row, page)
            case _:
                pass
        painter.restore()

    def _paint_group(self, row: Row, group: Group) -> None:
        height, left = row.rect.height(), row.rect.left()
        folded = group.key in self._model.folded
        row.icon(left + 8, (height - 14) / 2, "chevron-right" if folded else "chevron-down", "text-muted", 14)
        until = row.text_right(0, height, f"{len(group.pages):,}", right=row.right + 2)
        row.text(left + _TEXT, 0, height, self._model.title(group), "small-strong", "text-muted", until=until - 8)

    def _paint_page(self, row: Row, page: PageRow) -> None:
        t, left = self.look.t, row.rect.left() + _TEXT
        if page.problem:
            row.text(left, 4, 22, page.title, "ui", "text-muted")
            row.text(left, 25, 18, problem_words(t, page), "small", "warning")
            return
        until = row.text_right(4, 21, changed_words(t, page, local_now()))
        if page.origin == "digest" and page.mtime_ns >= self._since_ns:
            row.dot(until - 11, 15, "accent", square=False, side=6)
            until -= 16
        row.text(left, 4, 22, page.title, "ui", until=until - 8)
        row.text(left, 25, 18, page.path.rpartition("/")[2], "code-small", "text-muted", middle=True)


class PageList(RowList):
    """Keeps its page, its folds and its place when pages come and go. `folded(keys)` after the human has folded."""

    page_chosen = Signal(object)
    folded = Signal(object)

    def __init__(self, look: Look, model: PageModel, name: str, since: datetime, parent: QWidget | None = None) -> None:
        super().__init__(look, name, parent=parent)
        self._pages = model
        self._moving = False
        self.setObjectName("pageList")
        self.setModel(model)
        self.setItemDelegate(PageDelegate(look, self, model, since))
        self.setLayoutMode(QListView.LayoutMode.SinglePass)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, False)
        self.chosen.connect(self._chosen)
        self.clicked.connect(self._clicked)

    @property
    def current(self) -> PageRow | None:
        item = self._pages.item(self.currentIndex().row())
        return item if isinstance(item, PageRow) else None

    def show_groups(self, groups: Sequence[Group], folded: Iterable[str], keep: str | None) -> None:
        """A new listing: `keep` (a path) is the current row again, and what is on the screen stays where it is."""
        place = self._place()
        was = self._pages.item(self.currentIndex().row())
        self._moving = True
        try:
            self._pages.show_groups(groups, folded)
            row = self._pages.row_of_group(was.key) if isinstance(was, Group) else self._pages.row_of(keep or "")
            if row >= 0:
                self.setCurrentIndex(self._pages.index(row, 0))
            self._put_back(place)
        finally:
            self._moving = False

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

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Paint again. `QListView` would lay out every row anew, though no row here ever changes its height."""
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self._pages.item(self.currentIndex().row())
        match _Key(event.key()):
            case _Key.Key_J | _Key.Key_K if not event.modifiers():
                self._step(1 if event.key() == _Key.Key_J else -1)
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

    def _step(self, by: int) -> None:
        row = self.currentIndex().row() + by
        if 0 <= row < self._pages.rowCount():
            self.setCurrentIndex(self._pages.index(row, 0))

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
        for y in (1, _HEADER + 1, _HEADER + _ROW):
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
