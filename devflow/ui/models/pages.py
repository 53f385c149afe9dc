"""The list of pages: groups that fold, and their pages. Rows are read as they are painted, whatever their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from devflow.domain.messages import Translator
from devflow.store.page_file import PageRow
from devflow.ui.models.page_groups import ABOUT, IN_TEXT, NAMED, SKIPPED, Group
from devflow.ui.models.why import Why, why_listed_page
from devflow.ui.widgets.lists import HEADER_ROLE, OBJECT_ROLE

Index = QModelIndex | QPersistentModelIndex
Item = Group | PageRow


class PageModel(QAbstractListModel):
    """`show_groups` takes a new listing; a folded group is its header alone."""

    def __init__(self, t: Translator, parent: QObject) -> None:
        super().__init__(parent)
        self._t = t
        self._groups: tuple[Group, ...] = ()
        self._folded: frozenset[str] = frozenset()
        self._query = ""
        self._items: list[Item] = []
        self.heads: list[bool] = []
        """Row by row, whether it is a group's header: what a list asks of every row when it is laid out."""

    @property
    def folded(self) -> frozenset[str]:
        return self._folded

    def explain(self, query: str) -> None:
        """What is listed is what a search for `query` found (empty: no search): its rows say why they are there."""
        self._query = query.strip()

    def why(self, path: str) -> Why | None:
        """Why the search lists the page; None without a search."""
        group = self.group_of(path) if self._query else None
        found = next((each for each in self._groups if each.key == group), None)
        page = None if found is None else next((page for page in found.pages if page.path == path), None)
        return None if page is None else why_listed_page(self._t, page, self._query, group == IN_TEXT)

    def show_groups(self, groups: Sequence[Group], folded: Iterable[str]) -> None:
        self.beginResetModel()
        self._groups, self._folded = tuple(groups), frozenset(folded)
        self._items, self.heads = [], []
        for group in self._groups:
            pages = () if group.key in self._folded else group.pages
            self._items += (group, *pages)
            self.heads += [True, *[False] * len(pages)]
        self.endResetModel()

    def fold(self, key: str, on: bool) -> None:
        """Fold or unfold a group: its rows go or come, the others stay what they are."""
        if (key in self._folded) == on:
            return
        row = self.row_of_group(key)
        group = self._items[row]
        assert isinstance(group, Group)
        first, last = row + 1, row + len(group.pages)
        self._folded = self._folded | {key} if on else self._folded - {key}
        if on:
            self.beginRemoveRows(QModelIndex(), first, last)
            del self._items[first : last + 1]
            del self.heads[first : last + 1]
            self.endRemoveRows()
        else:
            self.beginInsertRows(QModelIndex(), first, last)
            self._items[first:first] = group.pages
            self.heads[first:first] = [False] * len(group.pages)
            self.endInsertRows()
        self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def item(self, row: int) -> Item | None:
        return self._items[row] if 0 <= row < len(self._items) else None

    def row_of(self, path: str) -> int:
        """The row of a page; -1 where it is not shown."""
        rows = (row for row, item in enumerate(self._items) if isinstance(item, PageRow) and item.path == path)
        return next(rows, -1)

    def row_of_group(self, key: str) -> int:
        rows = (row for row, item in enumerate(self._items) if isinstance(item, Group) and item.key == key)
        return next(rows, -1)

    def group_of(self, path: str) -> str | None:
        """The group that has the page, folded or not."""
        return next((group.key for group in self._groups if any(page.path == path for page in group.pages)), None)

    def first_page(self) -> PageRow | None:
        return next((item for item in self._items if isinstance(item, PageRow)), None)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._items)

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
