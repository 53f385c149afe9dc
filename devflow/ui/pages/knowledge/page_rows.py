"""How the rows of the page list are painted: a group's header, and a page."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem

from devflow.store.page_file import PageRow
from devflow.ui.look import Look
from devflow.ui.models.moments import local_now
from devflow.ui.models.page_groups import Group
from devflow.ui.models.page_words import changed_words, problem_words
from devflow.ui.models.pages import PageModel
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate
from devflow.ui.widgets.lists import Index

ROW, HEADER, _TEXT = 48, 28, 30


class PageDelegate(RowDelegate):
    """Group 28 (chevron, folder, count); page 48 (title, file in mono, when it was changed, a dot for a new digest)."""

    def __init__(self, look: Look, view: QAbstractItemView, model: PageModel, since: datetime) -> None:
        super().__init__(look, view, height=ROW, header=HEADER)
        self._model = model
        self._since_ns = int(since.timestamp() * 1e9)

    @property
    def page_height(self) -> int:
        return self._height

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
