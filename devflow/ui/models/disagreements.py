"""Which entries may contradict another one: found in the background while the library is looked at (KP-10).

It is told from the texts, entry by entry, and nothing of it is stored: what was found is kept for as long as the window
is open, and an entry that changes is looked at again, with those that it was held against.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from devflow.domain.knowledge import NOT_ARCHIVED, Status
from devflow.store.entry_lists import Filters
from devflow.ui.context import UiContext

MOST = 10
SHARE = 3
"""For each moment of looking it rests so many: other work goes first."""
TELL_S = 1.0


class Disagreements(QObject):
    """`changed` when `ids` are others, once a second at most. It looks only between `start` and `stop`."""

    changed = Signal()

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._against: dict[str, frozenset[str]] = {}
        self._due: dict[str, None] | None = None  # None: nobody has looked yet
        self._told: frozenset[str] = frozenset()
        self._looking = False
        self._wanted = False
        self._said = 0.0
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._begin)
        ctx.events.entries_changed.connect(self._entries_changed)

    @property
    def ids(self) -> frozenset[str]:
        """Those known so far, on both sides."""
        found = {id for id, others in self._against.items() if others}
        return frozenset(found.union(*(self._against[id] for id in found)))

    def start(self) -> None:
        self._wanted = True
        if not self._next.isActive() and (self._due is None or self._due):
            self._next.start(0)

    def stop(self) -> None:
        self._wanted = False
        self._next.stop()

    def _begin(self) -> None:
        if self._wanted and not self._looking:
            self._looking = True
            self._ctx.tasks.launch(self._look(), what="look for contradictions", owner=self)

    async def _look(self) -> None:
        """At one entry; then it rests."""
        knowledge, began = self._ctx.services.knowledge, time.monotonic()
        try:
            if self._due is None:
                self._due = dict.fromkeys(await knowledge.knowledge_order(Filters(statuses=NOT_ARCHIVED)))
            if self._due:
                id = next(iter(self._due))
                del self._due[id]
                self._against[id] = await self._others(id)
        finally:
            self._looking = False
        now = time.monotonic()
        if not self._due or now > self._said + TELL_S:
            self._said = now
            self._tell()
        if self._wanted and self._due:
            self._next.start(round(SHARE * (now - began) * 1000))

    async def _others(self, id: str) -> frozenset[str]:
        """What is archived contradicts nobody any more."""
        knowledge = self._ctx.services.knowledge
        found = await knowledge.knowledge_entries((id,))
        if not found or found[0].status is Status.ARCHIVED:
            return frozenset()
        similar = await knowledge.knowledge_similar(id, MOST)
        return frozenset(each.entry.id for each in similar if each.contradicts is not None)

    def _tell(self) -> None:
        if (now := self.ids) != self._told:
            self._told = now
            self.changed.emit()

    def _entries_changed(self, ids: frozenset[str]) -> None:
        """Look at them again, and at those that were held against them; first, for somebody is at work on them."""
        if self._due is None:
            return
        again = set(ids).union(id for id, others in self._against.items() if others & ids)
        for id in ids:
            again |= self._against.pop(id, frozenset())
        self._due = dict.fromkeys((*again, *self._due))
        if self._wanted:
            self.start()
