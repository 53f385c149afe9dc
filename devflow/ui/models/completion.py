"""Going on with a search that was not all: beyond its cap on work, and while the search index is being made anew."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal

from devflow.domain.events import IndexFilled
from devflow.retrieval.hits import FoundIds
from devflow.store.entry_lists import Filters
from devflow.ui.context import UiContext

AGAIN_MS = 2_000
"""While the index fills, what is in it now is looked for so often."""

Search = tuple[Filters, str, str]
"""Filters, order and query."""


class Completion(QObject):
    """`completed(search, ids)` when the whole is known; `stale` when the index knows more than at the last reading.

    `begin` after each reading: it says what the list should show. A newer search ends an older completion.
    """

    completed = Signal(object, object)
    stale = Signal()

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._search: Search | None = None
        self._task: asyncio.Task[None] | None = None
        self._known: Search | None = None
        self._filling = False
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self.stale)
        ctx.events.index_filled.connect(self._filled)

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def words(self) -> str:
        """What is being done for the rest; empty where nothing is."""
        if self.running:
            return self._ctx.t("searching the rest…")
        return self._ctx.t("the search index is being made…") if self._filling else ""

    def begin(self, search: Search, found: FoundIds) -> bool:
        """Whether the list should show what was found now. False: it shows the whole of this search already, and will
        get the new whole."""
        self._stop()
        self._search, self._filling = search, found.filling
        if not found.capped:
            self._known = None
            return True
        known = self._known == search
        self._task = self._ctx.tasks.launch(self._go_on(search), what="complete a search", owner=self)
        return not known

    async def _go_on(self, search: Search) -> None:
        filters, sort, query = search
        whole = await self._ctx.services.knowledge.knowledge_found(filters, sort=sort, query=query, whole=True)
        if search == self._search:
            self._known, self._task, self._filling = search, None, whole.filling
            self.completed.emit(search, whole.ids)

    def _stop(self) -> None:
        if self.running and self._task is not None:
            self._task.cancel()
        self._task = None
        self._again.stop()

    def _filled(self, event: IndexFilled) -> None:
        """At the end at once; before it now and then: a large library is read for every look."""
        if not self._filling:
            return
        if event.done >= event.total:
            self._again.stop()
            self.stale.emit()
        elif not self._again.isActive():
            self._again.start()
