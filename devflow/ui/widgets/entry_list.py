"""A list of entries that never moves by itself: a new order keeps the current entry, the selection and the place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QListView, QWidget

from devflow.ui.look import Look
from devflow.ui.models.entries import EntryModel
from devflow.ui.widgets.lists import Index, RowList

_Flag = QItemSelectionModel.SelectionFlag


class EntryList(RowList):
    """`keyed` carries a key press that may mean an act: the page takes it by accepting the event.

    Input methods are off here, so that a letter is a command under a Chinese one too. With `multi`, rows are marked by
    `toggle` (`x`) and `extend` (Shift+J/K); while any are, moving leaves the marks alone.
    """

    keyed = Signal(object)
    marks_changed = Signal()

    def __init__(
        self, look: Look, model: EntryModel, name: str, *, multi: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(look, name, multi=multi, parent=parent)
        self._entries = model
        self._marking = False
        self.setModel(model)
        self.setUniformItemSizes(True)
        self.setLayoutMode(QListView.LayoutMode.SinglePass)  # rows of one height cost nothing to lay out
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, False)
        self.selectionModel().selectionChanged.connect(self._selection_changed)

    # where it stands

    @property
    def current_id(self) -> str | None:
        index = self.currentIndex()
        return self._entries.id_at(index.row()) if index.isValid() else None

    @property
    def marking(self) -> bool:
        """Whether rows are marked apart from the current one."""
        return self._marking

    def selected_ids(self) -> tuple[str, ...]:
        """The marked entries in the list's order; without marks the current one."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        found = tuple(id for row in rows if (id := self._entries.id_at(row)) is not None)
        if found or self._marking:
            return found
        return () if self.current_id is None else (self.current_id,)

    # moving

    def show_order(self, ids: Sequence[str]) -> None:
        """Take over a new order. A current entry that has left gives its place to the next one."""
        current = self.current_id
        if current is not None and current not in ids:
            self.move_off(frozenset(self._entries.ids).difference(ids))
            current = self.current_id
        place = self._place()
        self._entries.show(ids)
        row = self._entries.row_of(current)
        if row >= 0 and not self.currentIndex().isValid():  # a wholly new order took the current row away
            self._move(row, _Flag.ClearAndSelect)
        self._put_back(place)

    def move_off(self, leaving: frozenset[str]) -> None:
        """Make the next entry that stays the current one, where the current one is about to leave."""
        current = self.current_id
        if current is None or current not in leaving:
            return
        ids, row = self._entries.ids, self._entries.row_of(current)
        after = (id for id in ids[row + 1 :] if id not in leaving)
        before = (id for id in reversed(ids[:row]) if id not in leaving)
        successor = next(after, None) or next(before, None)
        self._marking = False
        self.go_to(successor)

    def go_to(self, id: str | None) -> None:
        """Make an entry the current one (None: no entry)."""
        row = self._entries.row_of(id)
        if row < 0:
            self.setCurrentIndex(QModelIndex())
            self.selectionModel().clear()
            self.chosen.emit(QModelIndex())
            return
        index = self._entries.index(row, 0)
        if index == self.currentIndex():
            self.selectionModel().select(index, _Flag.ClearAndSelect)
        else:
            self.setCurrentIndex(index)
        self.scrollTo(index)

    def step(self, by: int) -> None:
        row = self.currentIndex().row() + by
        if not 0 <= row < self._entries.rowCount():
            return
        self._move(row, _Flag.NoUpdate if self._marking else _Flag.ClearAndSelect)

    def extend(self, by: int) -> None:
        """Take the next row into the selection, or give this one back on the way home."""
        if not self.currentIndex().isValid():
            self.step(by)
            return
        here, row = self.currentIndex(), self.currentIndex().row() + by
        if not 0 <= row < self._entries.rowCount():
            return
        selection = self.selectionModel()
        if selection.isSelected(self._entries.index(row, 0)) and selection.isSelected(here):
            selection.select(here, _Flag.Deselect)
        else:
            selection.select(here, _Flag.Select)
        self._marking = True
        self._move(row, _Flag.Select)
        self._selection_changed()

    def toggle(self) -> None:
        """Mark the current row, or take its mark away."""
        if not self.currentIndex().isValid():
            return
        if self._marking:
            self.selectionModel().select(self.currentIndex(), _Flag.Toggle)
        else:
            self._marking = True
            self.selectionModel().select(self.currentIndex(), _Flag.Select)
        self._selection_changed()

    def unmark(self) -> bool:
        """Leave the marks; False if there were none."""
        if not self._marking and len(self.selectionModel().selectedIndexes()) <= 1:
            return False
        self._marking = False
        self.go_to(self.current_id)
        self._selection_changed()
        return True

    def _move(self, row: int, flag: _Flag) -> None:
        index = self._entries.index(row, 0)
        self.selectionModel().setCurrentIndex(index, flag)
        self.scrollTo(index)
        self.viewport().update()

    def _selection_changed(self) -> None:
        self.viewport().update()
        self.marks_changed.emit()

    # the place

    def _place(self) -> tuple[tuple[str, ...], int] | None:
        """The ids on the screen from the first one down, and where that one begins."""
        first = self.indexAt(QPoint(12, 1))
        if not first.isValid() or not self.isVisible():  # who comes here later begins at the top
            return None
        row = first.row()
        return self._entries.ids[row : row + 30], self.visualRect(first).top()

    def _put_back(self, place: tuple[tuple[str, ...], int] | None) -> None:
        if place is None:
            return
        ids, top = place
        row = self._entries.row_of(ids[0])
        if row < 0:
            return  # the first one has left: the rows below move up into its place
        moved = self.visualRect(self._entries.index(row, 0)).top() - top
        bar = self.verticalScrollBar()
        if moved:
            bar.setValue(bar.value() + moved)

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Paint again. `QListView` would lay out every row anew, though no row here ever changes its height."""
        self.viewport().update()

    # keys and clicks

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self.keyed.emit(event)
        if event.isAccepted():
            return
        event.accept()
        super().keyPressEvent(event)
        if event.text() and event.text().isprintable():
            event.ignore()  # a letter that means nothing here may mean something to the window

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.RightButton and self.indexAt(event.position().toPoint()).isValid():
            index = self.indexAt(event.position().toPoint())
            if not self.selectionModel().isSelected(index):
                self._marking = False
                self.setCurrentIndex(index)
            return
        if not event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
            self._marking = False
        super().mousePressEvent(event)
        self._selection_changed()
