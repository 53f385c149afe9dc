"""What can be done to a conversation as a whole: rename, pin, delete with undo. The list and the top bar share it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from devflow.domain.conversation import Conversation
from devflow.ui.context import UiContext
from devflow.ui.models.conversations import shown_title
from devflow.ui.widgets import UndoBar


class ConversationActs(QObject):
    """`toast` offers Undo after a delete; `restored` says that it was taken."""

    restored = Signal(str)
    export_wanted = Signal(str)

    def __init__(self, ctx: UiContext, toast: UndoBar, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._toast = toast

    def rename(self, conversation: Conversation) -> None:
        self._ctx.tasks.launch(self._rename(conversation), what="rename conversation", owner=self)

    def pin(self, conversation: Conversation) -> None:
        work = self._ctx.services.conversations.pin(conversation.id, not conversation.pinned)
        self._ctx.tasks.launch(work, what="pin conversation")

    def export(self, conversation: Conversation) -> None:
        self.export_wanted.emit(conversation.id)

    def delete(self, conversation: Conversation) -> None:
        self._ctx.tasks.launch(self._delete(conversation), what="delete conversation", owner=self)

    def menu(self, parent: QWidget, conversation: Conversation) -> QMenu:
        """A menu of these acts, to be opened by the caller; it deletes itself."""
        t = self._ctx.t
        menu = QMenu(parent)
        menu.setObjectName("conversationMenu")
        for name, icon, text, act in (
            ("renameConversation", "pencil", t("Rename…"), self.rename),
            ("pinConversation", "pin", t("Unpin") if conversation.pinned else t("Pin"), self.pin),
            ("exportConversation", "download", t("Export…"), self.export),
            ("deleteConversation", "trash", t("Delete"), self.delete),
        ):
            action = QAction(text, menu)
            self._ctx.icons.put(action, icon)
            action.setObjectName(name)
            action.triggered.connect(lambda _checked=False, act=act: act(conversation))
            menu.addAction(action)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    async def _rename(self, conversation: Conversation) -> None:
        t = self._ctx.t
        title = await self._ctx.dialogs.prompt(
            t("Rename conversation"), t("Title"), value=conversation.title, act=t("Rename")
        )
        if title is not None and title.strip() != conversation.title:
            await self._ctx.services.conversations.rename(conversation.id, title.strip())

    async def _delete(self, conversation: Conversation) -> None:
        await self._ctx.services.conversations.delete(conversation.id)
        title = shown_title(self._ctx.t, conversation.title)
        self._toast.show_undo(
            self._ctx.t("Deleted “{title}”", title=title), lambda: self._restore(conversation.id), key=""
        )

    def _restore(self, conversation_id: str) -> None:
        self._ctx.tasks.launch(self._restored(conversation_id), what="restore conversation")

    async def _restored(self, conversation_id: str) -> None:
        await self._ctx.services.conversations.restore(conversation_id)
        self.restored.emit(conversation_id)
