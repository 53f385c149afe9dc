"""The window's process: one per home, one loop for Qt and asyncio.

What takes long to import (services, pages) is imported once it is known that this process shows the window.
"""

from __future__ import annotations

import asyncio
import gc
import linecache
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import qasync
from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication

from devflow.app import logs
from devflow.app.desktop_instance import OnlyOne
from devflow.app.display import check_display
from devflow.app.paths import AppPaths
from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator

if TYPE_CHECKING:
    from devflow.app.desktop import Desktop
    from devflow.ui.icons import IconProvider
    from devflow.ui.theme import ThemeController

log = logging.getLogger(__name__)


def run(paths: AppPaths, arguments: Sequence[str] = ()) -> int:
    """Show the window until it is closed; returns the exit code. A second start for the same home raises the first.

    Raises Refused where there is no display.
    """
    check_display(os.environ)
    logs.set_up(paths)
    app = make_application(arguments)
    only = OnlyOne(paths.home)
    if not only.claim():
        return 0
    try:
        return int(qasync.run(_main(app, paths, only)))
    finally:
        only.release()
        gc.freeze()  # the process ends: walking all there is once more would be most of the time that takes


async def _main(app: QApplication, paths: AppPaths, only: OnlyOne) -> int:
    from devflow.app.desktop import Desktop
    from devflow.ui.garbage import GarbageCollector

    linecache.clearcache()  # PySide reads the source of every module it sees imported, and there all of it stays: 7 MB
    loop = asyncio.get_running_loop()
    # qasync would start ten threads at the first use; keychain and name look-ups need a few, when they come.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=4, thread_name_prefix="devflow"))
    desktop: Desktop | None = None
    ends = _Ends()
    garbage = GarbageCollector()
    try:
        desktop = await Desktop.open(app, paths)
        only.raised.connect(desktop.bring_to_front)
        desktop.window.close_requested.connect(ends.ask)
        ends.listen_to_signals()
        loop.set_exception_handler(desktop.loop_failed)
        sys.excepthook = desktop.slot_failed
        desktop.window.show()
        garbage.settle()
        linecache.clearcache()
        log.info("window shown by process %d", os.getpid())
        await ends.asked
    except UserFacing as error:
        await _refuse(app, paths, error)
        return 1
    finally:
        ends.close()
        sys.excepthook = sys.__excepthook__
        if desktop is not None:
            await desktop.close()
        garbage.stop()  # not `close`: collecting all that made up the window would hold up the end by seconds
    return 0


def make_application(arguments: Sequence[str]) -> QApplication:
    """The process's one QApplication, with its names set."""
    QCoreApplication.setApplicationName("DevFlow")
    QCoreApplication.setOrganizationName("DevFlow")
    app = QApplication.instance() or QApplication(["devflow", *arguments])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    app.setDesktopFileName("devflow")
    return app


async def _refuse(app: QApplication, paths: AppPaths, error: UserFacing) -> None:
    """The home cannot be opened: say why, on a screen where there is one, and in the log."""
    from devflow.app.i18n import translator
    from devflow.ui.application import shared_theme
    from devflow.ui.icons import IconProvider
    from devflow.ui.widgets.dialogs import MessageDialog

    t = translator(paths.resources)
    log.error("not started: %s", error)
    print(f"{error.render(t)} {error.render_hint(t)}".strip(), file=sys.stderr)
    theme = shared_theme(app, paths.resources)
    look = _Look(theme, IconProvider(theme, paths.resources / "icons"), t)
    dialog = MessageDialog(look, error.render(t), error.render_hint(t), act="")
    closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(closed.set_result)
    dialog.open()
    await closed
    dialog.deleteLater()


class _Look:
    def __init__(self, theme: ThemeController, icons: IconProvider, t: Translator) -> None:
        self.theme, self.icons, self.t = theme, icons, t


class _Ends(QObject):
    """Whoever ends the window: its close button, or a signal of the system."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pair: tuple[socket.socket, socket.socket] | None = None
        self._notifier: QSocketNotifier | None = None

    def ask(self) -> None:
        if not self.asked.done():
            self.asked.set_result(None)

    def listen_to_signals(self) -> None:
        """Python handles a signal only between its own instructions; a socket wakes Qt's loop for it."""
        reader, writer = socket.socketpair()
        for end in (reader, writer):
            end.setblocking(False)
        self._pair = (reader, writer)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def close(self) -> None:
        if self._pair is None:
            return
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        if self._notifier is not None:
            self._notifier.setEnabled(False)
        for end in self._pair:
            end.close()
        self._pair = None

    def _woken(self) -> None:
        if self._pair is not None:
            with suppress(BlockingIOError):
                self._pair[0].recv(64)

    def _handle(self, _number: int, _frame: object) -> None:
        QTimer.singleShot(0, self, self.ask)
