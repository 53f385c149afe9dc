"""How late Qt's loop gets: what a reader feels as a stall."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QTimer

TICK_MS = 4


class Lag(QObject):
    """Ticks every 4 ms while it runs; a tick that comes late says for how long the loop was held.

    `cpu` of a stall is how much of it this thread was computing: what exceeds that is the machine's other work, the
    disk, or another thread of ours that held the interpreter.
    """

    def __init__(self) -> None:
        super().__init__()
        self.late_ms: list[float] = []
        self.cpu_ms: list[float] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._last, self._last_cpu = 0.0, 0.0

    def start(self) -> None:
        self.late_ms.clear()
        self.cpu_ms.clear()
        self._last, self._last_cpu = time.perf_counter(), time.thread_time()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()
        self._tick()

    @property
    def worst(self) -> float:
        """The longest stall, in milliseconds."""
        return max(self.late_ms, default=0.0)

    @property
    def worst_cpu(self) -> float:
        """The most this thread computed between two ticks, in milliseconds."""
        return max(self.cpu_ms, default=0.0)

    def _tick(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        self.late_ms.append(max(0.0, (now - self._last) * 1000 - TICK_MS))
        self.cpu_ms.append((cpu - self._last_cpu) * 1000)
        self._last, self._last_cpu = now, cpu
