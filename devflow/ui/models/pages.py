"""The list of pages: groups that fold, and their pages. Rows are read as they are painted, whatever their number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from devflow.domain.messages import Translator
from devflow.store.page_file import PageRow
from devflow.ui.models.page_groups import ABOUT, IN_TEXT, NAMED, SKIPPED, Group, Listing
from devflow.ui.models.why import Why, why_listed_page
from devflow.ui.widgets.lists import HEADER_ROLE, OBJECT_ROLE

Index = QModelIndex | QPersistentModelIndex
Item = Group | PageRow


class PageModel(QAbstractListModel):
    """`show_listing` takes a new listing; a folded group is its header alone.

    What it does costs by the number of groups, never by that of pages.
    """

    def __init__(self, t: Translator, parent: QObject) -> None:
        super().__init__(parent)
        self._t = t
        self._groups: tuple[Group, ...] = ()
        self._where: Mapping[str, tuple[int, int]] = {}
        self._asked: frozenset[str] = frozenset()  # folded, as the listing was given
        self._folded: frozenset[str] = frozenset()
        self._heads: list[int] = []
        self._count = 0
        self._query = ""

    @property
    def folded(self) -> frozenset[str]:
        return self._folded

    @property
    def heads(self) -> tuple[int, ...]:
        """The rows of the groups' headers."""
        return tuple(self._heads)

    def explain(self, query: str) -> None:
        """What is listed is what a search for `query` found (empty: no search): its rows say why they are there."""
        self._query = query.strip()

    def why(self, path: str) -> Why | None:
        """Why the search lists the page; None without a search."""
        place = self._where.get(path) if self._query else None
        if place is None:
            return None
        group = self._groups[place[0]]
        return why_listed_page(self._t, group.pages[place[1]], self._query, group.key == IN_TEXT)

    def show_listing(self, listing: Listing, folded: Iterable[str]) -> bool:
        """Whether the rows are others than before; those that stay where they are keep their index, and folds too."""
        asked = frozenset(folded)
        if listing.where is self._where and asked in (self._asked, self._folded):
            self._groups, self._asked = listing.groups, asked
            if self._count:
                self.dataChanged.emit(self.index(0, 0), self.index(self._count - 1, 0))
            return False
        self.beginResetModel()
        self._groups, self._where = listing.groups, listing.where
        self._asked = self._folded = asked
        self._number()
        self.endResetModel()
        return True

    def fold(self, key: str, on: bool) -> None:
        """Fold or unfold a group: its rows go or come, the others stay what they are."""
        if (key in self._folded) == on:
            return
        row = self.row_of_group(key)
        group = self.item(row)
        assert isinstance(group, Group)
        first, last = row + 1, row + len(group.pages)
        if on:
            self.beginRemoveRows(QModelIndex(), first, last)
            self._folded |= {key}
            self._number()
            self.endRemoveRows()
        else:
            self.beginInsertRows(QModelIndex(), first, last)
            self._folded -= {key}
            self._number()
            self.endInsertRows()
        self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def _number(self) -> None:
        """Which row each group begins in."""
        self._heads, self._count = [], 0
        for group in self._groups:
            self._heads.append(self._count)
            self._count += 1 if group.key in self._folded else 1 + len(group.pages)

    def item(self, row: int) -> Item | None:
        if not 0 <= row < self._count:
            return None
        number = bisect_right(self._heads, row) - 1
        group, place = self._groups[number], row - self._heads[number]
        return group.pages[place - 1] if place else group

    def row_of(self, path: str) -> int:
        """The row of a page; -1 where it is not shown."""
        group, place = self._where.get(path, (-1, 0))
        return -1 if group < 0 or self._groups[group].key in self._folded else self._heads[group] + 1 + place

    def row_of_group(self, key: str) -> int:
        rows = (row for row, group in zip(self._heads, self._groups, strict=True) if group.key == key)
        return next(rows, -1)

    def group_of(self, path: str) -> str | None:
        """The group that has the page, folded or not."""
        place = self._where.get(path)
        return None if place is None else self._groups[place[0]].key

    def first_page(self) -> PageRow | None:
        return next((group.pages[0] for group in self._groups if group.pages and group.key not in self._folded), None)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        item = self.item(index.row())
        if item is None:
            return None
        if role == OBJECT_ROLE:
            return item
        if role == HEADER_ROLE:
            return isinstance(item, Group)
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title(item)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(item)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(item, PageRow):
            return "\n".join(part for part in (item.path, self._reason(item)) if part)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and isinstance(item, PageRow):
            return self._reason(item)
        return None

    def _reason(self, page: PageRow) -> str:
        why = self.why(page.path)
        return "" if why is None else self._t("Why this? {reason}", reason=why.line)

    def title(self, item: Item) -> str:
        if isinstance(item, PageRow):
            return item.title
        t = self._t
        match item.key:
            case key if key == ABOUT:
                return t("About this base")
            case key if key == SKIPPED:
                return t("Skipped")
            case key if key == NAMED:
                return t("Title or file name")
            case key if key == IN_TEXT:
                return t("In the text")
            case folder:
                return folder.replace("/", " / ")

    def _spoken(self, item: Item) -> str:
        t = self._t
        if isinstance(item, PageRow):
            return f"{item.title}, {item.path}"
        count = t.n("{count} page", "{count} pages", len(item.pages))
        state = t("folded") if item.key in self._folded else t("unfolded")
        return f"{self.title(item)}, {count}, {state}"
