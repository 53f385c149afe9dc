"""What the page does when a human asks something of a turn, a card, a source or the composer: one service call each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from devflow.agent.deciding import Decision
from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Entry, Project
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.sharing.highlight import warm_up
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.session import ChatSession
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.widgets import UndoBar


class PageActs(QObject):
    """None of its acts is cancelled with the page: what was begun is recorded, then told to whoever still listens.

    `sent` when a message was recorded; `unsent(text, error)` when not: the text stays in the composer."""

    sent = Signal()
    unsent = Signal(str, object)
    unqueued = Signal(str, str)
    branched = Signal(str)
    refused_edit = Signal(str)

    def __init__(self, ctx: UiContext, session: ChatSession, acts: TurnActs, toast: UndoBar, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._session = session
        self._toast = toast
        self._saved: Entry | None = None
        self._sending = False
        self._warm = False
        acts.save_candidate.connect(self.save_candidate)
        acts.regenerate.connect(self._regenerate)
        acts.resend.connect(self._resend)
        acts.branch.connect(self._branch)
        acts.choose_sibling.connect(self._choose_sibling)
        acts.retry.connect(self._retry)
        acts.continue_run.connect(self._continue)
        acts.decide.connect(self._decide)
        acts.open_link.connect(ctx.shell.open_link)
        acts.open_settings.connect(ctx.shell.open_settings)

    # the composer

    def send(self, text: str, skill: str | None = None) -> None:
        """Record the message and start its run, with that skill; while a run is open it is queued instead."""
        if not self._warm:
            self._warm = True
            self._launch(asyncio.to_thread(warm_up), "load the highlighter")
        if not self._sending:
            self._sending = True
            self._launch(self._send(text, skill), "send message")

    async def _send(self, text: str, skill: str | None) -> None:
        self._session.forget_draft()
        try:
            await self._ctx.services.turns.send(await self._session.ensure(), text, skill=skill)
        except UserFacing as error:
            if isValid(self):
                typed = text if skill is None else f"/{skill} {text}".rstrip()
                self._session.typed(typed)
                self.unsent.emit(typed, error)
        else:
            if isValid(self):
                self.sent.emit()
        finally:
            self._sending = False

    def stop(self) -> None:
        turn = self._session.newest
        if turn is not None and turn.run is not None:
            self._launch(self._ctx.services.turns.cancel(turn.run.id), "stop run")

    def set_queued(self, text: str) -> None:
        if self._session.id is not None:
            self._launch(self._ctx.services.conversations.set_queued(self._session.id, text), "change queued message")

    def unqueue(self, typed: str) -> None:
        """Take the waiting message back into the composer, before what is typed there."""
        if self._session.id is not None:
            self._launch(self._unqueue(self._session.id, typed), "take back the queued message")

    async def _unqueue(self, conversation_id: str, typed: str) -> None:
        text = await self._ctx.services.conversations.unqueue(conversation_id, typed)
        if isValid(self) and self._session.id == conversation_id:
            self.unqueued.emit(typed, text)

    def set_project(self, project: Project | None) -> None:
        self._session.project = project
        if self._session.id is not None:
            work = self._ctx.services.conversations.set_project(self._session.id, project.id if project else None)
            self._launch(work, "set project")
        else:
            self._session.shown.emit(False)

    def set_base(self, base: KnowledgeBase | None) -> None:
        self._launch(self._session.take_base(base), "choose knowledge base")

    def set_model(self, choice: ModelChoice) -> None:
        self._session.model = choice
        if self._session.id is not None:
            self._launch(self._ctx.services.conversations.set_model(self._session.id, choice), "set model")
        else:
            self._session.shown.emit(False)

    def set_retrieval(self, on: bool) -> None:
        self._session.retrieval = on
        if self._session.id is not None:
            self._launch(self._ctx.services.conversations.set_retrieval(self._session.id, on), "set retrieval")
        else:
            self._session.shown.emit(False)

    # turns

    def save_candidate(self, message_id: str) -> None:
        self._launch(self._save_candidate(message_id), "save as candidate")

    async def _save_candidate(self, message_id: str) -> None:
        t = self._ctx.t
        done = await self._ctx.services.extraction.save_as_candidate(message_id)
        if not isValid(self):
            return
        self._saved = done.entries[0] if done.entries else None
        if self._saved is None and done.repeated:
            self._saved = await self._ctx.services.knowledge.knowledge_get(done.repeated[0])
            self._toast.show_action(t("This is there already; noted as seen again"), t("Open"), self._open_saved)
        else:
            self._toast.show_action(t("Saved to the inbox"), t("Open"), self._open_saved)

    def _open_saved(self) -> None:
        if self._saved is not None:
            place = "inbox" if self._saved.status in ("candidate", "pending_review") else "entry"
            self._ctx.shell.open_link(f"devflow:{place}/{self._saved.id}")

    def _regenerate(self, message_id: str) -> None:
        self._launch(self._ctx.services.turns.regenerate(message_id), "answer again")

    def _resend(self, message_id: str, text: str) -> None:
        self._launch(self._resent(message_id, text), "send again")

    async def _resent(self, message_id: str, text: str) -> None:
        try:
            await self._ctx.services.turns.resend(message_id, text)
        except UserFacing:
            self.refused_edit.emit(message_id)
            raise

    def _branch(self, message_id: str) -> None:
        self._launch(self._branched(message_id), "branch conversation")

    async def _branched(self, message_id: str) -> None:
        made = await self._ctx.services.conversations.branch_from(message_id)
        if isValid(self):
            self.branched.emit(made.id)

    def _choose_sibling(self, message_id: str) -> None:
        self._launch(self._ctx.services.conversations.choose_sibling(message_id), "choose alternative")

    def _retry(self, run_id: str) -> None:
        self._launch(self._again(self._ctx.services.turns.retry, run_id), "retry run")

    def _continue(self, run_id: str) -> None:
        self._launch(self._again(self._ctx.services.turns.continue_run, run_id), "continue run")

    async def _again(self, act: Callable[[str], Awaitable[object]], run_id: str) -> None:
        try:
            await act(run_id)
        except UserFacing:
            self._session.shown.emit(False)  # brings the buttons back
            raise

    # cards and sources

    def _decide(self, card: ApprovalCard, decision: Decision) -> None:
        self._launch(self._decided(card, decision), "decide about a call")

    async def _decided(self, card: ApprovalCard, decision: Decision) -> None:
        t = self._ctx.t
        try:
            await self._ctx.services.turns.decide(card.call.id, decision)
        except UserFacing as error:
            if not isValid(card):
                raise
            card.refuse(" ".join(part for part in (error.render(t), error.render_hint(t)) if part))

    def judge(self, receipt_id: str, ref: str, verdict: int | None) -> None:
        self._launch(self._ctx.services.conversations.feedback(receipt_id, ref, verdict), "judge a source")

    def _launch(self, work: Awaitable[object], what: str) -> None:
        self._ctx.tasks.launch(work, what=what)  # type: ignore[arg-type]  # every one of them is a coroutine
