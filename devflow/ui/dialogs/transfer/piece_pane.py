"""The right side of an import: the chosen piece's words, or how they differ from what they stand beside."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.conversation import Role
from devflow.domain.knowledge import Entry
from devflow.transfer.pieces import Bad
from devflow.transfer.preview import ChatRow, Row
from devflow.ui.context import UiContext
from devflow.ui.dialogs.transfer import words
from devflow.ui.dialogs.transfer.found import Found, detail, title
from devflow.ui.models.words import kind_name
from devflow.ui.widgets import Chip, Label, MarkdownView, ProseDiff

SHOWN_MAX = 20_000
MESSAGES_SHOWN = 6


class PiecePane(QScrollArea):
    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        self.setObjectName("importPiece")
        self.setAccessibleName(ctx.t("What it says"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.name = Label("", "heading", wrap=True)
        self.about = Label("", "small", "muted", wrap=True)
        self.against = Label("", "small-strong", "warning", wrap=True)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(6)
        self._words = MarkdownView(ctx)
        self._diff = ProseDiff(ctx)
        self._stack = QStackedWidget()
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(20, 14, 20, 16)
        column.setSpacing(8)
        for widget in (self.name, self.about):
            column.addWidget(widget)
        column.addLayout(self._chips)
        column.addWidget(self.against)
        column.addWidget(self._words)
        column.addWidget(self._diff)
        column.addStretch(1)
        self.setWidget(holder)
        self.show_found(None)

    def show_found(self, line: Found | None) -> None:
        self.verticalScrollBar().setValue(0)
        self._show_chips(line)
        other = _beside(line)
        self.name.setText("" if line is None else title(line))
        self.about.setText("" if line is None else self._about(line))
        self.against.setText(self._against(line, other))
        self.against.setVisible(bool(self.against.text()))
        text = _text(self._ctx, line)[:SHOWN_MAX]
        self._words.setVisible(other is None and bool(text))
        self._diff.setVisible(other is not None)
        if other is not None:
            self._diff.set_texts(other.content[:SHOWN_MAX], text)
        else:
            self._words.set_markdown(text)

    def _about(self, line: Found) -> str:
        match line:
            case Row():
                piece = line.piece
                where = f"{piece.file}:{piece.line}" if piece.line > 1 else piece.file
                return f"{words.format_name(self._ctx.t, piece.format)} · {where}"
            case ChatRow() | Bad():
                return detail(self._ctx.t, line)

    def _against(self, line: Found | None, other: Entry | None) -> str:
        t = self._ctx.t
        if not isinstance(line, Row):
            return ""
        if other is not None:
            return t("How it differs from “{title}”", title=other.title)
        return words.counterpart(t, line)

    def _show_chips(self, line: Found | None) -> None:
        while self._chips.count():
            taken = self._chips.takeAt(0)
            if taken is not None and (widget := taken.widget()) is not None:
                widget.deleteLater()
        if isinstance(line, Row):
            draft = line.piece.draft
            self._chips.addWidget(Chip(kind_name(self._ctx.t, draft.kind), draft.kind.value))
            for tag in draft.tags[:6]:
                self._chips.addWidget(Chip(tag, "tag"))
            self._chips.addStretch(1)


def _beside(line: Found | None) -> Entry | None:
    """The entry that the piece is laid beside: the one it resembles, or the one it once became."""
    if not isinstance(line, Row):
        return None
    if line.alike:
        return line.alike[0].entry
    same = line.counterpart
    return same if same is not None and same.content != line.piece.draft.content else None


def _text(ctx: UiContext, line: Found | None) -> str:
    match line:
        case Row():
            return line.piece.draft.content
        case ChatRow():
            t = ctx.t
            names = {Role.USER: t("You"), Role.ASSISTANT: words.format_name(t, line.chat.format)}
            first = line.chat.conversation.messages[:MESSAGES_SHOWN]
            return "\n\n".join(f"**{names.get(each.role, '')}**\n\n{each.content[:2_000]}" for each in first)
        case _:
            return ""
