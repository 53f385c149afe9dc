"""One turn of the transcript: question, retrieval line, answers, how it ended, and the acts of its messages."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.conversation import MessageState
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.answer_block import AnswerBlock, References
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.end_line import EndLine
from devflow.ui.pages.chat.left_out import LeftOutLine, left_out_words
from devflow.ui.pages.chat.lines import LINE, RetrievalLine, WaitingLine
from devflow.ui.pages.chat.live_text import LiveTexts
from devflow.ui.pages.chat.message_bar import Act, ActBar, SiblingSwitch, act_menu
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.pages.chat.turn_views import TurnView, lookup_words
from devflow.ui.pages.chat.user_box import UserBox

_FOOT = 24


class TurnBlock(QWidget):
    """Built once per question and kept; `show_turn` changes what differs and nothing else."""

    def __init__(
        self, ctx: UiContext, acts: TurnActs, turn: TurnView, live: LiveTexts, references: References, width: int
    ) -> None:
        super().__init__()
        self._ctx = ctx
        self._acts = acts
        self._live = live
        self._references = references
        self._width = width
        self._last = False
        self.turn = turn
        self.answers: dict[str, AnswerBlock] = {}
        self.user = UserBox(ctx, acts, turn.user, width)
        self.retrieval = RetrievalLine(ctx)
        self.retrieval.clicked.connect(self._open_sources)
        # Made when they are first needed: most turns never show them, and a long conversation has many turns.
        self._end: EndLine | None = None
        self._waiting: WaitingLine | None = None
        self._left_out: LeftOutLine | None = None
        self._user_bar: ActBar | None = None
        self._answer_bar: ActBar | None = None
        self._user_switch: SiblingSwitch | None = None
        self._answer_switch: SiblingSwitch | None = None
        self._build()
        self.show_turn(turn, references, last=False)

    def show_turn(self, turn: TurnView, references: References, *, last: bool) -> None:
        self.turn = turn
        self._last = last
        self._references = references
        self.user.show_message(turn.user)
        self.user.show_skill(turn.run.skill if turn.run is not None else None)
        self.retrieval.show_lookup(lookup_words(turn))
        self._show_left_out()
        if turn.siblings is not None or self._user_switch is not None:
            self.user_siblings.show_siblings(turn.siblings)
        self._show_answers()
        if self._end is not None or (turn.run is not None and not turn.open_run):
            self.end.show_turn(turn, last=last)
        first = next((answer for answer in turn.answers if answer.siblings), None)
        if first is not None or self._answer_switch is not None:
            self.answer_siblings.show_siblings(first.siblings if first else None)
        self._foot.setVisible(not turn.awaiting)
        self.show_waiting()
        self._show_bars()

    def _show_left_out(self) -> None:
        measure = self.turn.run.measure if self.turn.run is not None else None
        if self._left_out is None and left_out_words(self._ctx.t, measure):
            self._left_out = LeftOutLine(self._ctx)
            self._column.insertWidget(self._column.indexOf(self._under) + 1, self._left_out)
        if self._left_out is not None:
            self._left_out.show_measure(measure)

    def show_waiting(self) -> None:
        """Whether the turn waits for its first words, or has them. The line stands in the foot: nothing moves."""
        searching = lookup_words(self.turn).state in ("searching", "searching_pages")
        waits = self.turn.working and not searching and not any(each.says for each in self.answers.values())
        if waits and self._waiting is None:
            self._waiting = WaitingLine(self._ctx, self._foot)
            self._waiting.setFixedHeight(_FOOT)
            self._foot_row.insertWidget(0, self._waiting, 1)
        if self._waiting is not None:
            self._waiting.wait(waits)

    def answer(self, message_id: str) -> AnswerBlock | None:
        return self.answers.get(message_id)

    @property
    def end(self) -> EndLine:
        if self._end is None:
            self._end = EndLine(self._ctx, self._acts)
            self._column.insertWidget(self._column.indexOf(self._foot), self._end)
        return self._end

    @property
    def user_acts(self) -> ActBar:
        if self._user_bar is None:
            self._user_bar = ActBar(self._ctx, self._user_acts())
            self._under_row.insertWidget(2, self._user_bar)
        return self._user_bar

    @property
    def answer_acts(self) -> ActBar:
        if self._answer_bar is None:
            self._answer_bar = ActBar(self._ctx, self._answer_acts())
            self._foot_row.insertWidget(self._foot_row.count() - 1, self._answer_bar)
        return self._answer_bar

    @property
    def user_siblings(self) -> SiblingSwitch:
        if self._user_switch is None:
            self._user_switch = SiblingSwitch(self._ctx)
            self._user_switch.chosen.connect(self._acts.choose_sibling)
            self._under_row.addWidget(self._user_switch)
        return self._user_switch

    @property
    def answer_siblings(self) -> SiblingSwitch:
        if self._answer_switch is None:
            self._answer_switch = SiblingSwitch(self._ctx)
            self._answer_switch.chosen.connect(self._acts.choose_sibling)
            self._foot_row.insertWidget(0, self._answer_switch)
        return self._answer_switch

    @property
    def left_out(self) -> str:
        """What did not fit into the window, in words; empty where everything did."""
        return self._left_out.text() if self._left_out is not None else ""

    @property
    def cards(self) -> tuple[ApprovalCard, ...]:
        return tuple(card for block in self.answers.values() for card in block.cards)

    def holds(self, message_id: str) -> bool:
        return message_id == self.turn.user.id or message_id in self.answers

    # building

    def _build(self) -> None:
        lookup = self._under = QWidget()
        lookup.setFixedHeight(LINE)
        under = self._under_row = QHBoxLayout(lookup)
        under.setContentsMargins(0, 0, 0, 0)
        under.setSpacing(8)
        under.addWidget(self.retrieval, 1)
        under.addStretch(0)
        self._answer_column = QVBoxLayout()
        self._answer_column.setContentsMargins(0, 0, 0, 0)
        self._answer_column.setSpacing(0)
        foot = self._foot = QWidget()
        foot.setFixedHeight(_FOOT)
        row = self._foot_row = QHBoxLayout(foot)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addStretch(1)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(0)
        column.addWidget(self.user)
        column.addSpacing(4)
        column.addWidget(lookup)
        column.addSpacing(5)
        column.addLayout(self._answer_column)
        column.addWidget(foot)

    def _show_answers(self) -> None:
        wanted = [answer.message.id for answer in self.turn.answers]
        for gone in [id for id in self.answers if id not in wanted]:
            old = self.answers.pop(gone)
            self._answer_column.removeWidget(old)
            old.hide()
            old.deleteLater()
        references, pages = {**self._references, **self.turn.marks()}, self.turn.page_links()
        for place, view in enumerate(self.turn.answers):
            block = self.answers.get(view.message.id)
            if block is None:
                block = AnswerBlock(
                    self._ctx,
                    self._acts,
                    view,
                    live=self._live,
                    references=references,
                    pages=pages,
                    width=self._width,
                    follows=place > 0,
                )
                self.answers[view.message.id] = block
                self._answer_column.insertWidget(place, block)
                continue
            block.show_references(references, pages)
            if block.view != view:
                block.show_view(view)

    # acts

    def _user_acts(self) -> tuple[Act, ...]:
        t = self._ctx.t
        return (
            Act("copyMessageButton", "copy", t("Copy"), self._copy_question),
            Act("editMessageButton", "pencil", t("Edit and send again"), self.user.edit),
            Act("saveCandidateButton", "inbox", t("Save as candidate"), self._save_question),
            Act("branchButton", "branch", t("Branch from here"), self._branch_question),
        )

    def _answer_acts(self) -> tuple[Act, ...]:
        t = self._ctx.t
        return (
            Act("copyAnswerButton", "copy", t("Copy"), self._copy_answer),
            Act("saveCandidateButton", "inbox", t("Save as candidate"), self._save_answer),
            Act("regenerateButton", "refresh", t("Answer again"), self._regenerate),
            Act("branchButton", "branch", t("Branch from here"), self._branch_answer),
        )

    def _open_sources(self) -> None:
        self._acts.open_sources.emit(self.turn.user.id)

    def _copy_question(self) -> None:
        QGuiApplication.clipboard().setText(self.turn.user.content)
        self._acts.copy.emit(self.turn.user.id)

    def _save_question(self) -> None:
        self._acts.save_candidate.emit(self.turn.user.id)

    def _branch_question(self) -> None:
        self._acts.branch.emit(self.turn.user.id)

    def _copy_answer(self) -> None:
        text = "\n\n".join(answer.message.content for answer in self.turn.answers if answer.message.content)
        QGuiApplication.clipboard().setText(text)
        self._acts.copy.emit(self.turn.answers[-1].message.id)

    def _save_answer(self) -> None:
        self._acts.save_candidate.emit(self._spoken_answer())

    def _branch_answer(self) -> None:
        self._acts.branch.emit(self.turn.answers[-1].message.id)

    def _regenerate(self) -> None:
        self._acts.regenerate.emit(self.turn.answers[0].message.id)

    def _spoken_answer(self) -> str:
        """The newest answer that says something; a step with calls alone has no text to keep."""
        for answer in reversed(self.turn.answers):
            if answer.message.content.strip():
                return answer.message.id
        return self.turn.answers[-1].message.id

    # the bars appear under the pointer and for the keyboard

    @property
    def _has_finished_answer(self) -> bool:
        answers = self.turn.answers
        return bool(answers) and answers[-1].message.state is not MessageState.STREAMING and not self.turn.working

    def _show_bars(self) -> None:
        hovered = self.underMouse()
        inside = self._holds_focus()
        on_question = (hovered or inside) and not self.user.editing
        if on_question or self._user_bar is not None:
            self.user_acts.buttons["editMessageButton"].setVisible(not self.turn.open_run)
            self.user_acts.setVisible(on_question)
        on_answer = self._has_finished_answer and (hovered or inside or self._last) and not self.turn.awaiting
        if on_answer or self._answer_bar is not None:
            self.answer_acts.buttons["regenerateButton"].setVisible(not self.turn.open_run)
            self.answer_acts.setVisible(on_answer)

    def _holds_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    def focus_moved(self) -> None:
        """The keyboard came into the turn, or left it."""
        self._show_bars()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._show_bars()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._show_bars()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        on_question = event.pos().y() <= self.user.geometry().bottom() or not self._has_finished_answer
        acts = self._user_acts() if on_question else self._answer_acts()
        hidden = {"editMessageButton", "regenerateButton"} if self.turn.open_run else set()
        menu = act_menu(self._ctx, self, [act for act in acts if act.name not in hidden])
        menu.popup(self.mapToGlobal(event.pos() if not event.pos().isNull() else QPoint(0, 0)))
        event.accept()
