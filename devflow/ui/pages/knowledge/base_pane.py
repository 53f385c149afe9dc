"""The wiki's side column: the knowledge bases, and the ways to one more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QVBoxLayout, QWidget

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import Translator
from devflow.ui.context import UiContext
from devflow.ui.look import Look
from devflow.ui.widgets import OBJECT_ROLE, Button, Label, Pane, Row, RowDelegate, RowList
from devflow.ui.widgets.lists import Index

_ROW, _GAP, _TEXT = 50, 2, 32


@dataclass(frozen=True, slots=True)
class BaseItem:
    """A knowledge base as its row shows it; `pages` is None while nobody has counted."""

    base: KnowledgeBase
    there: bool
    pages: int | None
    current: bool

    def words(self, t: Translator) -> str:
        """The second line."""
        if not self.there:
            return t("Folder not found")
        count = "" if self.pages is None else t.n("{shown} page", "{shown} pages", self.pages, shown=f"{self.pages:,}")
        return " · ".join(part for part in (count, t("current") if self.current else "") if part)


class BasePane(Pane):
    """`chosen(KnowledgeBase)` when the human chooses one; the side holds the state."""

    chosen = Signal(object)

    def __init__(self, ctx: UiContext, head: QWidget, parent: QWidget | None = None) -> None:
        super().__init__("sunken", "none", parent)
        t = ctx.t
        self._shown: str | None = None
        self._title = Label(t("Knowledge bases"), "small", "muted")
        self.model = _BaseModel(t, self)
        self.list = RowList(ctx, t("Knowledge bases"))
        self.list.setObjectName("kbList")
        self.list.setModel(self.model)
        self.list.setItemDelegate(_BaseDelegate(ctx, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setLayoutMode(QListView.LayoutMode.SinglePass)
        self.list.clicked.connect(self._taken)
        self.list.opened.connect(self._taken)
        self.open = Button(ctx, t("Open…"), icon="folder")
        self.open.setObjectName("openKbButton")
        self.found = Button(ctx, t("Set up a new one…"), variant="ghost")
        self.found.setObjectName("initKbButton")
        title = QHBoxLayout()
        title.setContentsMargins(16, 0, 16, 3)
        title.addWidget(self._title)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 8, 12, 12)
        foot.setSpacing(6)
        foot.addWidget(self.open)
        foot.addWidget(self.found)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addLayout(title)
        column.addWidget(self.list, 1)
        column.addLayout(foot)

    def show_bases(self, items: Sequence[BaseItem], shown: str | None) -> None:
        """`shown` is the id of the one whose pages stand beside: the current row, until the keyboard moves on."""
        anew = self.model.show_items(items)
        row = next((row for row, item in enumerate(items) if item.base.id == shown), -1)
        if row >= 0 and (anew or shown != self._shown):
            self.list.setCurrentIndex(self.model.index(row, 0))
        self._shown = shown
        self._title.setVisible(bool(items))

    def _taken(self, index: QModelIndex) -> None:
        item = self.model.item(index.row())
        if item is not None:
            self.chosen.emit(item.base)


class _BaseModel(QAbstractListModel):
    """Rows that stay keep their index: a count that was read does not take the keyboard's row away."""

    def __init__(self, t: Translator, parent: QObject) -> None:
        super().__init__(parent)
        self._t = t
        self._items: tuple[BaseItem, ...] = ()

    def show_items(self, items: Sequence[BaseItem]) -> bool:
        """Whether the rows are others than before."""
        if tuple(items) == self._items:
            return False
        if [item.base.id for item in items] == [item.base.id for item in self._items]:
            self._items = tuple(items)
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._items) - 1, 0))
            return False
        self.beginResetModel()
        self._items = tuple(items)
        self.endResetModel()
        return True

    def item(self, row: int) -> BaseItem | None:
        return self._items[row] if 0 <= row < len(self._items) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        item = self.item(index.row())
        if item is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return item.base.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{item.base.name}, {item.words(self._t)}"
            case Qt.ItemDataRole.ToolTipRole:
                return item.base.path
            case _ if role == OBJECT_ROLE:
                return item
            case _:
                return None


class _BaseDelegate(RowDelegate):
    """50 px: name, then how many pages and whether it is the current one; one whose folder has gone is grey."""

    def __init__(self, look: Look, view: QAbstractItemView) -> None:
        super().__init__(look, view, height=_ROW, gap=_GAP)

    def paint_row(self, row: Row, index: Index) -> None:
        item = index.data(OBJECT_ROLE)
        if not isinstance(item, BaseItem):
            return
        left = row.rect.left() + _TEXT
        row.icon(row.rect.left() + 8, 8, "book", "text-muted" if item.there else "text-faint")
        row.text(left, 6, 22, item.base.name, "ui-strong", "text" if item.there else "text-muted")
        row.text(left, 25, 18, item.words(self.look.t), "small", "text-muted" if item.there else "text-faint")
