"""A conversation as PDF: laid out by Qt on a thread of its own, in small steps, with text that can be copied.

Qt's text documents may be used on the thread that owns them, but PySide keeps Python's lock while one parses or lays
out text: a whole conversation in one call would hold up the window. So it is given a block at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QMarginsF, QRectF, QSizeF
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetricsF,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)

from devflow.domain.messages import Translator
from devflow.sharing.conversation import SharedConversation
from devflow.sharing.html import sections
from devflow.sharing.style import Sheet
from devflow.sharing.words import title_of
from devflow.sharing.writing import write_whole
from devflow.ui.pdf_text import name_glyphs_as_written

_DPI = 600
_MARGIN_MM = 18
_FOOT_PT = 20
_TEXT_PT, _SMALL_PT = 9.5, 8.0
_STEP = 2_500
"""Characters of HTML that are laid out at once: some milliseconds."""
_LINES = 60
"""Of code, that may be parted."""
_TAB = 4
_EDGE = 4
"""Dots: a line that only touches the page's edge belongs to the next one, and would be drawn on both."""

_TABLE = '<table border="1" cellspacing="0" cellpadding="4" style="border-style: solid">'
_HEADING = re.compile(r"<(/?)h([1-6])>")
_PRE = re.compile(r"(.*?)<pre>(.*)</pre>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pages:
    """What a PDF is made with. The fonts' families count, not their sizes."""

    sheet: Sheet
    text: QFont
    code: QFont


class Stopped(Exception):
    """Nobody wants the file any more."""


def write_pdf(
    shared: SharedConversation, t: Translator, pages: Pages, target: Path, stopped: Callable[[], bool] = bool
) -> None:
    """Write the file, whole or not at all. Blocks: call it on a thread. Raises NotExported, and Stopped."""
    write_whole(target, lambda new: _write(shared, t, pages, new, stopped))


def _write(shared: SharedConversation, t: Translator, pages: Pages, file: Path, stopped: Callable[[], bool]) -> None:
    loop = QEventLoop()  # gives the thread what the documents' timers want
    writer = QPdfWriter(str(file))
    writer.setResolution(_DPI)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM - 4)
    writer.setPageMargins(margins, QPageLayout.Unit.Millimeter)
    writer.setTitle(title_of(t, shared))
    writer.setCreator("DevFlow")
    document = _Document(pages, writer, stopped)
    for piece in sections(shared, t):
        document.add(piece)
    document.flush()
    written = document.draw(title_of(t, shared))
    document.free()
    file.write_bytes(name_glyphs_as_written(file.read_bytes(), written))
    del loop


