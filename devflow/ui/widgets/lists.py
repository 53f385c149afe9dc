"""Lists whose rows are painted by baseline: the view, the delegate to derive from, and the pen it hands out."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import baseline, draw_dot, draw_text, elided, fill_round, text_width

Index = QModelIndex | QPersistentModelIndex

HEADER_ROLE = Qt.ItemDataRole.UserRole + 90
"""True on a group header row (return flags without ItemIsSelectable for it)."""
OBJECT_ROLE = Qt.ItemDataRole.UserRole + 91
"""The domain value of a row; what a delegate's `paint_row` reads."""

INSET = 8  # rows from the pane's edge
PAD = 10  # text from the row's edge


class RowList(QListView):
    """A list of painted rows. `chosen(index)` when the current row changes, `opened(index)` on Enter or double click.

    Type-to-search is off: letters are the pages' shortcuts.
    """

    chosen = Signal(QModelIndex)
    opened = Signal(QModelIndex)

    def __init__(self, look: Look, name: str, *, multi: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if multi else mode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(200)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.doubleClicked.connect(self.opened)

    def keyboardSearch(self, search: str) -> None:
        return

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.chosen.emit(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex())
            return
        super().keyPressEvent(event)

    def step(self, by: int) -> None:
        """Move the current row by `by`, over headers, without leaving the list."""
        model = self.model()
        row = self.currentIndex().row()
        while 0 <= (row := row + by) < model.rowCount():
            index = model.index(row, 0)
            if index.flags() & Qt.ItemFlag.ItemIsSelectable:
                self.setCurrentIndex(index)
                return


@dataclass(frozen=True, slots=True)
class Row:
    """The pen of one row: `rect` is its fill, `left` and `right` the text's edges; y counts from the row's top."""

    look: Look
    painter: QPainter
    rect: QRectF
    selected: bool
    hovered: bool

    @property
    def left(self) -> float:
        return self.rect.left() + PAD

    @property
    def right(self) -> float:
        return self.rect.right() - PAD

    def text(
        self,
        x: float,
        y: float,
        height: float,
        text: str,
        role: str = "ui",
        color: str = "text",
        *,
        until: float | None = None,
        middle: bool = False,
    ) -> float:
        """One line in the band (y, height), elided at `until` (default: the right edge); returns where it ends."""
        font = self.look.theme.font(role)
        mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        shown = elided(text, font, (self.right if until is None else until) - x, mode)
        band = QRectF(0, self.rect.top() + y, 1, height)
        return draw_text(self.painter, x, baseline(band, font), shown, font, self.look.theme.color(color))

    def text_right(
        self,
        y: float,
        height: float,
        text: str,
        role: str = "small",
        color: str = "text-faint",
        *,
        right: float | None = None,
    ) -> float:
        """One line ending at the right edge; returns where it starts, for `until` of the text before it."""
        font = self.look.theme.font(role)
        end = self.right if right is None else right
        if not text:
            return end
        start = end - text_width(text, font)
        band = QRectF(0, self.rect.top() + y, 1, height)
        draw_text(self.painter, start, baseline(band, font), text, font, self.look.theme.color(color))
        return start

    def dot(self, x: float, y: float, color: str, *, square: bool = True, side: float = 8) -> None:
        """A kind's square or a status's disc with its centre at (x, y)."""
        center = QPointF(x, self.rect.top() + y)
        draw_dot(self.painter, center, side, self.look.theme.color(color), square)

    def icon(self, x: float, y: float, name: str, color: str = "text-muted", size: int = 16) -> None:
        """An icon with its top left corner at (x, y)."""
        self.look.icons.paint(self.painter, x, self.rect.top() + y, name, color, size)


class RowDelegate(QStyledItemDelegate):
    """Derive, and paint content in `paint_row`; fill, hover, selection and headers are done here.

    `height` is the row's, `gap` the space under it. Rows grow with the text size, never clip.
    """

    def __init__(
        self,
        look: Look,
        view: QAbstractItemView,
        *,
        height: int,
        gap: int = 0,
        header: int = 28,
        always_active: bool = False,
    ) -> None:
        super().__init__(view)
        self._look = look
        self._view = view
        self._gap = gap
        self._header = header
        self._always_active = always_active
        base = QFontMetrics(look.theme.font("ui")).height()
        self._height = max(height, base + 8)

    @property
    def look(self) -> Look:
        return self._look

    def paint_row(self, row: Row, index: Index) -> None:
        """Draw the row's content."""
        raise NotImplementedError

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self._fill_rect(option)
        if index.data(HEADER_ROLE):
            self.paint_header(Row(self._look, painter, rect, False, False), index)
        else:
            row = self._row(painter, option, rect)
            self._paint_fill(row)
            self.paint_row(row, index)
        painter.restore()

    def paint_header(self, row: Row, index: Index) -> None:
        """A group's title, 12 faint; override for counts or chevrons."""
        row.text(row.rect.left() + INSET, 2, row.rect.height() - 2, str(index.data()), "small", "text-muted")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, self._header if index.data(HEADER_ROLE) else self.row_height(index) + self._gap)

    def row_height(self, index: Index) -> int:
        return self._height

    def _fill_rect(self, option: QStyleOptionViewItem) -> QRectF:
        rect = QRectF(option.rect)
        bar = self._view.verticalScrollBar()
        right = 1 if bar.isVisible() else INSET
        return rect.adjusted(INSET, 0, -right, -self._gap)

    def _row(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRectF) -> Row:
        state = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        return Row(self._look, painter, rect, selected, hovered)

    def _paint_fill(self, row: Row) -> None:
        theme = self._look.theme
        if row.selected:
            active = self._always_active or self._view.hasFocus()
            fill_round(row.painter, row.rect, 6, theme.color("selection" if active else "selection-inactive"))
        elif row.hovered:
            fill_round(row.painter, row.rect, 6, theme.color("surface-hover"))
