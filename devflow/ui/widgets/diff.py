"""Diffs to look at: code with two gutters, prose with word marks. Both are text: selectable and copyable."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QPainter,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.diffing import DiffLine, Side, count_changes, diff_lines, paragraphs
from devflow.ui.widgets.painting import draw_text, draw_text_right, fill_round, line_x

ROW = 20
GUTTER = 34
_SIGN = 16
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_FILLS = {Side.ADDED: "diff-add-bg", Side.REMOVED: "diff-del-bg"}
_WORDS = {Side.ADDED: "diff-add-word", Side.REMOVED: "diff-del-word"}
_SIGNS = {Side.ADDED: ("+", "diff-add-sign"), Side.REMOVED: ("-", "diff-del-sign")}


class _DiffText(QTextEdit):
    """The shared half: read-only text whose blocks are diff rows, painted on full-width tints."""

    _pad = 0
    """px of tint above and below a row's lines."""
    _sink = 0
    """px by which the tints follow text that Qt sets low in a line of fixed height."""

    def __init__(self, look: Look, left: int, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._look = look
        self._left = left
        self._rows: list[DiffLine] = []
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.document().setDocumentMargin(0)
        self._fitting = QTimer(self)
        self._fitting.setSingleShot(True)
        self._fitting.setInterval(0)
        self._fitting.timeout.connect(self._fit)
        self.document().documentLayout().documentSizeChanged.connect(self._fitting.start)
        look.theme.changed.connect(self._fill)

    @property
    def added(self) -> int:
        return count_changes(self._rows)[0]

    @property
    def removed(self) -> int:
        return count_changes(self._rows)[1]

    def show_rows(self, rows: Sequence[DiffLine]) -> None:
        self._rows = list(rows)
        words = self._look.t("{added} lines added, {removed} removed", added=self.added, removed=self.removed)
        self.setAccessibleName(words)
        self.setAccessibleDescription(self._spoken())
        self._fill()

    def _spoken(self) -> str:
        t = self._look.t
        words = {Side.ADDED: t("added"), Side.REMOVED: t("removed")}
        changed = [row for row in self._rows if row.side in words]
        return "\n".join(f"{words[row.side]}: {row.text}" for row in changed[:50])

    def _block(self, row: DiffLine) -> QTextBlockFormat:
        raise NotImplementedError

    def _char(self, row: DiffLine) -> QTextCharFormat:
        raise NotImplementedError

    def _fill(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        for index, row in enumerate(self._rows):
            block, char = self._block(row), self._char(row)
            if index:
                cursor.insertBlock(block, char)
            else:
                cursor.setBlockFormat(block)
                cursor.setBlockCharFormat(char)
            self._marked(cursor, row, char)
        cursor.endEditBlock()
        self.setTextCursor(QTextCursor(self.document()))  # or a long line is shown from its end
        self._fit()

    def _marked(self, cursor: QTextCursor, row: DiffLine, char: QTextCharFormat) -> None:
        if row.side is Side.FOLD:
            count = int(row.text)
            cursor.insertText(self._look.t.n("{count} unchanged line", "{count} unchanged lines", count), char)
            return
        at = 0
        for start, end in row.marks:
            cursor.insertText(row.text[at:start], char)
            word = QTextCharFormat(char)
            word.setProperty(_MARK, 1)
            cursor.insertText(row.text[start:end], word)
            at = end
        cursor.insertText(row.text[at:], char)

    def _fit(self) -> None:
        self._fitting.stop()
        bar = self.horizontalScrollBar()
        room = bar.height() if bar.isVisible() else 0
        height = math.ceil(self.document().size().height()) + self._sink + room
        if height != self.height():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:
        return QSize(300, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.angleDelta().x() or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        layout = self.document().documentLayout()
        shift = self.horizontalScrollBar().value()
        visible = QRectF(event.rect())
        block = self.document().begin()
        index = 0
        while block.isValid() and index < len(self._rows):
            rect = layout.blockBoundingRect(block)
            lines = block.layout().lineCount()
            if lines:
                last = block.layout().lineAt(lines - 1)
                rect.setBottom(rect.top() + last.y() + last.height())
            rect.adjust(0, self._sink - self._pad, 0, self._sink + self._pad)
            if rect.top() > visible.bottom():
                break
            if rect.bottom() >= visible.top():
                self._paint_row(painter, self._rows[index], block, rect, shift)
            block = block.next()
            index += 1
        painter.end()
        super().paintEvent(event)

    def _paint_row(self, painter: QPainter, row: DiffLine, block: QTextBlock, rect: QRectF, shift: int) -> None:
        theme = self._look.theme
        width = self.viewport().width()
        if row.side in _FILLS:
            painter.fillRect(QRectF(0, rect.top(), width, rect.height()), theme.color(_FILLS[row.side]))
        layout = block.layout()
        origin = self.document().documentLayout().blockBoundingRect(block).topLeft()
        for span in block.textFormats():
            if not span.format.hasProperty(_MARK):
                continue
            for number in range(layout.lineCount()):
                line = layout.lineAt(number)
                first = max(span.start, line.textStart())
                end = min(span.start + span.length, line.textStart() + line.textLength())
                if first >= end:
                    continue
                left, right = line_x(line, first), line_x(line, end)
                base = origin.y() + line.y() + line.ascent()
                mark = QRectF(origin.x() + left - shift - 1, round(base - 13), right - left + 2, 17)
                fill_round(painter, mark, 2, theme.color(_WORDS[row.side]))
        if layout.lineCount():
            top = layout.lineAt(0)
            self._paint_margin(painter, row, round(origin.y() + top.y() + top.ascent()))

    def _paint_margin(self, painter: QPainter, row: DiffLine, base: float) -> None:
        raise NotImplementedError


_MARK = int(QTextFormat.Property.UserProperty.value) + 20


class CodeDiff(_DiffText):
    """Rows of 20 px, two 34 px number gutters, a sign, word marks; long lines scroll sideways."""

    _sink = 1

    def __init__(self, look: Look, parent: QWidget | None = None, *, gutters: bool = True) -> None:
        self._gutters = gutters
        left = (2 * GUTTER + _SIGN if gutters else _SIGN + 8) + 1
        super().__init__(look, left, parent)
        self.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setViewportMargins(0, 0, 0, 0)

    def set_texts(self, before: str, after: str, context: int | None = 3) -> None:
        self.show_rows(diff_lines(before, after, context))

    def _block(self, row: DiffLine) -> QTextBlockFormat:
        made = QTextBlockFormat()
        made.setLineHeight(ROW, _FIXED)
        made.setLeftMargin(self._left)
        return made

    def _char(self, row: DiffLine) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(self._look.theme.font("small" if row.side is Side.FOLD else "code"))
        made.setForeground(self._look.theme.color("text-faint" if row.side is Side.FOLD else "text"))
        return made

    def _paint_margin(self, painter: QPainter, row: DiffLine, base: float) -> None:
        theme = self._look.theme
        font = theme.font("code")
        faint = theme.color("text-muted" if row.side in _FILLS else "text-faint")
        x = 0
        if self._gutters:
            small = theme.font("code-small")
            for number in (row.old, row.new):
                x += GUTTER
                if number:
                    draw_text_right(painter, x - 7, base, str(number), small, faint)
        if row.side in _SIGNS:
            sign, color = _SIGNS[row.side]
            draw_text(painter, x + (1 if self._gutters else 9), base, sign, font, theme.color(color))


class ProseDiff(_DiffText):
    """Wrapped paragraphs, padding 6/12, a 12 px sign column; unchanged text is muted."""

    _pad = 6

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, 28, parent)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        root = self.document().rootFrame()
        frame = root.frameFormat()
        frame.setTopMargin(self._pad)  # Qt ignores the outer margins of a document's first and last paragraph
        frame.setBottomMargin(self._pad)
        root.setFrameFormat(frame)

    def set_texts(self, before: str, after: str, context: int | None = None) -> None:
        """`context` unchanged paragraphs around a change; None keeps them all."""
        self.show_rows(diff_lines(paragraphs(before), paragraphs(after), context))

    def _block(self, row: DiffLine) -> QTextBlockFormat:
        made = QTextBlockFormat()
        made.setLineHeight(ROW, _FIXED)
        made.setLeftMargin(self._left)
        made.setRightMargin(12)
        # Qt lets the margins of neighbours collapse: the room of both stands above.
        made.setTopMargin(0 if row is self._rows[0] else 2 * self._pad)
        return made

    def _char(self, row: DiffLine) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(self._look.theme.font("ui"))
        made.setForeground(self._look.theme.color("text" if row.side in _FILLS else "text-muted"))
        return made

    def _paint_margin(self, painter: QPainter, row: DiffLine, base: float) -> None:
        if row.side in _SIGNS:
            sign, color = _SIGNS[row.side]
            font = self._look.theme.font("code")
            draw_text(painter, 11, base, sign, font, self._look.theme.color(color))
