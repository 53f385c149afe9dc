"""Markdown tokens into a QTextDocument through one cursor.

HTML is shown as text; what stands inside a block is written by `Inline`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from PySide6.QtGui import (
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrame,
    QTextLength,
    QTextList,
    QTextListFormat,
    QTextTableFormat,
)

from devflow.sharing.highlight import highlight, language_label
from devflow.ui.look import Look
from devflow.ui.widgets.markdown import formats as f
from devflow.ui.widgets.markdown.inline import Inline

_INDENT = 20
_HEADINGS = {1: ("title", 18, 6), 2: ("heading", 16, 4), 3: ("heading", 14, 4)}


@dataclass(slots=True)
class Fence:
    """A rendered code block: its frame, the label over it and the code as it was written."""

    frame: QTextFrame
    label: str
    code: str


@dataclass(slots=True)
class _Where:
    """The containers around the current block."""

    lists: list[QTextList | None] = field(default_factory=list)
    formats: list[QTextListFormat] = field(default_factory=list)
    quote: int = 0
    tight: bool = False


class Renderer:
    """Writes at the cursor's position; remembers the code blocks for the view's copy buttons."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._theme = look.theme
        self._parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        self.inline = Inline(look)
        self.text_color = "text"
        self.fences: list[Fence] = []
        self._fresh = True
        self._item_pending = False

    def reset(self) -> None:
        """The document is empty: its one block is free to use."""
        self.fences.clear()
        self._fresh = True

    @property
    def fresh(self) -> bool:
        """Whether the cursor stands in a block that holds nothing yet."""
        return self._fresh

    @fresh.setter
    def fresh(self, value: bool) -> None:
        self._fresh = value

    def render(self, cursor: QTextCursor, source: str) -> None:
        """Append the blocks of `source`."""
        self._blocks(cursor, self._parser.parse(source), _Where())
        self._tidy(cursor)

    def render_open_fence(self, cursor: QTextCursor, language: str, code: str) -> None:
        """Append a fence that is still growing: plain, to be coloured when it closes."""
        self._fence(cursor, language, code, _Where(), colour=False)
        self._tidy(cursor)

    def _tidy(self, cursor: QTextCursor) -> None:
        if self._fresh:
            block, text = f.hidden_block()
            cursor.setBlockFormat(block)
            cursor.setBlockCharFormat(text)

    # blocks

    def _blocks(self, cursor: QTextCursor, tokens: Sequence[Token], where: _Where) -> None:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            match token.type:
                case "paragraph_open" | "heading_open":
                    self._text_block(cursor, token, tokens[index + 1], where)
                    index += 2
                case "bullet_list_open" | "ordered_list_open":
                    self._open_list(token, where)
                case "bullet_list_close" | "ordered_list_close":
                    where.lists.pop()
                    where.formats.pop()
                    self._after_list(cursor, where)
                case "list_item_open":
                    self._item_pending = True
                case "blockquote_open":
                    where.quote += 1
                case "blockquote_close":
                    where.quote -= 1
                case "fence" | "code_block":
                    language = token.info.strip().split(" ")[0] if token.info.strip() else ""
                    self._fence(cursor, language, token.content.removesuffix("\n"), where, colour=True)
                case "hr":
                    self._rule(cursor)
                case "table_open":
                    end = _matching(tokens, index)
                    self._table(cursor, tokens[index : end + 1])
                    index = end
                case _:
                    pass
            index += 1

    def _start(self, cursor: QTextCursor, block: QTextBlockFormat, text: QTextCharFormat) -> None:
        if self._fresh:
            current = cursor.currentList()
            if current is not None:
                current.remove(cursor.block())
            cursor.setBlockFormat(block)
            cursor.setBlockCharFormat(text)
            cursor.setCharFormat(text)
            self._fresh = False
        else:
            cursor.insertBlock(block, text)

    def _text_block(self, cursor: QTextCursor, opener: Token, inline: Token, where: _Where) -> None:
        role, top, bottom = "body", 0, 8
        color = self.text_color if not where.quote else "text-muted"
        weight: QFont.Weight | None = None
        if opener.type == "heading_open":
            level = int(opener.tag[1])
            role, top, bottom = _HEADINGS.get(level, ("body", 12, 4))
            weight = QFont.Weight.DemiBold
            if cursor.position() == 0:
                top = 0
        elif opener.hidden:
            bottom = 0
        block = f.paragraph(self._theme, role, top=top, bottom=bottom)
        text = f.char(self._theme, role, color)
        if weight is not None:
            text.setFontWeight(weight)
        if where.quote:
            block.setProperty(f.QUOTE, where.quote)
            block.setLeftMargin(14 * where.quote)
        if where.lists and not self._item_pending:
            block.setIndent(len(where.lists))
        self._start(cursor, block, text)
        if where.lists and self._item_pending:
            self._join_list(cursor, where)
        self.inline.write(cursor, inline.children or [], text)

    def _open_list(self, token: Token, where: _Where) -> None:
        made = QTextListFormat()
        depth = len(where.lists) + 1
        if token.type == "ordered_list_open":
            made.setStyle(QTextListFormat.Style.ListDecimal)
            made.setStart(int(token.attrGet("start") or 1))
        else:
            # Qt sets its own marks close to the text; the view paints them where the design has them.
            made.setStyle(QTextListFormat.Style.ListStyleUndefined)
            made.setProperty(f.BULLET, depth)
        made.setIndent(depth)
        where.lists.append(None)
        where.formats.append(made)

    def _join_list(self, cursor: QTextCursor, where: _Where) -> None:
        self._item_pending = False
        depth = where.formats[-1].property(f.BULLET)
        if depth:
            marked = cursor.blockFormat()
            marked.setProperty(f.BULLET, depth)
            cursor.setBlockFormat(marked)
        current = where.lists[-1]
        if current is None:
            where.lists[-1] = cursor.createList(where.formats[-1])
        else:
            current.add(cursor.block())

    def _after_list(self, cursor: QTextCursor, where: _Where) -> None:
        """Tight items have no space between them; what follows the whole list does."""
        self._item_pending = False
        if not where.lists and not self._fresh:
            last = cursor.blockFormat()
            last.setBottomMargin(8)
            cursor.mergeBlockFormat(last)

    def _rule(self, cursor: QTextCursor) -> None:
        block = f.paragraph(self._theme, "small", top=4, bottom=12)
        block.setProperty(f.RULE, 1)
        self._start(cursor, block, f.char(self._theme))
        # Qt gives an empty block the format of the next one when text behind it is replaced.
        cursor.insertText(f.PAD)

    def _fence(self, cursor: QTextCursor, language: str, code: str, where: _Where, *, colour: bool) -> None:
        if self._fresh:
            self._tidy(cursor)
        self._item_pending = False
        frame = cursor.insertFrame(f.code_frame(len(self.fences), left=_INDENT * len(where.lists)))
        label = language_label(language) if language else self._look.t("Text")
        self.fences.append(Fence(frame, label, code))
        inside = frame.firstCursorPosition()
        block = QTextBlockFormat()
        block.setLineHeight(self._theme.line_height("code"), f.FIXED)
        block.setLeftMargin(f.CODE_PAD - 7)
        plain = f.char(self._theme, "code", "code-text")
        inside.setBlockFormat(block)
        inside.setBlockCharFormat(plain)
        runs = highlight(code, language) if colour else [(code, "code-text")]
        for text, token in runs:
            plain.setForeground(self._theme.color(token))
            # A line separator keeps the code one paragraph: one layout, and it copies with its line breaks.
            inside.insertText(text.expandtabs(4), plain)
        cursor.setPosition(frame.lastPosition() + 1)
        self._fresh = True

    def _table(self, cursor: QTextCursor, tokens: Sequence[Token]) -> None:
        rows = _table_rows(tokens)
        if not rows:
            return
        if self._fresh:
            self._tidy(cursor)
        made = QTextTableFormat()
        made.setBorder(0)
        made.setCellSpacing(0)
        made.setCellPadding(6)
        made.setTopMargin(8)
        made.setBottomMargin(12)
        made.setHeaderRowCount(1)
        made.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        columns = max(len(row) for row in rows)
        table = cursor.insertTable(len(rows), columns, made)
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                inside = table.cellAt(r, c).firstCursorPosition()
                block = f.paragraph(self._theme, "ui", bottom=0)
                block.setLeftMargin(6)
                text = f.char(self._theme, "small" if r == 0 else "ui", "text-muted" if r == 0 else self.text_color)
                inside.setBlockFormat(block)
                inside.setBlockCharFormat(text)
                self.inline.write(inside, cell, text)
        cursor.setPosition(table.lastPosition() + 1)
        self._fresh = True


def _matching(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


def _table_rows(tokens: Sequence[Token]) -> list[list[list[Token]]]:
    rows: list[list[list[Token]]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.children or [])
    return rows
