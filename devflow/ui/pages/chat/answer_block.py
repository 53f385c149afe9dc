"""One assistant message: its thinking (folded), its text, and its tool calls with their cards."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.conversation import MessageState
from devflow.domain.run import CallState, ToolCall
from devflow.ui.context import UiContext
from devflow.ui.models.page_links import PageLinks
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.lines import FoldLine
from devflow.ui.pages.chat.live_text import LiveText, LiveTexts
from devflow.ui.pages.chat.tool_line import ToolLine
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.pages.chat.turn_views import AnswerView
from devflow.ui.widgets import MarkdownView

_CARD_GAP, _INDENT, _AFTER_CALLS = 8, 22, 4

References = Mapping[str, tuple[str, str]]


class AnswerBlock(QWidget):
    """Shows the row; while it streams, what `append` and `append_thinking` bring, until the row is final."""

    def __init__(
        self,
        ctx: UiContext,
        acts: TurnActs,
        view: AnswerView,
        *,
        live: LiveTexts,
        references: References,
        pages: PageLinks | None,
        width: int,
        follows: bool,
    ) -> None:
        super().__init__()
        self._ctx = ctx
        self._acts = acts
        self._thinking: FoldLine | None = None
        self._thought: MarkdownView | None = None
        self._thought_row: QHBoxLayout | None = None
        self._calls: dict[str, ToolLine | ApprovalCard] = {}
        self._slots: dict[str, QVBoxLayout] = {}
        self.text: MarkdownView | None = None
        self._references = references
        self._pages = pages
        self._width = width
        self._follows = follows
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.view = view
        self._live = live
        self._begin(view, live.of(view.message.id))
        self._show_calls(view.calls)

    @property
    def cards(self) -> tuple[ApprovalCard, ...]:
        return tuple(card for card in self._calls.values() if isinstance(card, ApprovalCard))

    @property
    def says(self) -> bool:
        """Whether there is anything to see: text, thinking or a call."""
        return self.text is not None or self._thinking is not None or bool(self._calls)

    def show_view(self, view: AnswerView) -> None:
        """The row as it is now. A final row wins over what was streamed."""
        self.view = view
        message = view.message
        if message.state is not MessageState.STREAMING:
            self.finish()
            if message.content != (self.text.source if self.text else ""):
                self._text_view().set_markdown(message.content)
            if message.reasoning:
                self._show_thinking(message.reasoning, busy=False)
        self._show_calls(view.calls)

    def show_references(self, references: References, pages: PageLinks | None) -> None:
        """What marks and names of pages in the text lead to."""
        self._references, self._pages = references, pages
        if self.text is not None:
            self.text.set_references(references)
            self.text.set_pages(pages)

    def append(self, text: str) -> None:
        if self._thinking is not None:
            self._thinking.set_words(self._ctx.t("Thought about it"))
        self._text_view().append(text)

    def append_thinking(self, whole: str) -> None:
        self._show_thinking(whole, busy=True)

    def show_output(self, call_id: str, text: str) -> None:
        """The newest output of a call of this message that runs."""
        line = self._calls.get(call_id)
        if isinstance(line, ToolLine):
            line.show_output(text)

    def finish(self) -> None:
        """No more text comes: the caret goes, nothing moves."""
        if self.text is not None and self.text.streaming:
            self.text.finish()

    def _begin(self, view: AnswerView, live: LiveText | None) -> None:
        message = view.message
        reasoning = live.reasoning if live else message.reasoning
        content = live.text if live else message.content
        if reasoning:
            self._show_thinking(reasoning, busy=message.state is MessageState.STREAMING and not content)
        if message.state is MessageState.STREAMING:
            if content:
                self._text_view().append(content)
        elif content:
            self._text_view().set_markdown(content)

    def _text_view(self) -> MarkdownView:
        if self.text is None:
            self.text = MarkdownView(self._ctx, self)
            self.text.expect_width(self._width)
            self.text.setAccessibleName(self._ctx.t("Answer"))
            self.text.set_references(self._references)
            self.text.set_pages(self._pages)
            self.text.link_activated.connect(self._acts.open_link)
            place = (self._thinking is not None) + (self._thought_row is not None)
            self._column.insertWidget(place, self.text)
            if self._follows and not place:
                self._column.setContentsMargins(0, _AFTER_CALLS, 0, 0)
        return self.text

    def _show_thinking(self, reasoning: str, *, busy: bool) -> None:
        t = self._ctx.t
        if self._thinking is None:
            self._thinking = FoldLine(self._ctx, "")
            self._thinking.setObjectName("thinking")
            self._thinking.toggled.connect(self._unfold_thinking)
            self._column.insertWidget(0, self._thinking)
        self._thinking.set_words(t("Thinking…") if busy else t("Thought about it"), busy=busy)
        if self._thought is not None and self._thought.source != reasoning:
            self._thought.set_markdown(reasoning)
        self._reasoning = reasoning

    def _unfold_thinking(self, on: bool) -> None:
        if self._thought is not None and self._thought_row is not None:
            self._column.removeItem(self._thought_row)
            self._thought.hide()
            self._thought.deleteLater()
            self._thought = self._thought_row = None
        if on:
            self._thought = MarkdownView(self._ctx, self)
            self._thought.expect_width(self._width - _INDENT)
            self._thought.set_citing(False)
            self._thought.set_muted(True)
            self._thought.set_markdown(self._reasoning)
            self._thought_row = QHBoxLayout()
            self._thought_row.setContentsMargins(_INDENT, 2, 0, 6)
            self._thought_row.addWidget(self._thought)
            self._column.insertLayout(1, self._thought_row)

    def _show_calls(self, calls: tuple[ToolCall, ...]) -> None:
        for call in calls:
            shown = self._calls.get(call.id)
            wants_card = call.state is CallState.AWAITING
            if shown is not None and isinstance(shown, ApprovalCard) is wants_card:
                shown.show_call(call)
                self.show_output(call.id, self._live.output(call.id))
                continue
            made = self._make(call, wants_card)
            if shown is None:
                slot = QVBoxLayout()
                self._column.addLayout(slot)
                self._slots[call.id] = slot
            else:
                slot = self._slots[call.id]
                slot.removeWidget(shown)
                shown.hide()
                shown.deleteLater()
            slot.setContentsMargins(0, _CARD_GAP if wants_card else 0, 0, 0)
            slot.addWidget(made)
            self._calls[call.id] = made

    def _make(self, call: ToolCall, wants_card: bool) -> ToolLine | ApprovalCard:
        if not wants_card:
            line = ToolLine(self._ctx, call)
            line.show_output(self._live.output(call.id))
            return line
        card = ApprovalCard(self._ctx, call)
        card.decided.connect(self._decided)
        return card

    def _decided(self, decision: object) -> None:
        self._acts.decide.emit(self.sender(), decision)
