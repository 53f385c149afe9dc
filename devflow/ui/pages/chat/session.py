"""The conversation that is open: read whole on every change, made when the first word of it is typed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from devflow.domain.conversation import Conversation, Draft, Message, ModelChoice, Path
from devflow.domain.errors import NotFound
from devflow.domain.events import CallsChanged, LibrarySearchDone, MessageStarted, RunChanged
from devflow.domain.knowledge import Project
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.ui.models.refresh import Refresher
from devflow.ui.pages.chat.turn_views import TurnView, references, turns_of

GROUP = "chat"
"""Settings group: `conversation`, the one that was open last."""
_DRAFT_AFTER_MS = 500
_NEWEST, _BEFORE = 120, 60
"""Messages whose runs, receipts and calls are read at first, and so many before one that is jumped to."""


class ChatSession(QObject):
    """`shown(fresh)` after each reading: `fresh` when another conversation than before was opened.

    Without an open conversation the folder, model and retrieval chosen so far wait here for the one to come.
    """

    shown = Signal(bool)

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._id: str | None = None
        self._fresh = False
        self._making: asyncio.Task[str] | None = None
        self._draft: str | None = None
        self._from: str | None = None
        self._begun = False
        self.references: dict[str, tuple[str, str]] = {}
        self.conversation: Conversation | None = None
        self.turns: tuple[TurnView, ...] = ()
        self.at_message: str | None = None
        self.project: Project | None = None
        self.base: KnowledgeBase | None = None
        self.model: ModelChoice | None = None
        self.retrieval = True
        self._refresher = Refresher(ctx.tasks, self._read, "read conversation", self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_DRAFT_AFTER_MS)
        self._pause.timeout.connect(self.save_draft)
        events = ctx.events
        events.conversations_changed.connect(self._ids_changed)
        events.base_chosen.connect(self._base_chosen)
        for signal in (events.run_changed, events.library_searched, events.message_started, events.calls_changed):
            signal.connect(self._run_event)

    @property
    def id(self) -> str | None:
        return self._id

    @property
    def newest(self) -> TurnView | None:
        return self.turns[-1] if self.turns else None

    def open(self, conversation_id: str, at_message: str | None = None) -> asyncio.Task[None]:
        """Show that conversation; the task is done when it is shown."""
        self._begun = True
        self._leave()
        self._id = conversation_id
        self.at_message = at_message
        self._from = None
        self._fresh = True
        self._ctx.tasks.launch(self._ctx.services.settings.update(GROUP, conversation=conversation_id), what="remember")
        return self._refresher.ask()

    async def reopen(self) -> None:
        """Open the conversation that was open last, unless something was begun meanwhile."""
        last = (await self._ctx.services.settings.get(GROUP)).get("conversation")
        if not isinstance(last, str) or self._begun:
            return
        try:
            found = await self._ctx.services.conversations.get(last)
        except NotFound:
            return
        if found.deleted_at is None and not self._begun:
            self.open(last)

    def start_new(self) -> None:
        """An empty one, which becomes a row with its first word. The folder is kept: work goes on in the same place."""
        self._begun = True
        self._leave()
        self.project = self.conversation.project if self.conversation else self.project
        self._id, self.conversation, self.turns = None, None, ()
        self.references = {}
        self.at_message, self.model, self.retrieval = None, None, True
        self._fresh = False
        self.shown.emit(True)
        self._ctx.tasks.launch(self._take_current_base(), what="read the current knowledge base", owner=self)

    async def take_base(self, base: KnowledgeBase | None) -> None:
        """Work with that knowledge base from now on: in its newest conversation, else in a new one (spec 02).

        A conversation without a message simply changes its mind.
        """
        bases, conversations = self._ctx.services.bases, self._ctx.services.conversations
        spoken = bool(self.turns)
        await bases.use(base.id if base is not None else None)
        id = base.id if base is not None else None
        if self.turns and not spoken:
            return  # a message was sent meanwhile: its conversation stays open, with the base it was begun with
        if self.turns:
            newest = await conversations.newest_of(id)
            if newest is not None:
                self.open(newest.id)
            else:
                self.start_new()
            return
        self.base = base
        if self._id is not None:
            await conversations.set_kb(self._id, id)
        self.shown.emit(False)

    def _base_chosen(self, base: KnowledgeBase | None) -> None:
        if (self.base.id if self.base is not None else None) != (base.id if base is not None else None):
            self._ctx.tasks.launch(self._go_on_in(base), what="go on in the chosen knowledge base", owner=self)

    async def _go_on_in(self, base: KnowledgeBase | None) -> None:
        """In its newest conversation; but words that were begun without a message stay, and go with it."""
        spoken = bool(self.turns)
        newest = await self._ctx.services.conversations.newest_of(base.id if base is not None else None)
        if self.turns and not spoken:
            return
        typed = self._draft or (self.conversation.draft.text if self.conversation else "")
        if newest is None or (not self.turns and typed.strip()):
            await self.take_base(base)
        else:
            self.open(newest.id)

    async def _take_current_base(self) -> None:
        """A new conversation belongs to the current knowledge base."""
        base = await self._ctx.services.bases.current()
        if self._id is None and base != self.base:
            self.base = base
            self.shown.emit(False)

    async def ensure(self) -> str:
        """The open conversation's id; made now if there is none yet. Two callers get the same one."""
        self._begun = True
        if self._id is not None:
            return self._id
        if self._making is None or self._making.done():
            self._making = self._ctx.tasks.launch(self._make(), what="make conversation")
        return await asyncio.shield(self._making)

    async def _make(self) -> str:
        made = await self._ctx.services.conversations.create(
            project_id=self.project.id if self.project else None,
            kb_id=self.base.id if self.base else None,
            model=self.model,
            retrieval=self.retrieval,
        )
        if self._id is None:
            self._id = made.id
            self._refresher.ask()
            await self._ctx.services.settings.update(GROUP, conversation=made.id)
        return made.id

    # the draft

    def typed(self, text: str) -> None:
        """Keep what stands in the composer, half a second after the last key."""
        self._begun = True
        self._draft = text
        if self._id is None and text.strip():
            self._ctx.tasks.launch(self.ensure(), what="begin conversation")
        self._pause.start()

    def forget_draft(self) -> None:
        """It was sent: nothing is to be kept."""
        self._draft = None
        self._pause.stop()

    def save_draft(self) -> None:
        """Keep it now (leaving, closing)."""
        self._pause.stop()
        text, self._draft = self._draft, None
        if text is None or (self._id is None and not text.strip()):
            return
        if self._id is None:
            self._ctx.tasks.launch(self._save_first(text), what="save draft")
        else:
            self._ctx.tasks.launch(self._save(self._id, text), what="save draft")

    async def _save_first(self, text: str) -> None:
        await self._save(await self.ensure(), text)

    async def _save(self, conversation_id: str, text: str) -> None:
        await self._ctx.services.conversations.save_draft(conversation_id, Draft(text))

    def _leave(self) -> None:
        """Keep the draft of what is left; one that was begun and left without a word is not kept in the list."""
        self._making = None
        text, self._draft = self._draft, None
        self._pause.stop()
        if self._id is not None and (text is not None or not self.turns):
            self._ctx.tasks.launch(self._left(self._id, text), what="leave conversation")

    async def _left(self, conversation_id: str, text: str | None) -> None:
        if text is not None:
            await self._save(conversation_id, text)
        left = await self._ctx.services.conversations.get(conversation_id)
        if left.leaf_id is None and not left.title and not left.draft.text.strip() and left.deleted_at is None:
            await self._ctx.services.conversations.delete(conversation_id)

    # reading

    def refresh(self) -> None:
        if self._id is not None:
            self._refresher.ask()

    async def _read(self) -> None:
        wanted = self._id
        if wanted is None:
            return
        at, first = self.at_message, self._from
        conversations = self._ctx.services.conversations
        try:
            if at is not None and all(each.id != at for each in (await conversations.path(wanted)).messages):
                await conversations.choose_sibling(at)
            shown = await conversations.shown(wanted, lambda path: _part(path, first or at))
        except NotFound:  # a link to what was erased
            self.start_new()
            raise
        path = shown.path
        base = await self._base_of(path.conversation.kb_id)
        if wanted != self._id:
            return
        fresh, self._fresh = self._fresh, False
        if path.conversation.deleted_at is not None and not fresh:
            self.start_new()
            return
        self.conversation = path.conversation
        self.turns = turns_of(shown)
        self.references = references(shown.numbers, self.turns)
        self.project, self.model = path.conversation.project, path.conversation.model
        if fresh and base != self.base:
            self._ctx.tasks.launch(self._ctx.services.bases.use(base.id if base else None), what="use its base")
        self.base = base
        self.retrieval = path.conversation.retrieval
        self.shown.emit(fresh)
        self.at_message = None

    async def _base_of(self, kb_id: str | None) -> KnowledgeBase | None:
        if kb_id is None:
            return None
        try:
            return await self._ctx.services.bases.get(kb_id)
        except NotFound:
            return None

    def show_more(self, message_id: str) -> None:
        """The reader nears this message: read what belongs to the turns from there on, too."""
        self._from = message_id
        self.refresh()

    def _ids_changed(self, ids: object) -> None:
        if isinstance(ids, frozenset) and self._id in ids:
            self._refresher.ask()

    def _run_event(self, event: RunChanged | LibrarySearchDone | MessageStarted | CallsChanged) -> None:
        if event.conversation_id == self._id:
            self._refresher.ask()


def _part(path: Path, wanted: str | None) -> Sequence[Message]:
    """The messages from the first one that the reader has come to, the `wanted` one; at first the newest ones.

    Runs, receipts and calls are read for these only: of 5,000 messages nobody looks at all.
    """
    newest = max(0, len(path.messages) - _NEWEST)
    for place, message in enumerate(path.messages[:newest]):
        if message.id == wanted:
            return path.messages[max(0, place - _BEFORE) :]
    return path.messages[newest:]
