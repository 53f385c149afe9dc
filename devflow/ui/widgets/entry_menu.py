"""The `…` menu of an entry: copy it, and erase it for good."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from devflow.domain.knowledge import Entry
from devflow.knowledge.acts import Actor
from devflow.ui.context import UiContext


class EntryMenu(QObject):
    """`open_for(entry, under)` pops the menu up under a button."""

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx

    def open_for(self, entry: Entry, under: QWidget) -> None:
        menu = self.menu(entry, under)
        corner = under.mapToGlobal(under.rect().bottomRight())
        corner.setX(corner.x() - menu.sizeHint().width())
        menu.popup(corner)

    def menu(self, entry: Entry, parent: QWidget) -> QMenu:
        """The menu, to be opened by the caller; it deletes itself."""
        t = self._ctx.t
        menu = QMenu(parent)
        menu.setObjectName("entryMenu")
        for name, icon, text, act in (
            ("copyEntryMarkdown", "copy", t("Copy as Markdown"), self._copy_markdown),
            ("copyEntryId", "hash", t("Copy id"), self._copy_id),
            ("", "", "", None),
            ("eraseEntry", "trash", t("Erase…"), self._erase),
        ):
            if act is None:
                menu.addSeparator()
                continue
            action = QAction(text, menu)
            self._ctx.icons.put(action, icon)
            action.setObjectName(name)
            action.triggered.connect(lambda _checked=False, act=act: act(entry))
            menu.addAction(action)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _copy_markdown(self, entry: Entry) -> None:
        QGuiApplication.clipboard().setText(as_markdown(entry))
        self._ctx.shell.notify(self._ctx.t("Copied as Markdown"))

    def _copy_id(self, entry: Entry) -> None:
        QGuiApplication.clipboard().setText(entry.id)
        self._ctx.shell.notify(self._ctx.t("Copied the id"))

    def _erase(self, entry: Entry) -> None:
        self._ctx.tasks.launch(self._ask_and_erase(entry), what="erase an entry", owner=self)

    async def _ask_and_erase(self, entry: Entry) -> None:
        t = self._ctx.t
        text = t(
            "“{title}” and every text of it are removed, from the timeline and the search index too. "
            "This cannot be undone. To put it away and keep it, archive it.",
            title=entry.title,
        )
        if await self._ctx.dialogs.confirm(t("Erase this entry?"), text, act=t("Erase"), danger=True):
            await self._ctx.services.knowledge.knowledge_erase(entry.id, actor=Actor.user())
            self._ctx.shell.notify(t("Erased"))


def as_markdown(entry: Entry) -> str:
    """The entry as a text to paste: heading, content, tags."""
    parts = [f"# {entry.title}", entry.content.strip()]
    if entry.tags:
        parts.append(" ".join(f"`{tag}`" for tag in entry.tags))
    return "\n\n".join(parts) + "\n"
