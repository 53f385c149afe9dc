"""What Qt cannot draw itself: rounded grounds under inline code and chips, bordered code blocks, quiet tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QTextBlock, QTextDocument, QTextFrame, QTextTable

from devflow.ui.theme import ThemeController
from devflow.ui.widgets.markdown import formats as f
from devflow.ui.widgets.markdown.render import Fence
from devflow.ui.widgets.painting import baseline, draw_text, fill_round, line_x


def paint_underlay(
    painter: QPainter, document: QTextDocument, visible: QRectF, fences: Sequence[Fence], theme: ThemeController
) -> None:
    """Paint everything that lies under the text and meets `visible` (document coordinates)."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for fence in fences:
        rect = fence_rect(document, fence.frame)
        if rect.intersects(visible):
            _paint_fence(painter, rect, fence.label, theme)
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            rect = document.documentLayout().frameBoundingRect(frame)
            if rect.intersects(visible):
                _paint_table(painter, document, frame, rect, theme)
    for block in _blocks_in(document, visible):
        _paint_block(painter, document, block, theme)
    painter.restore()


def fence_rect(document: QTextDocument, frame: QTextFrame) -> QRectF:
    """The code block's border, head included."""
    outer = document.documentLayout().frameBoundingRect(frame)
    made = frame.frameFormat()
    return QRectF(
        outer.left() + made.leftMargin(),
        outer.top() + made.topMargin() - f.HEADER,
        outer.width() - made.leftMargin(),
        outer.height() - made.topMargin() - made.bottomMargin() + f.HEADER + f.DROP,
    )


def _paint_fence(painter: QPainter, rect: QRectF, label: str, theme: ThemeController) -> None:
    fill_round(painter, rect, 8, theme.color("code-bg"), theme.color("hairline"))
    y = rect.top() + f.HEADER - 1
    painter.fillRect(QRectF(rect.left() + 1, y, rect.width() - 2, 1), theme.color("hairline"))
    font = theme.font("small")
    head = QRectF(rect.left(), rect.top(), rect.width(), f.HEADER - 1)
    draw_text(painter, rect.left() + f.CODE_PAD, baseline(head, font), label, font, theme.color("text-muted"))


def _paint_table(
    painter: QPainter, document: QTextDocument, table: QTextTable, outer: QRectF, theme: ThemeController
) -> None:
    pad = table.format().cellPadding()
    tops = [_row_top(document, table, row) - pad for row in range(table.rows())]
    last = table.rows() - 1
    bottom = max(_cell_bottom(document, table, last, column) for column in range(table.columns())) + pad + 2
    rect = QRectF(0, tops[0], document.textWidth(), bottom - tops[0])
    lines = [round(top) + 0.5 for top in tops[1:]]
    path = QPainterPath()
    path.addRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
    painter.save()
    painter.setClipPath(path)
    head_bottom = lines[0] if lines else rect.bottom()
    painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), head_bottom - rect.top()), theme.color("code-bg"))
    painter.setPen(QPen(theme.color("hairline"), 1))
    for y in lines:
        painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
    painter.restore()
    painter.setPen(QPen(theme.color("hairline"), 1))
    painter.drawPath(path)


def _row_top(document: QTextDocument, table: QTextTable, row: int) -> float:
    layout = document.documentLayout()
    return min(
        layout.blockBoundingRect(table.cellAt(row, column).firstCursorPosition().block()).top()
        for column in range(table.columns())
    )


def _cell_bottom(document: QTextDocument, table: QTextTable, row: int, column: int) -> float:
    return _block_rect(document, table.cellAt(row, column).lastCursorPosition().block()).bottom()


def _block_rect(document: QTextDocument, block: QTextBlock) -> QRectF:
    """From the block's top to the end of its last line; Qt's own rectangle forgets fixed line heights."""
    rect = document.documentLayout().blockBoundingRect(block)
    layout = block.layout()
    if layout.lineCount():
        last = layout.lineAt(layout.lineCount() - 1)
        rect.setBottom(rect.top() + last.y() + last.height())
    return rect


def _blocks_in(document: QTextDocument, visible: QRectF) -> Iterator[QTextBlock]:
    layout = document.documentLayout()
    start = layout.hitTest(visible.topLeft(), Qt.HitTestAccuracy.FuzzyHit)
    block = document.findBlock(max(start, 0))
    # A frame's blocks are found by their own positions, so step back over what begins before the visible part.
    while block.previous().isValid() and layout.blockBoundingRect(block).top() > visible.top():
        block = block.previous()
    while block.isValid():
        if layout.blockBoundingRect(block).top() > visible.bottom():
            return
        yield block
        block = block.next()


def _paint_block(painter: QPainter, document: QTextDocument, block: QTextBlock, theme: ThemeController) -> None:
    made = block.blockFormat()
    layout = document.documentLayout()
    if made.hasProperty(f.QUOTE):
        rect = _block_rect(document, block)
        for depth in range(int(made.property(f.QUOTE))):
            bar = QRectF(depth * 14, rect.top(), 2, rect.height())
            painter.fillRect(bar, theme.color("hairline-strong"))
    if made.hasProperty(f.RULE):
        rect = layout.blockBoundingRect(block)
        painter.fillRect(QRectF(0, round(rect.center().y()), document.textWidth(), 1), theme.color("hairline"))
    if made.hasProperty(f.BULLET):
        _paint_bullet(painter, document, block, theme)
    origin = layout.blockBoundingRect(block).topLeft()
    for start, length, code, reference in _grounds(block):
        if code:
            color, height = "inline-code-bg", 19
        else:
            color, height = ("accent-bg" if reference == 1 else "warning-bg"), 20
        for rect in _span_rects(block, start, length, origin, 0, height):
            fill_round(painter, rect, 4, theme.color(color))


def _paint_bullet(painter: QPainter, document: QTextDocument, block: QTextBlock, theme: ThemeController) -> None:
    if not block.layout().lineCount():
        return
    line = block.layout().lineAt(0)
    origin = document.documentLayout().blockBoundingRect(block).topLeft()
    center = QPointF(origin.x() + line.x() - 13, round(origin.y() + line.y() + line.ascent() - 5) + 0.5)
    if int(block.blockFormat().property(f.BULLET)) % 2:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("text"))
        painter.drawEllipse(center, 2.5, 2.5)
    else:
        painter.setPen(QPen(theme.color("text"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, 2.5, 2.5)


def _grounds(block: QTextBlock) -> list[tuple[int, int, bool, int]]:
    """(start, length, inline code, reference) of each painted ground: neighbours of one kind are one ground."""
    found: list[tuple[int, int, bool, int]] = []
    for span in block.textFormats():
        code = span.format.hasProperty(f.CODE)
        reference = int(span.format.property(f.REFERENCE) or 0)
        if not code and not reference:
            continue
        if found and found[-1][0] + found[-1][1] == span.start and found[-1][2:] == (code, reference):
            found[-1] = (found[-1][0], found[-1][1] + span.length, code, reference)
        else:
            found.append((span.start, span.length, code, reference))
    return found


def _span_rects(
    block: QTextBlock, start: int, length: int, origin: QPointF, widen: float, height: float
) -> Iterator[QRectF]:
    """One rectangle for each line that the span touches."""
    layout = block.layout()
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        first = max(start, line.textStart())
        last = min(start + length, line.textStart() + line.textLength())
        if first >= last:
            continue
        left, right = line_x(line, first), line_x(line, last)
        base = origin.y() + line.y() + line.ascent()
        top = round(base - 14)
        yield QRectF(origin.x() + left - widen, top, right - left + 2 * widen, height)
