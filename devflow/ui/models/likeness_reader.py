"""How many entries each row resembles: told for the rows that are looked at, a few at a time, never in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from devflow.knowledge.similar import LikenessCount

if TYPE_CHECKING:
    from devflow.ui.context import UiContext

AT_ONCE = 4
"""Rows of one reading: each costs some milliseconds of the store's time."""
AFTER_MS, AFTER_A_CHANGE_MS = 60, 500
"""A row that is only scrolled past is not read for; nor while one decision follows another."""


class LikenessReader(QObject):
    """`told` with counts by id. What was told stands until `forget`."""

    told = Signal(object)

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._wanted: dict[str, None] = {}
        self._known: set[str] = set()
        self._round = 0
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._begin)
        self._reading = False

    def want(self, id: str) -> None:
        """Somebody looks at the entry's row."""
        if id in self._known:
            return
        self._wanted.pop(id, None)
        self._wanted[id] = None
        if not self._reading and not self._soon.isActive():
            self._soon.start(AFTER_MS)

    def forget(self) -> None:
        """Entries have changed: whoever is looked at is read for again."""
        self._known.clear()
        self._round += 1
        self._soon.start(AFTER_A_CHANGE_MS)

    def _begin(self) -> None:
        if self._wanted and not self._reading:
            self._reading = True
            self._ctx.tasks.launch(self._read(), what="look for similar entries", owner=self)

    async def _read(self) -> None:
        """The rows looked at last first."""
        knowledge = self._ctx.services.knowledge
        try:
            while self._wanted:
                ids = list(self._wanted)[: -AT_ONCE - 1 : -1]
                for id in ids:
                    del self._wanted[id]
                asked = self._round
                counts = await knowledge.knowledge_likeness_counts(ids)
                if asked == self._round:
                    self._known.update(ids)
                self.told.emit({id: counts.get(id, LikenessCount(0, 0)) for id in ids})
        finally:
            self._reading = False
