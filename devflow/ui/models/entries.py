"""Entries as a list model that knows every id in order and reads an entry when its row is looked at.

The order is the service's (`knowledge_order`), the values are the service's too: nothing here is ever edited. Changes
arrive as a new order (`show`) and as changed entries (`put`); rows that stay keep their index, so that the current
row and the selection stay on their entry.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from devflow.domain.knowledge import Entry
from devflow.ui.models.words import kind_name
from devflow.ui.widgets.lists import OBJECT_ROLE

if TYPE_CHECKING:
    from devflow.ui.context import UiContext

Index = QModelIndex | QPersistentModelIndex

READ_AHEAD = 40
"""Rows read beyond those looked at."""
MOST_AT_ONCE = 200
KEPT = 3_000
"""Entries kept in memory; those looked at longest ago go first."""
EXCERPT = 220
MOST_STEPS = 40
"""More separate insertions and removals than this are one reset."""


@dataclass(frozen=True, slots=True)
class EntryItem:
    """What a row shows. `similar` counts the entries it was found to resemble when it came in."""

    entry: Entry
    excerpt: str
    similar: int = 0


class EntryModel(QAbstractListModel):
    """`filled` when rows that were asked for have arrived."""

    filled = Signal()

    def __init__(self, ctx: UiContext, parent: QObject | None = None, *, with_similar: bool = False) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._with_similar = with_similar
        self._ids: list[str] = []
        self._rows: dict[str, int] | None = None
        self._items: OrderedDict[str, EntryItem] = OrderedDict()
        self._asked: dict[int, None] = {}
        self._reading = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._read_asked)

    # what is there

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._ids)

    def id_at(self, row: int) -> str | None:
        return self._ids[row] if 0 <= row < len(self._ids) else None

    def row_of(self, id: str | None) -> int:
        """The entry's row, or -1."""
        if self._rows is None:
            self._rows = {each: row for row, each in enumerate(self._ids)}
        return -1 if id is None else self._rows.get(id, -1)

    def item(self, id: str | None) -> EntryItem | None:
        """The entry's row as it was read last; None if it was not."""
        return None if id is None else self._items.get(id)

    def entry(self, id: str | None) -> Entry | None:
        item = self.item(id)
        return None if item is None else item.entry

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._ids)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._ids):
            return None
        if role not in (OBJECT_ROLE, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        item = self._items.get(self._ids[index.row()])
        if item is None:
            self._ask(index.row())
            return None if role == OBJECT_ROLE else ""
        if role == OBJECT_ROLE:
            return item
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{item.entry.title}, {kind_name(self._ctx.t, item.entry.kind)}"
        return item.entry.title

    # what changes

    def show(self, ids: Sequence[str]) -> None:
        """Take over a new order with as few moves as possible."""
        new = list(ids)
        if new == self._ids:
            return
        first, last_old, last_new = _differing(self._ids, new)
        old_middle, new_middle = self._ids[first:last_old], new[first:last_new]
        keep = set(new_middle)
        gone = _runs([first + at for at, id in enumerate(old_middle) if id not in keep])
        known = set(old_middle)
        come = _runs([first + at for at, id in enumerate(new_middle) if id not in known])
        if len(gone) + len(come) > MOST_STEPS:
            self.beginResetModel()
            self._set(new)
            self.endResetModel()
            return
        for start, end in reversed(gone):
            self.beginRemoveRows(QModelIndex(), start, end)
            self._set(self._ids[:start] + self._ids[end + 1 :])
            self.endRemoveRows()
        arriving = {row for start, end in come for row in range(start, end + 1)}
        self._reorder([id for row, id in enumerate(new) if row not in arriving])
        for start, end in come:
            self.beginInsertRows(QModelIndex(), start, end)
            self._set(self._ids[:start] + new[start : end + 1] + self._ids[start:])
            self.endInsertRows()

    def put(self, entries: Iterable[Entry], similar: Mapping[str, int] | None = None) -> None:
        """Entries as they are now; rows that show them are painted again."""
        rows: list[int] = []
        for entry in entries:
            old = self._items.get(entry.id)
            count = (similar or {}).get(entry.id, 0) if similar is not None or old is None else old.similar
            self._items[entry.id] = EntryItem(entry, excerpt(entry.content), count)
            self._items.move_to_end(entry.id)
            row = self.row_of(entry.id)
            if row >= 0:
                rows.append(row)
        while len(self._items) > KEPT:
            self._items.popitem(last=False)
        if rows:
            self.dataChanged.emit(self.index(min(rows), 0), self.index(max(rows), 0))
            self.filled.emit()

    def read_again(self, ids: Iterable[str]) -> None:
        """Read the changed ones among the entries that were read before."""
        known = [id for id in ids if id in self._items]
        if known:
            self._ctx.tasks.launch(self._fetch(known), what="read changed entries", owner=self)

    def _set(self, ids: list[str]) -> None:
        self._ids = ids
        self._rows = None
        self._asked.clear()

    def _reorder(self, ids: list[str]) -> None:
        if ids == self._ids:
            return
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        held = [self._ids[index.row()] for index in old]
        self._set(ids)
        self.changePersistentIndexList(old, [self.index(self.row_of(id), 0) for id in held])
        self.layoutChanged.emit()

    # reading

    def _ask(self, row: int) -> None:
        self._asked[row] = None
        if not self._reading and not self._soon.isActive():
            self._soon.start()

    def _read_asked(self) -> None:
        wanted = list(self._asked)[-MOST_AT_ONCE:]  # the rows looked at last; others have scrolled away
        self._asked.clear()
        if not wanted:
            return
        low, high = max(0, min(wanted) - READ_AHEAD), min(len(self._ids), max(wanted) + READ_AHEAD + 1)
        rows = range(low, high) if high - low <= 2 * MOST_AT_ONCE else wanted
        missing = [self._ids[row] for row in rows if self._ids[row] not in self._items]
        if missing:
            self._reading = True
            self._ctx.tasks.launch(self._read(missing), what="read entries", owner=self)

    async def _read(self, ids: Sequence[str]) -> None:
        try:
            await self._fetch(ids)
        finally:
            self._reading = False
        if self._asked:
            self._soon.start()

    async def _fetch(self, ids: Sequence[str]) -> None:
        knowledge = self._ctx.services.knowledge
        found = await knowledge.knowledge_entries(ids)
        similar = await knowledge.knowledge_similar_counts(ids) if self._with_similar else {}
        self.put(found, similar)


def excerpt(content: str) -> str:
    """The beginning of a Markdown text as one plain line."""
    text = content[: 4 * EXCERPT]
    for pattern, plain in _MARKUP:
        text = pattern.sub(plain, text)
    return " ".join(text.split())[:EXCERPT]


_MARKUP = (
    (re.compile(r"^\s*(```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"^\s{0,3}(#{1,6}\s+|>\s?|[-*+]\s+(\[[ xX]\]\s+)?)", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\*\*|__(?=\S)|(?<=\S)__|`"), ""),
)


def _differing(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """Where the two begin to differ, and where in each the common end begins."""
    shortest = min(len(old), len(new))
    first = 0
    while first < shortest and old[first] == new[first]:
        first += 1
    last_old, last_new = len(old), len(new)
    while last_old > first and last_new > first and old[last_old - 1] == new[last_new - 1]:
        last_old -= 1
        last_new -= 1
    return first, last_old, last_new


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring rows as (first, last), in order."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
