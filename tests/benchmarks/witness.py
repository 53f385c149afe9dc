"""Sees from inside the application's process when the window can be used."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QListView, QTextBrowser, QTextEdit

from tests.benchmarks.lag import Lag

IDLE_S = 5.0
LETTER = "x"


class Witness(QObject):
    """Looks every 2 ms until the window is there, then step by step."""

    def __init__(self, started: float, ask: str) -> None:
        super().__init__()
        self._started, self._ask = started, ask
        self._seen: dict[str, float] = {"application": time.monotonic() - started}
        self._window: Any = None
        self._composer: Any = None
        self._painted = 0
        self._lag: Any = None
        self._timer = QTimer(self)
        self._timer.setInterval(2)
        self._timer.timeout.connect(self._look)
        self._next = self._find_window
        self._timer.start()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._painted += 1
        return False

    def _look(self) -> None:
        self._next()

    def _find_window(self) -> None:
        for widget in QApplication.topLevelWidgets():
            if widget.objectName() == "mainWindow" and widget.isVisible():
                self._window = widget
        if self._window is None:
            return
        self._composer = self._window.findChild(QTextEdit, "composer")
        if self._composer is None:
            return
        self._mark("shown")
        self._composer.viewport().installEventFilter(self)
        press = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier, LETTER)
        QCoreApplication.postEvent(self._composer, press)
        self._next = self._until_typed

    def _until_typed(self) -> None:
        if self._composer.toPlainText() == LETTER and self._painted:
            self._mark("interactive")
            self._seen["cpu"] = time.process_time()
            self._lag = Lag()
            self._lag.start()
            self._next = self._until_listed

    def _until_listed(self) -> None:
        listed = self._window.findChild(QListView, "conversationList")
        waited = time.monotonic() - self._started - self._seen["interactive"]
        if listed is not None and listed.model().rowCount() and "listed" not in self._seen:
            self._mark("listed")
        if waited < IDLE_S and not self._ask:
            return
        self._lag.stop()
        self._seen |= {"stall_ms": self._lag.worst, "stall_cpu_ms": self._lag.worst_cpu, "rss_mib": resident_mib()}
        if self._ask:
            self._composer.setPlainText(self._ask)
            self._composer.submitted.emit()
            self._next = self._until_answering
        else:
            self._close()

    def _until_answering(self) -> None:
        if any(len(view.toPlainText()) > 300 for view in self._window.findChildren(QTextBrowser)):
            self._close()

    def _close(self) -> None:
        self._timer.stop()
        self._seen["closing_at"] = time.monotonic()
        print(json.dumps(self._seen), flush=True)
        self._window.close()

    def _mark(self, name: str) -> None:
        self._seen[name] = time.monotonic() - self._started


def resident_mib() -> float:
    """Resident memory of this process; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)
