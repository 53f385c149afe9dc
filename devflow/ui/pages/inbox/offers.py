"""What the inbox offers when something was never read: older conversations, and why nothing is here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from devflow.domain.conversation import Message
from devflow.extraction.outcome import PendingConversation
from devflow.extraction.situation import Reason, Verdict
from devflow.extraction.words import hint, sentence
from devflow.ui.context import UiContext
from devflow.ui.models.entries import excerpt
from devflow.ui.models.refresh import Refresher
from devflow.ui.widgets import EmptyState, NoticeStrip

_BY_ITSELF = frozenset({Reason.READY, Reason.TOO_FEW, Reason.NOTHING_NEW, Reason.NO_CONVERSATION, Reason.OTHER_ORIGIN})
"""Extraction runs by itself: what it left out is worth a word. Where the human switched it off, it is not."""


class UnreadOffer(NoticeStrip):
    """Conversations from before a model was connected: read only if the human says so (spec 08, Offline)."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, "", "info", link=ctx.t("Read them"), parent=parent)
        self._ctx = ctx
        self._pending: tuple[PendingConversation, ...] = ()
        self.setObjectName("unreadConversations")
        self.hide()
        self.acted.connect(self._read_them)

    def show_pending(self, pending: tuple[PendingConversation, ...], verdict: Verdict) -> None:
        self._pending = pending
        if not pending or verdict.reason not in _BY_ITSELF:
            self.hide()
            return
        t = self._ctx.t
        self.say(t.n("{count} earlier chat was never read", "{count} earlier chats were never read", len(pending)))
        self.words.setToolTip("\n".join(each.title for each in pending))

    def _read_them(self) -> None:
        self._ctx.tasks.launch(self._read(), what="read earlier conversations", owner=self)

    async def _read(self) -> None:
        ids = [each.conversation_id for each in self._pending]
        self.hide()
        count = await self._ctx.services.extraction.extract_pending(ids)
        t = self._ctx.t
        self._ctx.shell.notify(
            t.n("Reading {count} chat in the background", "Reading {count} chats in the background", count)
        )


class EmptyHint(QWidget):
    """Why there is nothing to review, and the two ways to get something."""

    changed = Signal()

    def __init__(self, ctx: UiContext, offer: UnreadOffer, extract: Callable[[], object]) -> None:
        super().__init__()
        self._ctx = ctx
        self._offer = offer
        self._extract = extract
        self._latest: Message | None = None
        self.verdict: Verdict | None = None
        self.state = EmptyState(ctx, "inbox", ctx.t("Nothing to review"))
        self.setObjectName("inboxEmptyHint")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.state)
        self._reader = Refresher(ctx.tasks, self._read, "read why the inbox is empty", self)

    def refresh(self) -> None:
        self._reader.ask()

    async def _read(self) -> None:
        extraction = self._ctx.services.extraction
        verdict = await extraction.why_empty()
        pending = () if verdict.reason is Reason.NO_MODEL else await extraction.pending_conversations()
        self._latest = await extraction.newest_savable()
        self._offer.show_pending(pending, verdict)
        self._show(verdict)

    def _show(self, verdict: Verdict) -> None:
        t = self._ctx.t
        acts: list[tuple[str, Callable[[], object]]] = []
        if verdict.reason is Reason.NO_MODEL:
            acts.append((t("Connect a model"), self._connect))
        elif verdict.reason is not Reason.NO_CONVERSATION:
            acts.append((t("Extract now"), self._extract))
        if self._latest is not None:
            acts.append((t("Save as candidate"), self._save))
        nothing = t("Nothing to review")
        if verdict != self.verdict or len(acts) != len(self.state.buttons):
            self.verdict = verdict
            self.state.say(nothing, hint(verdict, t), acts)
            for button in self.state.buttons:
                button.setObjectName({t("Save as candidate"): "saveAsCandidateHint"}.get(button.text(), ""))
        for button in self.state.buttons:
            if button.objectName() == "saveAsCandidateHint" and self._latest is not None:
                button.setToolTip(t("Saves “{beginning}”", beginning=excerpt(self._latest.content)))
        self.setAccessibleName(f"{nothing}. {hint(verdict, t)}")
        self.changed.emit()

    def _connect(self) -> None:
        self._ctx.shell.open_settings("providers")

    def _save(self) -> None:
        if self._latest is not None:
            self._ctx.tasks.launch(self._saved(self._latest.id), what="save as candidate", owner=self)

    async def _saved(self, message_id: str) -> None:
        """It comes into the inbox by itself; what was there already, perhaps put away, would not."""
        done = await self._ctx.services.extraction.save_as_candidate(message_id)
        if not done.entries:
            self._ctx.shell.notify(self._ctx.t("This is there already; noted as seen again"))


async def extract_now(ctx: UiContext) -> str:
    """Distil the latest conversation now; returns what came of it in words."""
    return sentence(await ctx.services.extraction.extract_now(), ctx.t)
