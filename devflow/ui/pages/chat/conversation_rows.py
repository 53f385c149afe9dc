"""How a conversation, a group and a found message are painted in the list."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem

from devflow.ui.look import Look
from devflow.ui.models.conversations import ConversationItem, HitItem
from devflow.ui.widgets.lists import HEADER_ROLE, OBJECT_ROLE, Index, Row, RowDelegate

_ROW, _HIT, _HEADER, _FIRST_HEADER = 32, 52, 34, 22
_MARK = 14


class ConversationDelegate(RowDelegate):
    """32 px rows with a right slot: time, pin, awaiting (pause) or running (half disc); 52 px for found messages."""

    def __init__(self, look: Look, view: QAbstractItemView) -> None:
        super().__init__(look, view, height=_ROW, header=_HEADER)

    def paint_row(self, row: Row, index: Index) -> None:
        match index.data(OBJECT_ROLE):
            case ConversationItem() as item:
                self._conversation(row, item)
            case HitItem() as item:
                self._hit(row, item)
            case _:
                pass

    def paint_header(self, row: Row, index: Index) -> None:
        top = 0 if index.row() == 0 else 12
        row.text(row.rect.left() + 8, top, 20, str(index.data()), "small", "text-muted")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if index.data(HEADER_ROLE) and index.row() == 0:
            return QSize(60, _FIRST_HEADER)
        return super().sizeHint(option, index)

    def row_height(self, index: Index) -> int:
        return _HIT if isinstance(index.data(OBJECT_ROLE), HitItem) else super().row_height(index)

    def _conversation(self, row: Row, item: ConversationItem) -> None:
        conversation, height = item.conversation, row.rect.height()
        mark = _mark(item)
        if mark is None:
            until = row.text_right(0, height, item.when, right=row.right + 2)
        else:
            until = row.right - _MARK + 2
            row.icon(until, (height - _MARK) / 2, *mark, _MARK)
        color = "text" if conversation.title else "text-muted"
        row.text(row.left - 2, 0, height, item.title, "ui", color, until=until - 8)

    def _hit(self, row: Row, item: HitItem) -> None:
        until = row.text_right(6, 20, item.when, right=row.right + 2)
        row.text(row.left - 2, 6, 20, item.title, "ui", until=until - 8)
        row.text(row.left - 2, 26, 18, item.hit.excerpt, "small", "text-muted")


def _mark(item: ConversationItem) -> tuple[str, str] | None:
    """Icon and colour of the right slot, or None for the time."""
    if item.conversation.awaiting:
        return ("pause", "warning")
    if item.conversation.running:
        return ("half-disc", "accent-fg")
    if item.conversation.pinned:
        return ("pin", "text-faint")
    return None
