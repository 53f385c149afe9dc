"""The transcript: the turns around where the reader is, and a scroll position that nothing but the reader moves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.pages.chat.answer_block import References
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.live_text import LiveTexts
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.pages.chat.turn_block import TurnBlock
from devflow.ui.pages.chat.turn_views import TurnView
from devflow.ui.widgets import Button

COLUMN = 760
_PADDING, _BOTTOM = 24, 8
_NEWEST = 50
"""Turns loaded when a conversation opens: about a hundred messages."""
_MORE = 20
_KEPT = 160
"""So many turns are kept as widgets; beyond, those far from the reader go."""
_NEAR_PX = 900
_SLICE_S, _PAUSE_S = 0.012, 0.002
_AT_END_PX = 32


class Transcript(QScrollArea):
    """`objectName` messageView. `show_turns` replaces or updates; streaming reaches the blocks by message id.

    It follows the end only while the reader is there. Anywhere else the line the reader looks at stays where it is,
    whatever grows above or below.
    """

    older_wanted = Signal(str)
    """A user message that is about to be shown, with what follows it."""

    def __init__(self, ctx: UiContext, acts: TurnActs, live: LiveTexts) -> None:
        super().__init__()
        self._ctx = ctx
        self._acts = acts
        self._live = live
        self._turns: tuple[TurnView, ...] = ()
        self._references: References = {}
        self._first = self._end = 0
        self._blocks: dict[str, TurnBlock] = {}
        self._following = True
        self._moving = False
        self._anchor: tuple[TurnBlock, int] | None = None
        self._filling: asyncio.Task[None] | None = None
        self.setObjectName("messageView")
        self.setAccessibleName(ctx.t("Conversation"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = _Content(self)
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(_PADDING, _PADDING, _PADDING, _BOTTOM)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        self.setWidget(self._content)
        self.pill = Button(ctx, ctx.t("New content"), icon="arrow-down", small=True, parent=self)
        self.pill.setObjectName("newContentPill")
        self.pill.clicked.connect(self.to_end)
        self.pill.hide()
        self._content.laid_out.connect(self._keep_place)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        bar.rangeChanged.connect(self._keep_place)

    # what it shows

    @property
    def turns(self) -> tuple[TurnView, ...]:
        return self._turns

    @property
    def blocks(self) -> tuple[TurnBlock, ...]:
        """Those that exist as widgets, oldest first."""
        loaded = self._turns[self._first : self._end]
        return tuple(self._blocks[turn.user.id] for turn in loaded if turn.user.id in self._blocks)

    @property
    def following(self) -> bool:
        return self._following

    def show_turns(
        self, turns: Sequence[TurnView], marks: References, *, fresh: bool, at_message: str | None = None
    ) -> None:
        """`fresh`: another conversation, shown from its end (or at `at_message`). Else only what differs changes."""
        before, self._turns = self._turns, tuple(turns)
        self._references = marks
        if fresh:
            self._clear()
            place = self._place_of(at_message)
            self._following = place is None
            self._end = len(turns) if place is None else min(len(turns), place + _MORE)
            self._first = self._end
            first = max(0, self._end - _NEWEST if place is None else place - _MORE // 2)
            self._fill_upwards(first, at_message)
            return
        self._adapt(before)

    def append(self, message_id: str, text: str, *, thinking: str | None = None) -> None:
        """Streamed text of a message that is shown; `thinking` is the whole of it so far."""
        if not self._blocks or not self._turns:
            return
        block = self._blocks.get(self._turns[-1].user.id)
        answer = block.answer(message_id) if block is not None else None
        if answer is None:
            return
        if thinking is not None:
            answer.append_thinking(thinking)
        else:
            answer.append(text)
        self._tell_new()

    def finish(self, message_id: str) -> None:
        for block in self._blocks.values():
            if (answer := block.answer(message_id)) is not None:
                answer.finish()

    def card(self) -> ApprovalCard | None:
        """The first card that waits for a decision."""
        return next((card for block in self.blocks for card in block.cards), None)

    def block_of(self, message_id: str) -> TurnBlock | None:
        return next((block for block in self._blocks.values() if block.holds(message_id)), None)

    def show_widget(self, widget: QWidget) -> None:
        """Scroll as little as needed to have `widget` on screen; the reader is then there."""
        top = widget.mapTo(self._content, widget.rect().topLeft()).y()
        self._following = False
        self._set_value(max(0, top - 48))
        self._remember()

    def to_end(self) -> None:
        """Go to the newest and follow it."""
        if self._end < len(self._turns):
            self.show_turns(self._turns, self._references, fresh=True)
            return
        self._following = True
        self._set_value(self.verticalScrollBar().maximum())
        self._tell_new()

    # blocks come and go

    def _clear(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
            self._filling = None
        for block in self._blocks.values():
            self._drop(block)
        self._blocks.clear()
        self._first = self._end = 0
        self._anchor = None
        self.pill.hide()

    def _fill_upwards(self, first: int, at_message: str | None = None) -> None:
        """Build the newest at once, the older in slices of 12 ms, each at an idle moment."""
        self._content.setUpdatesEnabled(False)
        self._fill_slice(first, enough=max(self.viewport().height(), 400))
        self._content.setUpdatesEnabled(True)
        if at_message is not None:
            self._settle()
            if (block := self.block_of(at_message)) is not None:
                self.show_widget(block)
        if self._first > first and self._filling is None:
            self._filling = self._ctx.tasks.launch(self._fill(first, at_message), what="fill transcript", owner=self)

    async def _fill(self, first: int, at_message: str | None) -> None:
        while self._first > first:
            # Not 0: qasync's zero timers follow each other without a chance for Qt's own events between them.
            await asyncio.sleep(_PAUSE_S)
            self._fill_slice(first)
        self._filling = None
        if at_message is not None:
            self._settle()
            if (block := self.block_of(at_message)) is not None:
                self.show_widget(block)

    def _fill_slice(self, first: int, enough: int = 0) -> None:
        began, height = time.perf_counter(), 0
        while self._first > first:
            self._first -= 1
            block = self._make(self._turns[self._first])
            self._column.insertWidget(0, block)
            block.show()  # now: a layout passes over what is shown later, and the place would be lost for a frame
            height += block.sizeHint().height() if enough else 0
            if (not enough or height > enough) and time.perf_counter() - began > _SLICE_S:
                break
        if not self._following:
            self._settle()
            self._keep_place()

    def _adapt(self, before: tuple[TurnView, ...]) -> None:
        same = _common(before, self._turns)
        at_end = self._end >= len(before)
        for gone in before[same:]:
            if (block := self._blocks.pop(gone.user.id, None)) is not None:
                self._drop(block)
        self._end = min(self._end, same) if not at_end else same
        self._first = min(self._first, self._end)
        if at_end:
            self._add_below(self._turns[same:])
            self._end = len(self._turns)
        last = self._turns[-1].user.id if self._turns else ""
        for turn in self._turns[self._first : self._end]:
            block = self._blocks.get(turn.user.id)
            if block is not None:
                block.show_turn(turn, self._references, last=turn.user.id == last)
        self._tell_new()

    def _add_below(self, turns: Sequence[TurnView]) -> None:
        for turn in turns:
            block = self._make(turn)
            self._column.insertWidget(self._column.count() - 1, block)
            block.show()

    def _make(self, turn: TurnView) -> TurnBlock:
        last = turn is self._turns[-1]
        block = TurnBlock(self._ctx, self._acts, turn, self._live.of, self._references, self._text_width())
        if last:
            block.show_turn(turn, self._references, last=True)
        self._blocks[turn.user.id] = block
        return block

    def _drop(self, block: TurnBlock) -> None:
        if self._anchor is not None and self._anchor[0] is block:
            self._anchor = None
        self._column.removeWidget(block)
        block.hide()
        block.deleteLater()

    def _extend(self) -> None:
        """More where the reader comes near the edge of what is loaded."""
        bar = self.verticalScrollBar()
        if self._filling is not None or self._moving or not self._blocks:
            return
        if bar.value() < _NEAR_PX and self._first > 0:
            self._remember()
            first = max(0, self._first - _MORE)
            self.older_wanted.emit(self._turns[first].user.id)
            self._fill_upwards(first)
            self._trim_below()
        elif bar.maximum() - bar.value() < _NEAR_PX and self._end < len(self._turns):
            self._remember()
            self._add_below(self._turns[self._end : self._end + _MORE])
            self._end = min(len(self._turns), self._end + _MORE)

    def _trim_below(self) -> None:
        while self._end - self._first > _KEPT and not self._following:
            self._end -= 1
            block = self._blocks.pop(self._turns[self._end].user.id, None)
            if block is not None:
                self._drop(block)

    # the scroll position

    def _scrolled(self, _value: int) -> None:
        if self._moving:
            return
        bar = self.verticalScrollBar()
        self._following = self._end >= len(self._turns) and bar.maximum() - bar.value() <= _AT_END_PX
        self._remember()
        self._tell_new()
        self._extend()

    def _remember(self) -> None:
        """The block at the top of the view, and how far above the view it begins."""
        top = self.verticalScrollBar().value()
        for block in self.blocks:
            if block.y() + block.height() > top:
                self._anchor = (block, top - block.y())
                return
        self._anchor = None

    def _keep_place(self, *_range: int) -> None:
        if self._following:
            self._set_value(self.verticalScrollBar().maximum())
        elif self._anchor is not None:
            block, above = self._anchor
            self._set_value(block.y() + above)
        self._tell_new()

    def _set_value(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False

    def _settle(self) -> None:
        """Lay everything out now, to know where things are."""
        self._column.activate()
        width = self.viewport().width()
        self._content.resize(width, max(self._content.heightForWidth(width), self.viewport().height()))

    def _tell_new(self) -> None:
        bar = self.verticalScrollBar()
        below = bar.maximum() - bar.value() > _AT_END_PX or self._end < len(self._turns)
        growing = bool(self._turns) and self._turns[-1].open_run
        show = not self._following and below and growing
        if show != self.pill.isVisible():
            self.pill.setVisible(show)
            self._place_pill()

    # geometry

    def _text_width(self) -> int:
        return max(120, min(COLUMN, self.width() - 2 * _PADDING))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self._text_width()
        left = (self.width() - width) // 2
        right = max(0, self.viewport().width() - left - width)
        margins = self._column.contentsMargins()
        if (margins.left(), margins.right()) != (left, right):
            self._column.setContentsMargins(left, _PADDING, right, _BOTTOM)
        self._place_pill()

    def _place_pill(self) -> None:
        self.pill.adjustSize()
        self.pill.move((self.width() - self.pill.width()) // 2, self.height() - self.pill.height() - 8)
        self.pill.raise_()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_End:
            self.to_end()
            return
        super().keyPressEvent(event)

    def _place_of(self, message_id: str | None) -> int | None:
        if message_id is None:
            return None
        for place, turn in enumerate(self._turns):
            if turn.user.id == message_id or any(answer.message.id == message_id for answer in turn.answers):
                return place
        return None


class _Content(QWidget):
    """Tells when its children have their new places."""

    laid_out = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.laid_out.emit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.laid_out.emit()
        return done


def _common(before: Sequence[TurnView], after: Sequence[TurnView]) -> int:
    """How many turns at the beginning are the same questions."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old.user.id != new.user.id:
            break
        count += 1
    return count
