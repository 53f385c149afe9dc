"""The transcript: the turns around where the reader is, and a scroll position that nothing but the reader moves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from devflow.ui.context import UiContext
from devflow.ui.pages.chat.anchored_scroll import AnchoredScroll
from devflow.ui.pages.chat.answer_block import References
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.live_text import LiveTexts
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.pages.chat.turn_block import TurnBlock
from devflow.ui.pages.chat.turn_views import TurnView
from devflow.ui.widgets import Button

_NEWEST = 50
"""Turns loaded when a conversation opens: about a hundred messages."""
_MORE = 20
_KEPT = 160
"""So many turns are kept as widgets; beyond, those far from the reader go."""
_NEAR_PX = 900
_SLICE_S, _PAUSE_S = 0.012, 0.002


class Transcript(AnchoredScroll):
    """`objectName` messageView. `show_turns` replaces or updates; streaming reaches the blocks by message id."""

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
        self._filling: asyncio.Task[None] | None = None
        self._focused: TurnBlock | None = None
        self.setObjectName("messageView")
        self.setAccessibleName(ctx.t("Conversation"))
        self.pill = Button(ctx, ctx.t("New content"), icon="arrow-down", small=True, parent=self)
        self.pill.setObjectName("newContentPill")
        self.pill.clicked.connect(self.to_end)
        self.pill.hide()
        self.reader_moved.connect(self._reader_moved)
        self.place_kept.connect(self._tell_new)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_moved)

    # what it shows

    @property
    def turns(self) -> tuple[TurnView, ...]:
        return self._turns

    @property
    def blocks(self) -> tuple[TurnBlock, ...]:
        """Those that exist as widgets, oldest first."""
        loaded = self._turns[self._first : self._end]
        return tuple(self._blocks[turn.user.id] for turn in loaded if turn.user.id in self._blocks)

    def anchors(self) -> Sequence[QWidget]:
        return self.blocks

    @property
    def end_loaded(self) -> bool:
        return self._end >= len(self._turns)

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
        if block is None or answer is None:
            return
        if thinking is not None:
            answer.append_thinking(thinking)
        else:
            answer.append(text)
        block.show_waiting()
        self._tell_new()

    def show_output(self, call_id: str, text: str) -> None:
        """The newest output of a call that runs, if its turn is shown."""
        block = self._blocks.get(self._turns[-1].user.id) if self._turns else None
        if block is not None:
            for answer in block.answers.values():
                answer.show_output(call_id, text)
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

    def to_end(self) -> None:
        """Go to the newest and follow it."""
        if not self.end_loaded:
            self.show_turns(self._turns, self._references, fresh=True)
            return
        self.follow()
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
        self.forget()
        self.pill.hide()

    def _fill_upwards(self, first: int, at_message: str | None = None) -> None:
        """Build the newest at once, the older in slices of 12 ms, each at an idle moment."""
        self.content.setUpdatesEnabled(False)
        self._fill_slice(first, enough=max(self.viewport().height(), 400))
        self.content.setUpdatesEnabled(True)
        if at_message is not None and (block := self.block_of(at_message)) is not None:
            self.show_widget(block)
        if self._first > first and self._filling is None:
            self._filling = self._ctx.tasks.launch(self._fill(first, at_message), what="fill transcript", owner=self)

    async def _fill(self, first: int, at_message: str | None) -> None:
        while self._first > first:
            # Not 0: qasync's zero timers follow each other without a chance for Qt's own events between them.
            await asyncio.sleep(_PAUSE_S)
            self._fill_slice(first)
        self._filling = None
        if at_message is not None and (block := self.block_of(at_message)) is not None:
            self.show_widget(block)

    def _fill_slice(self, first: int, enough: int = 0) -> None:
        began, height = time.perf_counter(), 0
        while self._first > first:
            self._first -= 1
            block = self._make(self._turns[self._first])
            self.column.insertWidget(0, block)
            block.show()  # now: a layout passes over what is shown later, and the place would be lost for a frame
            height += block.sizeHint().height() if enough else 0
            if (not enough or height > enough) and time.perf_counter() - began > _SLICE_S:
                break
        if not self.following:
            self.settle()
            self.keep_place()

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
            self.column.insertWidget(self.column.count() - 1, block)
            block.show()

    def _make(self, turn: TurnView) -> TurnBlock:
        last = turn is self._turns[-1]
        block = TurnBlock(self._ctx, self._acts, turn, self._live, self._references, self.text_width)
        if last:
            block.show_turn(turn, self._references, last=True)
        self._blocks[turn.user.id] = block
        return block

    def _drop(self, block: TurnBlock) -> None:
        self.forget(block)
        self.column.removeWidget(block)
        block.hide()
        block.deleteLater()

    def _extend(self) -> None:
        """More where the reader comes near the edge of what is loaded."""
        bar = self.verticalScrollBar()
        if self._filling is not None or not self._blocks:
            return
        if bar.value() < _NEAR_PX and self._first > 0:
            self.remember()
            first = max(0, self._first - _MORE)
            self.older_wanted.emit(self._turns[first].user.id)
            self._fill_upwards(first)
            self._trim_below()
        elif bar.maximum() - bar.value() < _NEAR_PX and not self.end_loaded:
            self.remember()
            self._add_below(self._turns[self._end : self._end + _MORE])
            self._end = min(len(self._turns), self._end + _MORE)

    def _trim_below(self) -> None:
        while self._end - self._first > _KEPT and not self.following:
            self._end -= 1
            block = self._blocks.pop(self._turns[self._end].user.id, None)
            if block is not None:
                self._drop(block)

    def _focus_moved(self) -> None:
        """Takes no arguments: the widget that loses the focus may be half destroyed, and is not to be touched."""
        now = QApplication.focusWidget()
        inside = next((block for block in self._blocks.values() if now is not None and block.isAncestorOf(now)), None)
        before, self._focused = self._focused, inside
        for block in {before, inside} - {None}:
            if block is not None and block in self._blocks.values():
                block.focus_moved()

    def _reader_moved(self) -> None:
        self._tell_new()
        self._extend()

    def _tell_new(self) -> None:
        growing = bool(self._turns) and self._turns[-1].open_run
        show = growing and not self.following and not self.is_at_end
        if show != self.pill.isVisible():
            self.pill.setVisible(show)
            self._place_pill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_pill()

    def _place_pill(self) -> None:
        self.pill.adjustSize()
        self.pill.move((self.width() - self.pill.width()) // 2, self.height() - self.pill.height() - 8)
        self.pill.raise_()

    def _place_of(self, message_id: str | None) -> int | None:
        if message_id is None:
            return None
        for place, turn in enumerate(self._turns):
            if turn.user.id == message_id or any(answer.message.id == message_id for answer in turn.answers):
                return place
        return None


def _common(before: Sequence[TurnView], after: Sequence[TurnView]) -> int:
    """How many turns at the beginning are the same questions."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old.user.id != new.user.id:
            break
        count += 1
    return count
