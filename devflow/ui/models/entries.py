"""Entries as a list model that knows every id in order and reads an entry when its row is looked at.

The order is the service's (`knowledge_order`), the values are the service's too: nothing here is ever edited. Changes
arrive as a new order (`show`) and as changed entries (`put`); rows that stay keep their index, so that the current
row and the selection stay on their entry.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QStringListModel, Qt, QTimer, Signal

from devflow.domain.knowledge import Entry
from devflow.knowledge.similar import LikenessCount
from devflow.retrieval.reasons import why
from devflow.ui.models.likeness_reader import LikenessReader
from devflow.ui.models.words import kind_name
from devflow.ui.widgets.lists import OBJECT_ROLE

if TYPE_CHECKING:
    from devflow.retrieval.hits import Match
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
_ID = Qt.ItemDataRole.DisplayRole  # where the string list keeps them
_WHY_ROLES = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole)
_ROLES = frozenset((OBJECT_ROLE, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, *_WHY_ROLES))


@dataclass(frozen=True, slots=True)
class EntryItem:
    """What a row shows. `alike`: how many entries resemble it, and may contradict it; None until that was told."""

    entry: Entry
    excerpt: str
    alike: LikenessCount | None = None


class EntryModel(QStringListModel):
    """`filled` when rows that were asked for have arrived.

    The ids themselves stand in Qt's own string list: a view asks for the number of rows once for every row it lays
    out, and 50,000 calls into Python would stop the window.
    """

    filled = Signal()

    def __init__(self, ctx: UiContext, parent: QObject | None = None, *, with_alike: bool = False) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._likeness = LikenessReader(ctx, self) if with_alike else None
        if self._likeness is not None:
            self._likeness.told.connect(self._alike_told)
        self._ids: tuple[str, ...] | None = ()
        self._rows: dict[str, int] | None = None
        self._items: OrderedDict[str, EntryItem] = OrderedDict()
        self._query = ""
        self._why: dict[str, Match] = {}
        self._asked: dict[int, None] = {}
        self._reading = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._read_asked)
        for moved in (self.rowsInserted, self.rowsRemoved, self.rowsMoved, self.modelReset):
            moved.connect(self._forget_order)

    # what is there

    @property
    def ids(self) -> tuple[str, ...]:
        if self._ids is None:
            self._ids = tuple(self.stringList())
        return self._ids

    def id_at(self, row: int) -> str | None:
        return super().data(self.index(row, 0), _ID) or None

    def row_of(self, id: str | None) -> int:
        """The entry's row, or -1."""
        if self._rows is None:
            self._rows = {each: row for row, each in enumerate(self.ids)}
        return -1 if id is None else self._rows.get(id, -1)

    def item(self, id: str | None) -> EntryItem | None:
        """The entry's row as it was read last; None if it was not."""
        return None if id is None else self._items.get(id)

    def entry(self, id: str | None) -> Entry | None:
        item = self.item(id)
        return None if item is None else item.entry

    def why(self, id: str | None) -> Match | None:
        """Why the search found it; None without a search, and until it was read."""
        return None if id is None else self._why.get(id)

    def explain(self, query: str) -> None:
        """The list is what a search for `query` finds (empty: no search): its rows say why they are there."""
        if query.strip() != self._query:
            self._query = query.strip()
            self._why.clear()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role not in _ROLES:
            return None
        id = super().data(index, _ID)
        if not id:
            return None
        item = self._items.get(id)
        if item is None:
            self._ask(index.row())
            return None if role == OBJECT_ROLE else ""
        if self._query and id not in self._why:
            self._ask(index.row())
        if role == OBJECT_ROLE:
            if self._likeness is not None:
                self._likeness.want(id)
            return item
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{item.entry.title}, {kind_name(self._ctx.t, item.entry.kind)}"
        if role in _WHY_ROLES:
            match = self._why.get(id)
            return None if match is None else self._ctx.t("Why this? {reason}", reason=why(self._ctx.t, match))
        return item.entry.title

    def flags(self, index: Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    # what changes

    def show(self, ids: Sequence[str]) -> None:
        """Take over a new order with as few moves as possible."""
        new, old = tuple(ids), self.ids
        if new == old:
            return
        first, last_old, last_new = _differing(old, new)
        keep, known = set(new[first:last_new]), set(old[first:last_old])
        gone = _runs([row for row in range(first, last_old) if old[row] not in keep])
        come = _runs([row for row in range(first, last_new) if new[row] not in known])
        if len(gone) + len(come) > MOST_STEPS or sum(last - start + 1 for start, last in come) > MOST_AT_ONCE:
            self._replace(new)
            return
        for start, last in reversed(gone):
            self.removeRows(start, last - start + 1)
        arriving = {row for start, last in come for row in range(start, last + 1)}
        if not self._reorder(tuple(id for row, id in enumerate(new) if row not in arriving)):
            self._replace(new)
            return
        for start, last in come:
            self.insertRows(start, last - start + 1)
            for row in range(start, last + 1):
                self.setData(self.index(row, 0), new[row])
        self._forget_order()
        self._ids = new

    def _replace(self, new: tuple[str, ...]) -> None:
        self.setStringList(new)
        self._ids = new

    def _reorder(self, new: tuple[str, ...]) -> bool:
        """Move one row to its new place; False where more than one would have to move."""
        old = self.ids
        if new == old:
            return True
        first, last, _ = _differing(old, new)
        last -= 1
        if old[first + 1 : last + 1] == new[first:last]:  # down
            return self.moveRows(QModelIndex(), first, 1, QModelIndex(), last + 1)
        if old[first:last] == new[first + 1 : last + 1]:  # up
            return self.moveRows(QModelIndex(), last, 1, QModelIndex(), first)
        return False

    def _forget_order(self) -> None:
        self._ids = None
        self._rows = None
        self._asked.clear()

    def put(self, entries: Iterable[Entry]) -> None:
        """Entries as they are now; rows that show them are painted again.

        Of two readings that were under way at once the older may come last: an entry never goes back to a version
        that it has left behind.
        """
        rows: list[int] = []
        for entry in entries:
            old = self._items.get(entry.id)
            if old is not None and old.entry.version > entry.version:
                continue
            self._items[entry.id] = EntryItem(entry, excerpt(entry.content), None if old is None else old.alike)
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
        """Read the changed ones among the entries that were read before; any of them may be like another now."""
        if self._likeness is not None:
            self._likeness.forget()
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, 0))  # paint, and want them again
        known = [id for id in ids if id in self._items]
        if known:
            self._ctx.tasks.launch(self._fetch(known), what="read changed entries", owner=self)

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
        ids = self.ids
        low, high = max(0, min(wanted) - READ_AHEAD), min(len(ids), max(wanted) + READ_AHEAD + 1)
        rows = range(low, high) if high - low <= 2 * MOST_AT_ONCE else [row for row in wanted if row < len(ids)]
        missing = [ids[row] for row in rows if self._is_missing(ids[row])]
        if missing:
            self._reading = True
            self._ctx.tasks.launch(self._read(missing), what="read entries", owner=self)

    def _is_missing(self, id: str) -> bool:
        return id not in self._items or (bool(self._query) and id not in self._why)

    async def _read(self, ids: Sequence[str]) -> None:
        try:
            await self._fetch(ids)
        finally:
            self._reading = False
        if self._asked:
            self._soon.start()

    async def _fetch(self, ids: Sequence[str]) -> None:
        knowledge = self._ctx.services.knowledge
        query = self._query
        found = await knowledge.knowledge_entries(ids)
        reasons = await knowledge.knowledge_why(query, ids) if query else {}
        if query == self._query:
            if len(self._why) > KEPT:
                self._why.clear()
            self._why.update(reasons)
        self.put(found)

    def _alike_told(self, counts: Mapping[str, LikenessCount]) -> None:
        for id, count in counts.items():
            if (item := self._items.get(id)) is not None and item.alike != count:
                self._items[id] = replace(item, alike=count)
                row = self.row_of(id)
                if row >= 0:
                    self.dataChanged.emit(self.index(row, 0), self.index(row, 0))


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
