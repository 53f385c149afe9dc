"""The column at the left: the pages, and while something is searched, the options that match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout

from devflow.domain.text.folding import fold
from devflow.ui.look import Look
from devflow.ui.widgets import OBJECT_ROLE, Label, Pane, Row, RowDelegate, RowList, SearchField

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Place:
    """A page, or with `option` (an objectName) one of its options. `words` are found too, and not shown."""

    page: str
    title: str
    icon: str = ""
    option: str = ""
    words: str = ""
    detail: str = ""

    def matches(self, terms: Sequence[str]) -> bool:
        text = fold(f"{self.title} {self.words} {self.option}")
        return all(term in text for term in terms)


class Nav(Pane):
    """`chosen(Place)`: show that page, or jump to that option."""

    chosen = Signal(object)

    def __init__(self, look: Look, pages: Sequence[Place], options: Sequence[Place]) -> None:
        super().__init__("sunken", edge="right")
        t = look.t
        self.setFixedWidth(204)
        self._options = tuple(options)
        self.search = SearchField(look, t("Search settings"))
        self.search.setObjectName("settingsSearch")
        self.pages = RowList(look, t("Settings"))
        self.pages.setObjectName("settingsNav")
        self._page_model = _Places(self.pages, pages)
        self.pages.setModel(self._page_model)
        self.pages.setItemDelegate(_Delegate(look, self.pages, 32))
        self.results = RowList(look, t("Search results"))
        self.results.setObjectName("settingsSearchResults")
        self._result_model = _Places(self.results, ())
        self.results.setModel(self._result_model)
        self.results.setItemDelegate(_Delegate(look, self.results, 44))
        self._nothing = Label(t("No setting matches."), "small", "muted", wrap=True)
        self._nothing.setContentsMargins(18, 8, 12, 0)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._stack = QStackedWidget()
        for widget in (self.pages, self.results, self._nothing):
            self._stack.addWidget(widget)
        field = QVBoxLayout()
        field.setContentsMargins(12, 13, 12, 10)
        field.addWidget(self.search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(field)
        column.addWidget(self._stack, 1)
        self.search.textChanged.connect(self._find)
        self.search.moved.connect(self._move)
        self.search.returnPressed.connect(self._take)
        self.pages.chosen.connect(self._page_chosen)
        self.results.clicked.connect(self._result_chosen)
        self.results.opened.connect(self._result_chosen)

    def select(self, page: str) -> None:
        """Mark a page as the one that is shown."""
        for row, place in enumerate(self._page_model.places):
            if place.page == page and self.pages.currentIndex().row() != row:
                self.pages.setCurrentIndex(self._page_model.index(row, 0))

    def _find(self, text: str) -> None:
        terms = [fold(term) for term in text.split()]
        if not terms:
            self._stack.setCurrentWidget(self.pages)
            return
        found = [option for option in self._options if option.matches(terms)]
        self._result_model.show_places(found)
        self._stack.setCurrentWidget(self.results if found else self._nothing)
        if found:
            self.results.setCurrentIndex(self._result_model.index(0, 0))

    def _move(self, by: int) -> None:
        (self.results if self._stack.currentWidget() is self.results else self.pages).step(by)

    def _take(self) -> None:
        if self._stack.currentWidget() is self.results:
            self._result_chosen(self.results.currentIndex())

    def _page_chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(index.data(OBJECT_ROLE))

    def _result_chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            place = index.data(OBJECT_ROLE)
            self.search.clear()
            self.chosen.emit(place)


class _Places(QAbstractListModel):
    def __init__(self, parent: RowList, places: Sequence[Place]) -> None:
        super().__init__(parent)
        self.places = tuple(places)

    def show_places(self, places: Sequence[Place]) -> None:
        self.beginResetModel()
        self.places = tuple(places)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.places)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        place = self.places[index.row()]
        if role == OBJECT_ROLE:
            return place
        if role == Qt.ItemDataRole.DisplayRole:
            return place.title
        if role == Qt.ItemDataRole.AccessibleTextRole and place.detail:
            return f"{place.title}, {place.detail}"
        return None


class _Delegate(RowDelegate):
    def __init__(self, look: Look, view: RowList, height: int) -> None:
        super().__init__(look, view, height=height, gap=2)

    def paint_row(self, row: Row, index: Index) -> None:
        place = index.data(OBJECT_ROLE)
        if not isinstance(place, Place):
            return
        if place.option:
            row.text(row.left, 3, 20, place.title)
            row.text(row.left, 22, 18, place.detail, "small", "text-muted")
        else:
            row.icon(row.rect.left() + 8, 8, place.icon, "text" if row.selected else "text-muted", 16)
            row.text(row.rect.left() + 32, 0, row.rect.height(), place.title)