class _Document:
    """One document that grows; it is laid out as it grows."""

    def __init__(self, pages: Pages, writer: QPdfWriter, stopped: Callable[[], bool]) -> None:
        self._writer = writer
        self._stopped = stopped
        self._text = QTextDocument()
        self._text.setUndoRedoEnabled(False)
        self._text.setDocumentMargin(0)
        self._text.setDefaultFont(_font(pages.text, _TEXT_PT))
        families = ", ".join(f'"{family}"' for family in pages.code.families())
        self._sheet = f"{pages.sheet.for_pages()}\npre, code {{ font-family: {families}; }}"
        self._text.setDefaultStyleSheet(self._sheet)
        self._small = _font(pages.text, _SMALL_PT)
        self._text.documentLayout().setPaintDevice(writer)
        self._ink = QPalette()  # paper is light, whatever the window is
        self._ink.setColor(QPalette.ColorRole.Text, QColor(pages.sheet.light["text"]))
        self._foot = _FOOT_PT * _DPI / 72
        self._width, self._height = float(writer.width()), float(int(writer.height() - self._foot))
        self._text.setPageSize(QSizeF(self._width, self._height))
        self._text.setDefaultTextOption(_tabs(self._text.defaultTextOption(), pages.code))
        self._cursor = QTextCursor(self._text)
        self._probe = QTextDocument()
        self._probe.setDefaultFont(self._text.defaultFont())
        self._probe.setDefaultStyleSheet(self._sheet)
        self._fresh = True
        self._waiting = ""

    def add(self, piece: str) -> None:
        for part in _steps(_for_pages(piece)):
            self._waiting += part
            if len(self._waiting) >= _STEP:
                self.flush()

    def flush(self) -> None:
        """Lay out what waits."""
        if self._stopped():
            raise Stopped
        html, self._waiting = self._waiting, ""
        if html:
            self._insert(html)

    def _insert(self, html: str) -> None:
        """At the end. Qt would put the first paragraph into the block that is there, without the paragraph's format."""
        self._probe.setHtml(html)
        if self._probe.isEmpty():
            return
        first = self._probe.firstBlock()
        plain = first.textList() is None and QTextCursor(first).currentTable() is None
        form = QTextBlockFormat(first.blockFormat()) if plain else QTextBlockFormat()
        letters = QTextCharFormat()
        if not plain:  # lists and tables leave the block before them empty: it must not be seen
            letters.setFontPointSize(1)
        if self._fresh:
            self._cursor.setBlockFormat(form)
            self._fresh = False
        else:
            self._cursor.movePosition(QTextCursor.MoveOperation.End)
            self._cursor.insertBlock(form, letters)
        self._cursor.insertHtml(html)

    def draw(self, title: str) -> frozenset[str]:
        """Draw every page with its foot; returns the characters that stand on them."""
        layout = self._text.documentLayout()
        count = self._text.pageCount()
        painter = QPainter(self._writer)
        try:
            for page in range(count):
                if self._stopped():
                    raise Stopped
                if page:
                    self._writer.newPage()
                shown = QRectF(0, page * self._height, self._width, self._height)
                context = QAbstractTextDocumentLayout.PaintContext()
                context.clip = shown.adjusted(0, _EDGE, 0, -_EDGE)
                context.palette = self._ink
                painter.save()
                painter.translate(0, -shown.top())
                painter.setClipRect(shown)
                layout.draw(painter, context)
                painter.restore()
                self._draw_foot(painter, f"{page + 1} / {count}")
        finally:
            painter.end()
        return frozenset(self._text.toPlainText()) | frozenset(f"{title}0123456789 /")

    def free(self) -> None:
        """Let Qt take it apart, which holds up nobody: let go of from Python it would hold Python's lock."""
        del self._cursor
        self._text.deleteLater()
        QCoreApplication.sendPostedEvents(self._text, QEvent.Type.DeferredDelete.value)

    def _draw_foot(self, painter: QPainter, words: str) -> None:
        painter.setFont(self._small)
        width = painter.fontMetrics().horizontalAdvance(words)
        painter.drawText(round((self._width - width) / 2), round(self._height + self._foot * 0.9), words)


def _steps(html: str) -> Iterator[str]:
    """The piece, and long code some lines at a time."""
    found = _PRE.fullmatch(html)
    if found is None:
        yield html
        return
    if found[1].strip():
        yield found[1]
    lines = found[2].split("\n")
    for start in range(0, len(lines), _LINES):
        ends = start + _LINES >= len(lines)
        gap = ' style="margin-bottom: 8px"' if ends else ""
        yield f"<pre{gap}>{chr(10).join(lines[start : start + _LINES])}</pre>"


def _for_pages(piece: str) -> str:
    """Headings as paragraphs, tables with lines: what Qt makes of them by itself is neither."""
    return _HEADING.sub(_as_paragraph, piece).replace("<table>", _TABLE)


def _as_paragraph(found: re.Match[str]) -> str:
    return "</p>" if found[1] else f'<p class="h{found[2]}">'


def _tabs(option: QTextOption, font: QFont) -> QTextOption:
    """In the screen's measure: Qt brings it to the paper's itself."""
    option.setTabStopDistance(QFontMetricsF(_font(font, _SMALL_PT)).horizontalAdvance(" " * _TAB))
    return option


def _font(font: QFont, points: float) -> QFont:
    made = QFont(font)
    made.setPointSizeF(points)
    for feature in ("calt", "liga", "clig", "dlig"):  # a glyph that stands for no one character is copied as none
        made.setFeature(QFont.Tag.fromString(feature), 0)
    return made
