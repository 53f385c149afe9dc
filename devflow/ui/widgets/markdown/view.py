"""The Markdown view: as tall as its content, streaming at most thirty times a second."""

from __future__ import annotations

import math
import re
from time import perf_counter

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRectF, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QHelpEvent, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QToolTip, QWidget

from devflow.ui.look import Look
from devflow.ui.models.page_links import PageLinks
from devflow.ui.widgets.buttons import IconButton
from devflow.ui.widgets.markdown import formats as f
from devflow.ui.widgets.markdown.inline import References, allowed
from devflow.ui.widgets.markdown.render import Renderer
from devflow.ui.widgets.markdown.stream import open_fence, safe_cut
from devflow.ui.widgets.markdown.underlay import fence_rect, paint_underlay

_FRAME_MS = 33
_SLOW_MS = 15
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s", re.MULTILINE)


class MarkdownView(QTextBrowser):
    """Read-only Markdown. `link_activated` carries allowed addresses only; give it to `ctx.shell.open_link`."""

    link_activated = Signal(str)
    height_changed = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._renderer = Renderer(look)
        self._done: list[str] = []
        self._tail = ""
        self._open_at = 0
        self._fences_done = 0
        self._fresh_at_open = True
        self._fence_shown: str | None = None
        self.streaming = False
        self._buttons: list[IconButton] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._render_open)
        # Sizing from inside a layout pass re-enters it: fit after the edit, or on the next turn of the loop.
        self._fitting = QTimer(self)
        self._fitting.setSingleShot(True)
        self._fitting.setInterval(0)
        self._fitting.timeout.connect(self._fit)
        self._prepare()
        look.theme.changed.connect(self._again)

    def _prepare(self) -> None:
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        document = self.document()
        document.setDocumentMargin(0)
        document.setIndentWidth(20)
        document.setDefaultFont(self._look.theme.font("body"))
        document.documentLayout().documentSizeChanged.connect(self._fitting.start)
        self.anchorClicked.connect(self._clicked)
        self.setFixedHeight(0)

    @property
    def source(self) -> str:  # type: ignore[override]
        """The Markdown shown, whole."""
        return "".join(self._done) + self._tail

    def set_markdown(self, text: str) -> None:
        """Show `text` at once."""
        self._clear()
        self._tail = text
        self._render_tail(text)
        self._freeze(text)

    def set_references(self, references: References) -> None:
        """Labels that become chips; renders again when text is there already."""
        if references == self._renderer.inline.references:
            return
        self._renderer.inline.references = dict(references)
        if self._done or self._tail:
            self._again()

    def set_pages(self, pages: PageLinks | None) -> None:
        """What the names of pages in the text lead to; renders again when text is there already."""
        if pages == self._renderer.inline.pages:
            return
        self._renderer.inline.pages = pages
        if self._done or self._tail:
            self._again()

    def add_markdown(self, text: str) -> None:
        """More finished blocks below what is there: a long text comes in pieces."""
        self._render_tail(text)
        self._freeze(text)

    def expect_width(self, width: int) -> None:
        """The width in px it is about to have: its height is then right before it is first shown."""
        self.resize(width, self.height())
        self.document().setTextWidth(width)

    def set_citing(self, citing: bool) -> None:
        """Whether `[K1]` is a reference here (default) or just text, as in what a human typed."""
        self._renderer.inline.citing = citing

    def set_muted(self, muted: bool) -> None:
        """Prose in the secondary colour (excerpts, thinking)."""
        self._renderer.text_color = "text-muted" if muted else "text"
        self._again()

    def append(self, text: str) -> None:
        """More text of a stream; it is drawn within a thirtieth of a second, in one go with what else arrives."""
        self.streaming = True
        self._tail += text
        if not self._timer.isActive():
            self._timer.start(_FRAME_MS)

    def finish(self) -> None:
        """The stream is over: draw what is left, take the caret away. The text does not move."""
        self._timer.stop()
        self.streaming = False
        whole = self.source
        if _DEFINITION.search(whole):
            self.set_markdown(whole)  # a definition may have come after the link that needs it
            return
        self._fence_shown = None
        self._render_open()
        self._freeze(self._tail)
        self.viewport().update()

    # rendering

    def _clear(self) -> None:
        self._timer.stop()
        self.document().clear()
        self._done.clear()
        self._tail = ""
        self._open_at = 0
        self._fences_done = 0
        self._fresh_at_open = True
        self._fence_shown = None
        self._renderer.reset()

    def _again(self) -> None:
        source, streaming = self.source, self.streaming
        self.set_markdown(source)
        self.streaming = streaming

    def _render_open(self) -> None:
        began = perf_counter()
        cut = safe_cut(self._tail)
        if cut:
            finished, rest = self._tail[:cut], self._tail[cut:]
            self._render_tail(finished)
            self._freeze(finished)
            self._tail = rest
        if self._tail.strip():
            self._render_tail(self._tail)
        self.viewport().update()
        took = (perf_counter() - began) * 1000
        if took > _SLOW_MS and self.streaming:
            # One giant paragraph costs more with each word: draw it less often instead of falling behind.
            self._timer.start(round(took * 4))

    def _render_tail(self, text: str) -> None:
        """Draw `text` in place of the open block."""
        fence = open_fence(text) if self.streaming else None
        if fence is not None and self._fence_shown is not None and fence[1].startswith(self._fence_shown):
            self._grow_fence(fence[1])
            return
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        self._remove_open(cursor)
        if fence is not None:
            self._renderer.render_open_fence(cursor, *fence)
            self._fence_shown = fence[1]
        else:
            self._renderer.render(cursor, text)
            self._fence_shown = None
        cursor.endEditBlock()
        self._fit()

    def _grow_fence(self, code: str) -> None:
        shown = self._fence_shown or ""
        fence = self._renderer.fences[-1]
        cursor = fence.frame.lastCursorPosition()
        cursor.insertText(code[len(shown) :].expandtabs(4), f.char(self._look.theme, "code", "code-text"))
        fence.code = code
        self._fence_shown = code
        self._fit()

    def _remove_open(self, cursor: QTextCursor) -> None:
        cursor.setPosition(min(self._open_at, self.document().characterCount() - 1))
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self._renderer.fences[self._fences_done :]
        self._renderer.fresh = self._fresh_at_open

    def _freeze(self, text: str) -> None:
        """What was drawn last is final; the next block goes behind it."""
        self._done.append(text)
        self._tail = ""
        self._open_at = self.document().characterCount() - 1
        self._fences_done = len(self._renderer.fences)
        self._fresh_at_open = self._renderer.fresh
        self._fence_shown = None

    # geometry

    def _fit(self) -> None:
        self._fitting.stop()
        height = math.ceil(self.document().size().height())
        if height != self.height():
            self.setFixedHeight(height)
            self.height_changed.emit(height)
        self._place_buttons()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_buttons()

    def sizeHint(self) -> QSize:
        return QSize(400, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.height())

    def _place_buttons(self) -> None:
        fences = self._renderer.fences
        while len(self._buttons) < len(fences):
            button = IconButton(self._look, "copy", self._look.t("Copy code"), small=True, parent=self.viewport())
            button.setObjectName("copyCodeButton")
            button.clicked.connect(self._copy_code)
            self._buttons.append(button)
        for index, button in enumerate(self._buttons):
            shown = index < len(fences)
            if shown:
                rect = fence_rect(self.document(), fences[index].frame)
                button.move(round(rect.right()) - 31, round(rect.top()) + 3)
            button.setVisible(shown)

    def _copy_code(self) -> None:
        index = self._buttons.index(self.sender())  # type: ignore[arg-type]
        QGuiApplication.clipboard().setText(self._renderer.fences[index].code)
        button = self._buttons[index]
        button.set_icon("check")
        button.set_name(self._look.t("Copied"))
        QTimer.singleShot(1600, button, self._copied_shown)

    def _copied_shown(self) -> None:
        for button in self._buttons:
            button.set_icon("copy")
            button.set_name(self._look.t("Copy code"))

    # painting and pointing

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        visible = QRectF(event.rect())
        paint_underlay(painter, self.document(), visible, self._renderer.fences, self._look.theme)
        if self.streaming:
            self._paint_caret(painter)
        painter.end()
        super().paintEvent(event)

    def _paint_caret(self, painter: QPainter) -> None:
        cursor = QTextCursor(self.document())
        if self._fence_shown is not None and self._renderer.fences:
            cursor = self._renderer.fences[-1].frame.lastCursorPosition()
        else:
            cursor.movePosition(QTextCursor.MoveOperation.End)
        rect = self.cursorRect(cursor)
        top = rect.center().y() - 7
        painter.fillRect(QRectF(rect.left() + 2, top, 7, 15), self._look.theme.color("accent"))

    def toPlainText(self) -> str:
        """The text as read, without the room inside painted grounds."""
        return super().toPlainText().replace(f.PAD, "")

    def createMimeDataFromSelection(self) -> QMimeData:
        made = QMimeData()
        text = self.textCursor().selection().toPlainText()
        made.setText(text.replace(f.PAD, ""))
        return made

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the transcript scrolls, never a single message

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self._tip(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def _tip(self, point: QPoint) -> str:
        """A link's title and where it leads, before it is followed."""
        made = self.cursorForPosition(point).charFormat()
        title = str(made.property(f.TITLE) or "")
        href = self.anchorAt(point)
        address = "" if href.startswith("devflow:") else href
        return "\n".join(part for part in (title, address) if part)

    def _clicked(self, url: QUrl) -> None:
        address = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        if allowed(address):
            self.link_activated.emit(address)


class CodeBlock(MarkdownView):
    """One bordered code block with its language and a copy button, outside any Markdown."""

    def __init__(self, look: Look, code: str, language: str = "", parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self.set_code(code, language)

    def set_code(self, code: str, language: str = "") -> None:
        longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
        fence = "`" * max(3, longest + 1)
        self.set_markdown(f"{fence}{language}\n{code}\n{fence}")
