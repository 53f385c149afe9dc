"""A tool call as one line that unfolds to its arguments and its output."""

from __future__ import annotations

import json
import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QVBoxLayout, QWidget

from devflow.domain.run import CallState, ToolCall
from devflow.domain.text.hidden import with_hidden_shown
from devflow.tools.call_words import arguments_of, outcome_words, target_of, verb_of
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.lines import Line
from devflow.ui.pages.chat.tool_words import icon_of
from devflow.ui.widgets import Label

_MAX_ROWS = 14
_ROW = 18


class ToolLine(QWidget):
    """`objectName` toolCall. Pressed, it shows arguments, output, and what went wrong."""

    def __init__(self, ctx: UiContext, call: ToolCall, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self.setObjectName("toolCall")
        self.head = _Head(ctx)
        self.head.toggled.connect(self._unfold)
        self._detail: QWidget | None = None
        self._output: LiveOutput | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.head)
        self.call = call
        self.show_call(call)

    def show_call(self, call: ToolCall) -> None:
        changed = call != self.call
        self.call = call
        self.head.show_call(call)
        if call.state is not CallState.EXECUTING:
            self._end_output()
        if changed and self._detail is not None:
            self._unfold(False)
            self._unfold(True)

    def show_output(self, text: str) -> None:
        """The newest output, below the line for as long as the call runs."""
        if not text or self.call.state is not CallState.EXECUTING:
            return
        if self._output is None:
            self._output = LiveOutput(self._ctx)
            self._column.insertWidget(1, self._output)
        self._output.show_text(text)

    def _end_output(self) -> None:
        if self._output is not None:
            self._column.removeWidget(self._output)
            self._output.hide()
            self._output.deleteLater()
            self._output = None

    def _unfold(self, on: bool) -> None:
        if self._detail is not None:
            self._column.removeWidget(self._detail)
            self._detail.hide()
            self._detail.deleteLater()
            self._detail = None
        if on:
            self._detail = _detail(self._ctx, self.call)
            self._column.addWidget(self._detail)


class _Head(Line):
    def __init__(self, ctx: UiContext) -> None:
        super().__init__(ctx)
        self.setCheckable(True)
        self._call: ToolCall | None = None

    def show_call(self, call: ToolCall) -> None:
        self._call = call
        words, _ = outcome_words(self._ctx.t, call)
        spoken = f"{verb_of(self._ctx.t, call.tool)} {target_of(call)}"
        self.setText(spoken)
        self.setAccessibleName(f"{spoken}, {words}" if words else spoken)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        call = self._call
        if call is None:
            return
        painter = QPainter(self)
        self.paint_icon(painter, 0, "chevron-down" if self.isChecked() else "chevron-right", self.words_color, 14)
        busy = call.state is CallState.EXECUTING
        self.paint_icon(
            painter, 22, "half-disc" if busy else icon_of(call.tool), "accent-fg" if busy else "text-muted", 16
        )
        words, color = outcome_words(self._ctx.t, call)
        until = self.paint_right(painter, words, color) - 12
        end = self.paint_words(painter, 46, verb_of(self._ctx.t, call.tool), "ui", "text", until)
        self.paint_words(painter, end + 8, target_of(call), "code-small", "text-muted", until)


def _detail(ctx: UiContext, call: ToolCall) -> QWidget:
    """Arguments, then the error, then the output; each in the words the model gave or got."""
    t = ctx.t
    holder = QFrame()
    holder.setProperty("role", "card")
    column = QVBoxLayout(holder)
    column.setContentsMargins(12, 10, 12, 12)
    column.setSpacing(6)
    arguments = arguments_of(call)
    text = json.dumps(arguments, ensure_ascii=False, indent=2) if arguments else call.arguments
    column.addWidget(Label(t("Arguments"), "small", "muted"))
    column.addWidget(CodeText(ctx, text, t("Arguments")))
    if call.reason:
        column.addWidget(Label(t("Denied: {reason}", reason=call.reason), "small", "muted", wrap=True))
    if call.error:
        column.addWidget(Label(call.error, "small", "danger", wrap=True))
    if call.result:
        column.addWidget(Label(t("Output"), "small", "muted"))
        column.addWidget(CodeText(ctx, call.result, t("Output")))
    return holder


class LiveOutput(QFrame):
    """What a tool prints while it runs: as tall as it has become, at most fourteen rows. Follows its end until the
    reader looks elsewhere in it."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self.setObjectName("liveOutput")
        self.setProperty("role", "card")
        self._text = WrappedCode(ctx, "", ctx.t("Output so far"))
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.addWidget(self._text)

    def show_text(self, text: str) -> None:
        bar = self._text.verticalScrollBar()
        follows = bar.value() >= bar.maximum()
        shown = text.rstrip("\n")
        if shown == self._text.toPlainText():
            return
        place = bar.value()
        self._text.setPlainText(shown)
        self._text.fit(at_least=self._text.height())  # what shrinks and grows again would shake the page
        bar.setValue(bar.maximum() if follows else min(place, bar.maximum()))

    @property
    def text(self) -> str:
        return self._text.toPlainText()


class CodeText(QPlainTextEdit):
    """Selectable monospaced text, as tall as its lines up to fourteen. Hidden characters in it are shown."""

    def __init__(self, ctx: UiContext, text: str, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(ctx.theme.font("code-small"))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.document().setDocumentMargin(0)
        self.setPlainText(with_hidden_shown(text))
        self.fit()

    def fit(self, *, at_least: int = 0) -> None:
        """As tall as its lines, and no smaller than `at_least` px."""
        rows = min(max(self.document().blockCount(), 1), _MAX_ROWS)
        line = max(self.fontMetrics().lineSpacing(), _ROW - 2)
        self.setFixedHeight(max(rows * line + 12, at_least))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """At its end the wheel scrolls the transcript on."""
        bar = self.verticalScrollBar()
        down = event.angleDelta().y() < 0
        if (down and bar.value() >= bar.maximum()) or (not down and bar.value() <= bar.minimum()):
            event.ignore()
        else:
            super().wheelEvent(event)


class WrappedCode(CodeText):
    """The same with lines wrapped, never cut, as tall as that makes it up to fourteen rows."""

    def __init__(self, ctx: UiContext, text: str, name: str) -> None:
        super().__init__(ctx, text, name)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def fit(self, *, at_least: int = 0) -> None:
        around = self.height() - self.viewport().height()
        self.setFixedHeight(max(around + math.ceil(self._text_height()) + 1, at_least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def _text_height(self) -> float:
        """In px, of the lines as they are wrapped now."""
        height, most = 0.0, _MAX_ROWS * self.fontMetrics().lineSpacing()
        block = self.document().begin()
        while block.isValid() and height < most:
            height += self.blockBoundingRect(block).height()
            block = block.next()
        return min(height, most)
