"""The real window, offscreen, and what a measurement needs to see of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")

import qasync
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from devflow.app.desktop import Desktop
from devflow.app.desktop_run import make_application
from devflow.app.paths import app_paths
from devflow.ui.garbage import GarbageCollector

T = TypeVar("T")


def run(work: Coroutine[object, object, T]) -> T:
    """Run a measurement on Qt's loop, in this process's one application."""
    make_application([])
    result: T = qasync.run(work)
    return result


@contextlib.asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Desktop]:
    """The window over a home, with every page built and at rest."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    garbage = GarbageCollector()
    desktop = await Desktop.open(app, app_paths(home))
    try:
        desktop.window.resize(1280, 800)
        desktop.window.show()
        garbage.settle()
        for name in ("chat", "knowledge", "inbox"):
            desktop.window.page(name)
        await at_rest(desktop)
        yield desktop
    finally:
        await desktop.close()
        garbage.close()


async def at_rest(desktop: Desktop) -> None:
    """Until what the window does by itself has ended."""
    await desktop.tasks.settled()
    await asyncio.sleep(0.2)
    await desktop.tasks.settled()


async def until(condition: Callable[[], object], *, within: float = 60.0) -> None:
    """Look every millisecond whether it is so."""
    end = time.perf_counter() + within
    while not condition():
        if time.perf_counter() > end:
            raise TimeoutError(f"not so after {within} s")
        await asyncio.sleep(0.001)


class Painted(QObject):
    """The first time a widget was painted while `condition()` held."""

    def __init__(self, widget: QWidget, condition: Callable[[], object]) -> None:
        super().__init__(widget)
        self._condition = condition
        self._at: float | None = None
        widget.installEventFilter(self)

    async def at(self) -> float:
        """Wait for it; `time.perf_counter()` of that moment, in seconds."""
        await until(lambda: self._at is not None)
        assert self._at is not None
        return self._at

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._at is None and event.type() == QEvent.Type.Paint and self._condition():
            self._at = time.perf_counter()
            watched.removeEventFilter(self)
        return False
