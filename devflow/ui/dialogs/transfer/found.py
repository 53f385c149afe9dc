"""The list of what an import found: groups, a tick before what can come in, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPen
from PySide6.QtWidgets import QWidget

from devflow.domain.messages import Translator
from devflow.transfer.pieces import Bad
from devflow.transfer.preview import ChatRow, News, Preview, Row
from devflow.ui.dialogs.transfer import words
from devflow.ui.look import Look
from devflow.ui.widgets import HEADER_ROLE, OBJECT_ROLE, RowDelegate, RowList
from devflow.ui.widgets import Row as Pen
from devflow.ui.widgets.lists import Index

Found = Row | ChatRow | Bad
TICK = 16
_X = 34


@dataclass(frozen=True, slots=True)
class Group:
    """A header row."""

    title: str


class FoundModel(QAbstractListModel):
    """`changed` when something was ticked or unticked."""

    changed = Signal()

    def __init__(self, t: Translator, preview: Preview, parent: QObject) -> None:
        super().__init__(parent)
        self._t = t
        self._lines: list[Group | Found] = _lines(t, preview)
        self._off: set[int] = set()

    # what was chosen

    @property
    def keys(self) -> frozenset[str]:
        """Of the pieces to take in."""
        return frozenset(line.piece.key for at, line in self._on() if isinstance(line, Row))

    @property
    def conversations(self) -> frozenset[str]:
        return frozenset(line.chat.conversation.id for at, line in self._on() if isinstance(line, ChatRow))

    @property
    def count(self) -> int:
        return sum(1 for _ in self._on())

    @property
    def possible(self) -> int:
        return sum(can_come(line) for line in self._lines)

    def is_on(self, row: int) -> bool:
        return can_come(self._lines[row]) and row not in self._off

    def toggle(self, row: int) -> None:
        if not can_come(self._lines[row]):
            return
        self._off ^= {row}
        self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
        self.changed.emit()

    def set_all(self, on: bool) -> None:
        self._off = set() if on else {at for at, line in enumerate(self._lines) if can_come(line)}
        self.dataChanged.emit(self.index(0, 0), self.index(len(self._lines) - 1, 0))
        self.changed.emit()

    def _on(self) -> Iterable[tuple[int, Found]]:
        for at, line in enumerate(self._lines):
            if at not in self._off and not isinstance(line, Group) and can_come(line):
                yield at, line

    # what Qt asks

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self._line(index)
        if line is None or isinstance(line, Group):
            return Qt.ItemFlag.ItemIsEnabled
        ticked = Qt.ItemFlag.ItemIsUserCheckable if can_come(line) else Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | ticked

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self._line(index)
        if line is None:
            return None
        if isinstance(line, Group):
            return line.title if role == Qt.ItemDataRole.DisplayRole else role == HEADER_ROLE or None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title(line)
            case Qt.ItemDataRole.CheckStateRole if can_come(line):
                return Qt.CheckState.Checked if self.is_on(index.row()) else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.ToolTipRole:
                return detail(self._t, line)
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join((title(line), detail(self._t, line)))
            case _ if role == OBJECT_ROLE:
                return line
            case _:
                return None

    def _line(self, index: Index) -> Group | Found | None:
        return self._lines[index.row()] if 0 <= index.row() < len(self._lines) else None


def can_come(line: Group | Found) -> bool:
    match line:
        case Row():
            return line.news is not News.KNOWN
        case ChatRow():
            return line.added > 0
        case _:
            return False


def title(line: Found) -> str:
    match line:
        case Row():
            return line.piece.draft.title
        case ChatRow():
            return line.chat.conversation.title
        case Bad():
            return words.bad_name(line)


def detail(t: Translator, line: Found) -> str:
    match line:
        case Row():
            return words.row_detail(t, line)
        case ChatRow():
            return words.chat_detail(t, line)
        case Bad():
            return words.bad_detail(t, line)


def _lines(t: Translator, preview: Preview) -> list[Group | Found]:
    """Refused ones first: they want an answer. Known ones last."""
    new = [row for row in preview.rows if row.news is News.NEW and not row.alike]
    near = [row for row in preview.rows if row.news is News.NEW and row.alike]
    changed = [row for row in preview.rows if row.news is News.CHANGED]
    chats = list(preview.new_chats)
    known: list[Row | ChatRow] = [row for row in preview.rows if row.news is News.KNOWN]
    known += [row for row in preview.chats if not row.added]
    groups: list[tuple[str, list[Found]]] = [
        (t("Refused"), list(preview.bad)),
        (t("Like an entry that is here"), list(near)),
        (t("Changed since they were imported"), list(changed)),
        (t.p("import", "New"), list(new)),
        (t("Conversations"), list(chats)),
        (t("Known already"), list(known)),
    ]
    lines: list[Group | Found] = []
    for name, rows in groups:
        if rows:
            lines += [Group(f"{name} · {len(rows):,}"), *rows]
    return lines


class FoundList(RowList):
    """Space or a click on the tick takes a row in or leaves it out."""

    def __init__(self, look: Look, model: FoundModel, parent: QWidget | None = None) -> None:
        super().__init__(look, look.t("Found"), parent=parent)
        self.setObjectName("importList")
        self.setModel(model)
        self._found = model
        self.setItemDelegate(_FoundDelegate(look, self, model))

    def dataChanged(self, first: Index, last: Index, roles: Iterable[int] = ()) -> None:
        """No row ever changes its height: paint, and lay nothing out."""
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._found.toggle(self.currentIndex().row())
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.position().x() < self.visualRect(index).left() + 8 + _X:
            self._found.toggle(index.row())
        super().mouseReleaseEvent(event)


class _FoundDelegate(RowDelegate):
    def __init__(self, look: Look, view: FoundList, model: FoundModel) -> None:
        super().__init__(look, view, height=46, gap=2, header=30, always_active=True)
        self._model = model

    def paint_row(self, row: Pen, index: Index) -> None:
        line = index.data(OBJECT_ROLE)
        t = self.look.t
        match line:
            case Bad():
                row.icon(row.left, 15, "warning", "danger")
            case _ if can_come(line):
                self._tick(row, self._model.is_on(index.row()))
            case _:
                row.icon(row.left, 15, "check", "text-faint")
        quiet = isinstance(line, Row | ChatRow) and not can_come(line)
        row.text(row.rect.left() + _X, 5, 18, title(line), "ui", "text-muted" if quiet else "text")
        tone = "danger" if isinstance(line, Bad) else "text-faint"
        if isinstance(line, Row) and line.alike:
            tone = "warning"
        row.text(row.rect.left() + _X, 23, 18, detail(t, line), "small", tone)

    def _tick(self, row: Pen, on: bool) -> None:
        theme = self.look.theme
        box = QRectF(row.left + 0.5, row.rect.top() + 15.5, TICK - 1, TICK - 1)
        painter = row.painter
        painter.setPen(QPen(theme.color("accent" if on else "control-border"), 1))
        painter.setBrush(theme.color("accent") if on else theme.color("surface-raised"))
        painter.drawRoundedRect(box, 4, 4)
        if on:
            painter.setPen(QPen(theme.color("accent-text"), 1.6))
            left, middle = box.left(), box.center()
            points = (
                QPointF(left + 3.5, middle.y()),
                QPointF(left + 6.5, middle.y() + 3),
                QPointF(left + 11.5, middle.y() - 3),
            )
            painter.drawPolyline(points)
