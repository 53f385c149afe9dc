"""The window over the services: opened, brought to the front, and ended in order within two seconds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from devflow.app.core import Core, close_core, open_core
from devflow.app.i18n import translator
from devflow.app.logs import LOG_FILE
from devflow.app.paths import AppPaths
from devflow.domain.messages import Translator
from devflow.ui.application import shared_theme
from devflow.ui.context import Services
from devflow.ui.icons import IconProvider
from devflow.ui.tasks import TaskOwner
from devflow.ui.widgets.dialogs import Dialogs
from devflow.ui.window import MainWindow, Pages

log = logging.getLogger(__name__)

CLOSE_WITHIN = 2.0
"""Seconds that an orderly end may take; what still runs then is cut."""


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
        embeddings=core.embeddings,
        samples=core.samples,
        projects=core.projects,
        bases=core.bases,
        skills=core.skills,
        models=core.models,
        keys=core.keys,
        conversations=core.conversations,
        turns=core.turns,
        extraction=core.extraction,
        digests=core.digests,
        sharing=core.sharing,
        transfer=core.transfer,
        sediments=core.sediments,
        mcp=core.mcp,
        invitation=core.invitation,
        data_folder=core.paths.home,
        database=core.paths.database,
        backups=core.paths.backups,
        log=core.paths.logs / LOG_FILE,
    )


def built_pages() -> Pages:
    from devflow.ui.dialogs.settings import SettingsDialog
    from devflow.ui.pages.chat import ChatPage
    from devflow.ui.pages.inbox import InboxPage
    from devflow.ui.pages.knowledge import KnowledgePage

    return Pages(chat=ChatPage, knowledge=KnowledgePage, inbox=InboxPage, settings=SettingsDialog)


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
