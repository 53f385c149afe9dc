"""The window's process: one per home, one loop for Qt and asyncio, and an end in order within two seconds."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

import qasync
from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QSocketNotifier, Qt, QTimer, QTranslator
from PySide6.QtWidgets import QApplication

from devflow.app import logs
from devflow.app.core import Core, close_core, open_core
from devflow.app.desktop_instance import OnlyOne
from devflow.app.i18n import translator
from devflow.app.paths import AppPaths
from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator
from devflow.ui.application import shared_theme
from devflow.ui.context import Services
from devflow.ui.garbage import GarbageCollector
from devflow.ui.icons import IconProvider
from devflow.ui.tasks import TaskOwner
from devflow.ui.theme import ThemeController
from devflow.ui.widgets.dialogs import Dialogs, MessageDialog
from devflow.ui.window import MainWindow, Pages

log = logging.getLogger(__name__)

CLOSE_WITHIN = 2.0
"""Seconds that an orderly end may take; what still runs then is cut."""


def run(paths: AppPaths, arguments: Sequence[str] = ()) -> int:
    """Show the window until it is closed; returns the exit code. A second start for the same home raises the first."""
    logs.set_up(paths)
    app = make_application(arguments)
    only = OnlyOne(paths.home)
    if not only.claim():
        return 0
    try:
        return int(qasync.run(_main(app, paths, only)))
    finally:
        only.release()


async def _main(app: QApplication, paths: AppPaths, only: OnlyOne) -> int:
    loop = asyncio.get_running_loop()
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
        log.info("window shown by process %d", os.getpid())
        await ends.asked
    except UserFacing as error:
        await _refuse(app, paths, error)
        return 1
    finally:
        ends.close()
        garbage.close()
        sys.excepthook = sys.__excepthook__
        if desktop is not None:
            await desktop.close()
    return 0


class Desktop:
    """The window over an open core; tests and the screenshot script build the same one."""

    def __init__(self, core: Core, window: MainWindow, tasks: TaskOwner) -> None:
        self.core = core
        self.window = window
        self.tasks = tasks

    @classmethod
    async def open(
        cls,
        app: QApplication,
        paths: AppPaths,
        *,
        core: Core | None = None,
        dialogs: Dialogs | None = None,
        appearance: Mapping[str, Any] | None = None,
        pages: Pages | None = None,
    ) -> Desktop:
        """Open core and window. Raises DatabaseProblem and the like; nothing stays open then.

        `appearance` stands in for the stored one (language, theme).
        """
        core = core or await open_core(paths, background=True)
        try:
            remembered = await core.settings.get("window")
            theme = shared_theme(app, paths.resources)
            tasks = TaskOwner()
            window = MainWindow(
                services=services_of(core),
                hub=core.hub,
                theme=theme,
                icons=IconProvider(theme, paths.resources / "icons"),
                tasks=tasks,
                pages=pages or built_pages(),
                make_translator=_translators(app, paths),
                appearance=appearance or await core.settings.get("appearance"),
                remembered=remembered,
                dialogs=dialogs,
            )
        except BaseException:
            await close_core(core)
            raise
        return cls(core, window, tasks)

    async def close(self) -> None:
        """Hide at once, then end in order: pages, tasks, runs, extraction, database."""
        self.window.hide()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WITHIN):
                await self.window.save_state()
                await self.tasks.close()
        self.window.close_for_good()
        self.window.deleteLater()
        await close_core(self.core)

    def bring_to_front(self) -> None:
        """Another start asked for this window."""
        window = self.window
        window.setWindowState((window.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        window.show()
        window.raise_()
        window.activateWindow()

    def loop_failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """asyncio's handler for what nobody awaited."""
        error = context.get("exception")
        log.error("%s", context.get("message"), exc_info=error)
        if error is not None and self.tasks.crash is not None:
            self.tasks.crash(str(context.get("message")), error)

    def slot_failed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Python's hook for what a Qt slot raised."""
        log.error("a slot failed", exc_info=(kind, error, trace))
        if self.tasks.crash is not None and not issubclass(kind, KeyboardInterrupt):
            self.tasks.crash("", error)


def services_of(core: Core) -> Services:
    """The core's objects as the pages see them."""
    return Services(
        settings=core.settings,
        knowledge=core.knowledge,
        samples=core.samples,
        projects=core.projects,
        models=core.models,
        keys=core.keys,
        conversations=core.conversations,
        turns=core.turns,
        extraction=core.extraction,
        data_folder=core.paths.home,
    )


def built_pages() -> Pages:
    """The pages that this build has."""
    from devflow.ui.dialogs.settings import SettingsDialog
    from devflow.ui.pages.chat import ChatPage
    from devflow.ui.pages.inbox import InboxPage
    from devflow.ui.pages.knowledge import KnowledgePage

    return Pages(chat=ChatPage, knowledge=KnowledgePage, inbox=InboxPage, settings=SettingsDialog)


def make_application(arguments: Sequence[str]) -> QApplication:
    """The process's one QApplication, with its names set."""
    QCoreApplication.setApplicationName("DevFlow")
    QCoreApplication.setOrganizationName("DevFlow")
    app = QApplication.instance() or QApplication(["devflow", *arguments])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    app.setDesktopFileName("devflow")
    return app


def _translators(app: QApplication, paths: AppPaths) -> Callable[[str], Translator]:
    """Make DevFlow's translator for a language and put Qt's own catalogue beside it."""
    installed: list[QTranslator] = []

    def make(language: str) -> Translator:
        t = translator(paths.resources, language)
        for old in installed:
            app.removeTranslator(old)
        installed.clear()
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        for name in ("qtbase", "qt"):
            own = QTranslator(app)
            if own.load(QLocale(t.language), name, "_", folder):
                app.installTranslator(own)
                installed.append(own)
                break
        return t

    return make


async def _refuse(app: QApplication, paths: AppPaths, error: UserFacing) -> None:
    """The home cannot be opened: say why, on a screen where there is one, and in the log."""
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
