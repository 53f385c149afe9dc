"""Garbage is collected on Qt's thread only.

Python's cycle collector runs on whichever thread happens to allocate, the store's included, and a QObject that dies
there stops timers of another thread: Qt warns, and may crash.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_EVERY_MS = 1000
_THRESHOLDS = (5_000, 20, 50)
"""Allocations before a young collection, young ones before a middle one, middle ones before a full one, which pauses
the window longest."""


class GarbageCollector(QObject):
    """Takes over from Python's own trigger, with rarer collections; `close` gives it back.

    What is there when it begins, and what `settle` finds, lives as long as the process and is never walked again: that
    would take 100 ms. Nothing is collected first, for that would be such a pause itself.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        gc.freeze()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._timer.start(_EVERY_MS)

    def settle(self) -> None:
        """Start-up is over: what it made stays."""
        gc.freeze()

    def look(self) -> None:
        """Collect the oldest generation whose count is over its threshold."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > _THRESHOLDS[generation]:
                gc.collect(generation)
                return

    def stop(self) -> None:
        """The process ends: nothing is collected any more, on no thread."""
        self._timer.stop()

    def close(self) -> None:
        self.stop()
        gc.unfreeze()
        gc.enable()
