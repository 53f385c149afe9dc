"""Writing an entry anew, and editing one, from the library: one editor at a time, and each saving can be taken back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from devflow.domain.knowledge import INBOX, Entry
from devflow.knowledge.acts import Done
from devflow.ui.context import UiContext
from devflow.ui.widgets.entry_editor import EntryEditor


class LibraryEdits(QObject):
    """`done(done, words)` is told of what was saved; `added(id)` of a new entry that went straight into the library."""

    def __init__(
        self,
        ctx: UiContext,
        page: QWidget,
        done: Callable[[Done, str], None],
        added: Callable[[str], None],
    ) -> None:
        super().__init__(page)
        self._ctx = ctx
        self._page = page
        self._done = done
        self._added = added
        self._editing = False

    def open(self, entry: Entry | None) -> None:
        """An editor for the entry, or for a new one; not while another is open."""
        if not self._editing:
            self._ctx.tasks.launch(self._edit(entry), what="edit an entry", owner=self)

    async def _edit(self, entry: Entry | None) -> None:
        self._editing = True
        editor = EntryEditor(self._ctx, entry, parent=self._page.window())
        try:
            await self._ctx.dialogs.run(editor)
        finally:
            self._editing = False
        if editor.saved is None:
            return
        t, after = self._ctx.t, editor.saved.done.entries[0]
        if editor.saved.published:
            words = t("Published “{title}”", title=after.title)
        elif entry is None:
            words = t("“{title}” waits in the inbox", title=after.title)
        else:
            words = t("Saved “{title}”", title=after.title)
        self._done(editor.saved.done, words)
        if entry is None and after.status not in INBOX:
            self._added(after.id)
