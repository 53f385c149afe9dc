"""The pane on the left: search over all messages, New, and the conversations."""

from __future__ import annotations

import asyncio
from datetime import datetime

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from devflow.domain.conversation import Conversation
from devflow.ui.context import UiContext
from devflow.ui.models.conversations import ConversationItem, ConversationModel, HitItem
from devflow.ui.pages.chat.conversation_acts import ConversationActs
from devflow.ui.pages.chat.conversation_rows import ConversationDelegate
from devflow.ui.widgets import EmptyState, IconButton, Pane, SearchField
from devflow.ui.widgets.lists import RowList

_SEARCH_AFTER_MS = 150
_AT_FIRST, _MORE = 200, 400
"""Conversations read at first, and again each time the reader nears the end of the list."""


class ConversationPane(Pane):
    """Shows stored rows only: it reads again on every change, and says what the human asked for by its signals."""

    opened = Signal(str)
    message_opened = Signal(str, str)
    new_wanted = Signal()
    left = Signal()
    read = Signal()
    """The list was read (again); `any_messages` is known."""

    def __init__(self, ctx: UiContext, acts: ConversationActs) -> None:
        super().__init__("sunken", "right")
        self._ctx = ctx
        self._acts = acts
        self._current: str | None = None
        self._reading: asyncio.Task[None] | None = None
        self._again = False
        self._more = False
        self._limit = _AT_FIRST
        self.loaded = False
        self.any_messages = False
        t = ctx.t

        self.search = SearchField(ctx, t("Search all messages"), key="Ctrl K")
        self.search.setObjectName("conversationSearch")
        self.new_button = IconButton(ctx, "plus", t("New conversation"), key="Ctrl+N")
        self.new_button.setObjectName("newConversationButton")
        self.list = _List(ctx, t("Conversations"))
        self.list.setObjectName("conversationList")
        self.model = ConversationModel(t)
        self.list.setModel(self.model)
        self.list.setItemDelegate(ConversationDelegate(ctx, self.list))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.nothing = EmptyState(ctx, "search", t("No message contains this"))
        self.nothing.hide()

        bar = QHBoxLayout()
        bar.setContentsMargins(12, 9, 12, 9)
        bar.setSpacing(8)
        bar.addWidget(self.search, 1)
        bar.addWidget(self.new_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing, 1)

        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_SEARCH_AFTER_MS)
        self._pause.timeout.connect(self.refresh)
        self.search.textChanged.connect(self._typed)
        self.search.moved.connect(self.list.step)
        self.search.returnPressed.connect(self._open_first)
        self.search.escaped.connect(self.left)
        self.new_button.clicked.connect(self.new_wanted)
        self.list.chosen.connect(self._chosen)
        self.list.opened.connect(self._entered)
        self.list.rename_asked.connect(self._rename)
        self.list.delete_asked.connect(self._delete)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.verticalScrollBar().valueChanged.connect(self._scrolled)
        ctx.events.conversations_changed.connect(self._changed)

    def refresh(self) -> None:
        """Read the list again; while a reading runs, one more follows it."""
        if self._reading is not None and not self._reading.done():
            self._again = True
            return
        self._reading = self._ctx.tasks.launch(self._read(), what="list conversations", owner=self)

    def select(self, conversation_id: str | None) -> None:
        """Mark the open conversation; says nothing."""
        self._current = conversation_id
        self._mark_current()

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    @property
    def searching(self) -> bool:
        return bool(self.search.text().strip())

    async def _read(self) -> None:
        conversations = self._ctx.services.conversations
        while True:
            self._again = False
            query = self.search.text().strip()
            now = datetime.now().astimezone()
            if query:
                found = await conversations.list(query)
                hits = await conversations.search(query)
                titles = [each for each in found if query.casefold() in each.title.casefold()]
                if query == self.search.text().strip():
                    self.model.show_hits(titles, hits, now)
                    self._show_nothing(not titles and not hits)
            else:
                found = await conversations.list(limit=self._limit)
                self._more = len(found) >= self._limit
                self.any_messages = any(each.leaf_id is not None for each in found)
                if not self.searching:
                    self.model.show_conversations(found, now)
                    self._show_nothing(False)
            self.loaded = True
            self._mark_current()
            self.read.emit()
            if not self._again:
                return

    def _changed(self, _ids: object) -> None:
        self.refresh()

    def _scrolled(self, value: int) -> None:
        bar = self.list.verticalScrollBar()
        if self._more and not self.searching and bar.maximum() - value < 2 * bar.pageStep():
            self._more = False
            self._limit += _MORE
            self.refresh()

    def _typed(self, _text: str) -> None:
        self._pause.start()

    def _show_nothing(self, nothing: bool) -> None:
        self.list.setVisible(not nothing)
        self.nothing.setVisible(nothing)

    def _mark_current(self) -> None:
        row = self.model.row_of(self._current) if self._current else -1
        index = self.model.index(row, 0) if row >= 0 else QModelIndex()
        if self.list.currentIndex() == index:
            return
        self.list.blockSignals(True)
        if row >= 0:
            self.list.setCurrentIndex(index)
        elif not self.searching:
            self.list.selectionModel().clear()
        self.list.blockSignals(False)
        self.list.viewport().update()

    def _chosen(self, index: QModelIndex) -> None:
        match self.model.item(index):
            case ConversationItem(conversation):
                if conversation.id != self._current:
                    self.opened.emit(conversation.id)
            case HitItem(hit):
                self.message_opened.emit(hit.conversation_id, hit.message_id)
            case _:
                pass

    def _entered(self, index: QModelIndex) -> None:
        self._chosen(index)
        self.left.emit()

    def _open_first(self) -> None:
        if not self.list.currentIndex().isValid():
            self.list.step(1)
        else:
            self._chosen(self.list.currentIndex())

    def _at(self, index: QModelIndex) -> Conversation | None:
        item = self.model.item(index)
        return item.conversation if isinstance(item, ConversationItem) else None

    def _rename(self) -> None:
        if (conversation := self._at(self.list.currentIndex())) is not None:
            self._acts.rename(conversation)

    def _delete(self) -> None:
        if (conversation := self._at(self.list.currentIndex())) is not None:
            self._acts.delete(conversation)

    def _menu(self, at: QPoint) -> None:
        conversation = self._at(self.list.indexAt(at))
        if conversation is not None:
            self._acts.menu(self, conversation).popup(self.list.viewport().mapToGlobal(at))


class _List(RowList):
    """F2 renames, Delete deletes. A press of the other mouse button does not open what is under it."""

    rename_asked = Signal()
    delete_asked = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_F2:
                self.rename_asked.emit()
            case Qt.Key.Key_Delete:
                self.delete_asked.emit()
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.RightButton:
            super().mousePressEvent(event)
