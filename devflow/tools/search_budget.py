"""How long one search may take, and how it is stopped."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time

SECONDS = 20.0


class SearchBudget:
    """One search's time, in seconds. `stop` may be called from any thread; it also ends the programs of the search."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._end = time.monotonic() + seconds
        self._stopped = False
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    @property
    def left(self) -> float:
        return 0.0 if self._stopped else max(0.0, self._end - time.monotonic())

    @property
    def spent(self) -> bool:
        return self.left <= 0

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        """End this program with the search."""
        with self._lock:
            self._running.add(process)
            if self._stopped:
                process.kill()

    def forget(self, process: subprocess.Popen[bytes]) -> None:
        """The program has ended; call it after waiting for it."""
        with self._lock:
            self._running.discard(process)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                with contextlib.suppress(OSError):
                    process.kill()
