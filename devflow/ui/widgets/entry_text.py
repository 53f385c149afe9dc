"""An entry as it is read: title, prose, tags, in a column that scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QTextEdit, QVBoxLayout, QWidget

from devflow.domain.knowledge import Entry
from devflow.domain.text.passages import spans
from devflow.ui.context import UiContext
from devflow.ui.widgets.chips import Chip, Label
from devflow.ui.widgets.layouts import FlowLayout
from devflow.ui.widgets.markdown import MarkdownView
from devflow.ui.widgets.markdown.stream import safe_cut

EDGE = 28
PIECE = 4_000
"""Characters of a text that are rendered in one go."""


class DetailScroll(QScrollArea):
    """A column at most `width` px wide, 28 px from the pane's edges; put widgets into `column`."""

    def __init__(self, width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        page.setProperty("role", "page")
        body = QWidget()
        body.setMaximumWidth(width)
        self.column = QVBoxLayout(body)
        self.column.setContentsMargins(0, 17, 0, 72)
        self.column.setSpacing(0)
        row = QHBoxLayout(page)
        row.setContentsMargins(EDGE, 0, EDGE, 0)
        row.setSpacing(0)
        row.addWidget(body, 1000)
        row.addStretch(1)
        self.setWidget(page)

    def to_top(self) -> None:
        self.verticalScrollBar().setValue(0)


class EntryText(QWidget):
    """Title, a line of the caller's under it (`under_title`), the rendered text, the tags.

    `mark(terms)` puts the match ground under the searched terms.
    """

    def __init__(self, ctx: UiContext, under_title: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = ctx
        self._terms: tuple[str, ...] = ()
        self._tags: tuple[str, ...] | None = None
        self._content = ""
        self._rest = ""
        self._pieces = QTimer(self)
        self._pieces.setSingleShot(True)
        self._pieces.setInterval(10)
        self._pieces.timeout.connect(self._show_piece)
        self.title = Label("", "title", wrap=True)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.prose = MarkdownView(ctx)
        self.prose.setAccessibleName(ctx.t("Content"))
        self.prose.set_citing(False)
        self.prose.link_activated.connect(ctx.shell.open_link)
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.title)
        if under_title is not None:
            column.addSpacing(4)
            column.addWidget(under_title)
        self._head = column.count()
        column.addSpacing(10)
        column.addWidget(self.prose)
        column.addSpacing(10)
        column.addWidget(self._chips)
        ctx.theme.changed.connect(self._mark_again)

    def put_under_title(self, widget: QWidget) -> None:
        """One more line of the caller's, above the prose; hidden it takes no room."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(self._head, widget)

    def show_entry(self, entry: Entry) -> None:
        self.title.setText(entry.title)
        if self._content != entry.content:
            self._content = entry.content
            self._show_content(entry.content)
        if self._tags != entry.tags:
            self._tags = entry.tags
            self._flow.clear()
            for tag in entry.tags:
                self._flow.addWidget(Chip(tag, "tag"))
            self._chips.setVisible(bool(entry.tags))
            self._chips.updateGeometry()
        self._mark_again()

    def _show_content(self, content: str) -> None:
        """A long text comes in pieces, so that none of them holds the window up."""
        self._pieces.stop()
        cut = safe_cut(content[:PIECE]) if len(content) > PIECE else 0
        self._rest = content[cut:] if cut else ""
        self.prose.set_markdown(content[:cut] if cut else content)
        if self._rest:
            self._pieces.start()

    def _show_piece(self) -> None:
        cut = safe_cut(self._rest[:PIECE]) if len(self._rest) > PIECE else 0
        piece, self._rest = (self._rest[:cut], self._rest[cut:]) if cut else (self._rest, "")
        self.prose.append(piece)
        self.prose.finish()
        if self._rest:
            self._pieces.start()
        else:
            self._mark_again()

    def mark(self, terms: tuple[str, ...]) -> None:
        self._terms = terms
        self._mark_again()

    def _mark_again(self) -> None:
        marks: list[QTextEdit.ExtraSelection] = []
        if self._terms:
            for start, end in _document_spans(self.prose.document().toPlainText(), self._terms):
                mark = QTextEdit.ExtraSelection()
                cursor = QTextCursor(self.prose.document())
                cursor.setPosition(start)
                cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                mark.cursor = cursor
                mark.format.setBackground(self._look.theme.color("match"))
                marks.append(mark)
        self.prose.setExtraSelections(marks)


def _document_spans(text: str, terms: tuple[str, ...]) -> list[tuple[int, int]]:
    """Spans in the document's own positions: characters beyond the basic plane count two there."""
    found = spans(text, terms)
    if not found or max(text) <= "\uffff":
        return list(found)
    at = [0]
    for char in text:
        at.append(at[-1] + (2 if char > "\uffff" else 1))
    return [(at[start], at[end]) for start, end in found]
