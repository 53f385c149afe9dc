"""Garbage is collected on Qt's thread only.

Python's cycle collector runs on whichever thread happens to allocate, the store's included, and a QObject that dies
there stops timers of another thread: Qt warns, and may crash.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_EVERY_MS = 1000


class GarbageCollector(QObject):
    """Takes over from Python's own trigger, by the same thresholds; `close` gives it back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        gc.collect()
        gc.freeze()  # what start-up left stays: later rounds need not look at it again
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._timer.start(_EVERY_MS)

    def look(self) -> None:
        """Collect the oldest generation whose count is over its threshold."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > self._thresholds[generation]:
                gc.collect(generation)
                return

    def close(self) -> None:
        self._timer.stop()
        gc.unfreeze()
        gc.enable()
