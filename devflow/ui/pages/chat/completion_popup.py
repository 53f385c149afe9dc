"""The popup above the composer that offers what completes the text: pages behind `@`, commands behind `/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate, RowList

_ROW, _ROWS, _PAD, _ABOVE, _WIDEST = 32, 8, 5, 6, 560
_BORDER = 1
_NAMES = 0.34
"""How much of the width names have beside what they do."""

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Offer:
    """One row: `text`, and beside it `detail`, which is prose, or with `mono` a path.

    `data` is what the row stands for. An offer that is not `enabled` is faint, and says why in its detail; the
    `current` one is chosen when the popup comes. `why` it is offered: for the tooltip and a screen reader.
    """

    data: object
    text: str
    detail: str = ""
    icon: str = "file"
    mono: bool = False
    enabled: bool = True
    current: bool = False
    why: str = ""


class CompletionPopup(QFrame):
    """A child of `host`, as wide as the composer at most; it never takes the keyboard. `chosen(Offer)` by a click."""

    chosen = Signal(object)

    def __init__(self, look: Look, host: QWidget) -> None:
        super().__init__(host)
        self._look = look
        self._host = host
        self.setObjectName("completionPopup")
        self.setProperty("role", "popup")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.model = _Offered(self)
        self.list = RowList(look, "")
        self.list.setObjectName("completionList")
        self.list.setModel(self.model)
        self.list.setItemDelegate(_OfferedDelegate(look, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setLayoutMode(QListView.LayoutMode.SinglePass)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.clicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, _PAD, 1, _PAD)
        column.addWidget(self.list)
        self.hide()

    @property
    def current(self) -> Offer | None:
        """The one that Enter would take."""
        return self.model.offer(self.list.currentIndex().row())

    def offer(self, offers: Sequence[Offer], above: QWidget, name: str, told: str, *, keep: bool = False) -> None:
        """Show these, the best one chosen, or with `keep` the one that was; none hides the popup.

        `name` is what the list is called; `told` is said when the popup comes, before its first row.
        """
        same = self.current if keep and self.isVisible() else None
        self.setAccessibleName(name)
        self.list.setAccessibleName(name)
        self.model.show_offers(offers)
        if not offers:
            self.hide()
            return
        best = next((place for place, offer in enumerate(offers) if offer.current), 0)
        kept = next((place for place, offer in enumerate(offers) if same and offer.data == same.data), best)
        self.list.setCurrentIndex(self.model.index(kept, 0))
        self.place(above)
        arriving = not self.isVisible()
        self.show()
        self.raise_()
        self.list.scrollTo(self.list.currentIndex())
        if arriving:
            self._say(f"{told}: {offers[kept].text}")

    def place(self, above: QWidget) -> None:
        """Above that widget, at its left edge, as high as its rows or the room there."""
        corner = above.mapTo(self._host, QPoint(0, 0))
        room = max(1, min(_ROWS, (corner.y() - _ABOVE - 2 * _PAD - 4) // _ROW))
        height = min(room, self.model.rowCount()) * _ROW + 2 * (_PAD + _BORDER)
        width = min(above.width(), _WIDEST)
        self.setGeometry(corner.x(), corner.y() - _ABOVE - height, width, height)

    def step(self, by: int) -> None:
        """Move the choice; beyond either end it comes in again at the other."""
        rows = max(1, self.model.rowCount())
        row = (self.list.currentIndex().row() + by) % rows
        self.list.setCurrentIndex(self.model.index(row, 0))
        offer = self.current
        if offer is not None:
            self._say(_spoken(offer))

    def _say(self, words: str) -> None:
        """The keyboard stays in the composer: what is chosen here must be told."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _clicked(self, index: QModelIndex) -> None:
        offer = self.model.offer(index.row())
        if offer is not None:
            self.chosen.emit(offer)


class _Offered(QAbstractListModel):
    def __init__(self, parent: CompletionPopup) -> None:
        super().__init__(parent)
        self._offers: tuple[Offer, ...] = ()

    def show_offers(self, offers: Sequence[Offer]) -> None:
        self.beginResetModel()
        self._offers = tuple(offers)
        self.endResetModel()

    def offer(self, row: int) -> Offer | None:
        return self._offers[row] if 0 <= row < len(self._offers) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._offers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        offer = self.offer(index.row())
        if offer is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return offer.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(offer)
            case Qt.ItemDataRole.ToolTipRole:
                return "\n".join(part for part in (offer.detail, offer.why) if part)
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return offer.why
            case _ if role == OBJECT_ROLE:
                return offer
            case _:
                return None


def _spoken(offer: Offer) -> str:
    return f"{offer.text}, {offer.detail}" if offer.detail else offer.text


class _OfferedDelegate(RowDelegate):
    """32 px: a page's title, and its file in mono, which tells two of a title apart; or a command and its use."""

    def __init__(self, look: Look, view: QAbstractItemView) -> None:
        super().__init__(look, view, height=_ROW, always_active=True)

    def paint_row(self, row: Row, index: Index) -> None:
        offer = index.data(OBJECT_ROLE)
        if not isinstance(offer, Offer):
            return
        height = row.rect.height()
        color = "text" if offer.enabled else "text-faint"
        row.icon(row.left - 2, (height - 16) / 2, offer.icon, "text-muted" if offer.enabled else "text-faint")
        middle = row.left + (row.right - row.left) * (0.5 if offer.mono else _NAMES)
        row.text(row.left + 22, 0, height, offer.text, "ui", color, until=middle)
        role = "code-small" if offer.mono else "small"
        row.text(middle + 12, 0, height, offer.detail, role, "text-faint", middle=offer.mono)
