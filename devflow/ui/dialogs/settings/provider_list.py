"""The providers in a column: a dot, the name, how it stands. The offline assistant is always the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtWidgets import QApplication, QSizePolicy, QStyleOptionViewItem, QWidget

from devflow.ui.dialogs.settings.provider_edit import ProviderEdit
from devflow.ui.dialogs.settings.provider_words import Standing
from devflow.ui.look import Look
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate, RowList
from devflow.ui.widgets.painting import fill_round

_HEIGHT, _GAP, _SHOWN = 50, 2, 7
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """`edit` None: the offline assistant."""

    edit: ProviderEdit | None
    name: str
    standing: Standing


class ProviderListModel(QAbstractListModel):
    def __init__(self, parent: RowList) -> None:
        super().__init__(parent)
        self._rows: tuple[ProviderRow, ...] = ()

    @property
    def rows(self) -> tuple[ProviderRow, ...]:
        return self._rows

    def show_rows(self, rows: Sequence[ProviderRow]) -> None:
        """Keep the current row where the same providers are listed."""
        same = [row.edit for row in rows] == [row.edit for row in self._rows]
        if same:
            self._rows = tuple(rows)
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, 0))
            return
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        if role == OBJECT_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.name}, {row.standing.words}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.standing.words
        return None


class ProviderList(RowList):
    """As high as its rows, up to seven; then it scrolls. Its row is tinted while the keyboard is in `realm`."""

    def __init__(self, look: Look, name: str, realm: QWidget) -> None:
        super().__init__(look, name)
        self.setObjectName("providerList")
        self.rows = ProviderListModel(self)
        self.setModel(self.rows)
        self._realm = realm
        self._active = False
        self.setItemDelegate(_Delegate(look, self))
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_moved)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def active(self) -> bool:
        """Whether the keyboard is in the list, or in the form that belongs to it."""
        return self._active

    def _focus_moved(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and (active := self._realm.isAncestorOf(new)) != self._active:
            self._active = active
            self.viewport().update()

    @property
    def current(self) -> ProviderRow | None:
        row = self.currentIndex().data(OBJECT_ROLE) if self.currentIndex().isValid() else None
        return row if isinstance(row, ProviderRow) else None

    def show_rows(self, rows: Sequence[ProviderRow]) -> None:
        self.rows.show_rows(rows)
        self.setFixedHeight(min(len(rows), _SHOWN) * (_HEIGHT + _GAP))

    def go_to(self, edit: ProviderEdit | None) -> None:
        for place, row in enumerate(self.rows.rows):
            if row.edit is edit:
                self.setCurrentIndex(self.rows.index(place, 0))


class _Delegate(RowDelegate):
    def __init__(self, look: Look, view: RowList) -> None:
        super().__init__(look, view, height=_HEIGHT, gap=_GAP)

    def paint_row(self, row: Row, index: Index) -> None:
        shown = index.data(OBJECT_ROLE)
        if not isinstance(shown, ProviderRow):
            return
        x = row.rect.left() + 18
        if shown.standing.color is None:
            row.icon(x - 6, 11, "circle", "text-muted", 12)
        else:
            row.dot(x, 17, shown.standing.color, square=False)
        left = row.rect.left() + 34
        row.text(left, 6, 20, shown.name)
        row.text(left, 25, 18, shown.standing.words, "small", "text-muted")

    def _paint_fill(self, row: Row) -> None:
        if row.selected and isinstance(self._view, ProviderList) and self._view.active:
            fill_round(row.painter, row.rect, 6, self.look.theme.color("selection"))
        else:
            super()._paint_fill(row)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, _HEIGHT + _GAP)

    def _fill_rect(self, option: QStyleOptionViewItem) -> QRectF:
        """No inset: the list is a part of the page, not a pane."""
        bar = self._view.verticalScrollBar()
        return QRectF(option.rect).adjusted(0, 0, -2 if bar.isVisible() else 0, -_GAP)
