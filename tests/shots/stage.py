"""The stage of a scene: the real window over a seeded home, and what a scene needs to act on it."""

import asyncio
import contextlib
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from devflow.app.core import Core
from devflow.app.desktop import Desktop
from devflow.domain.messages import Translator

T = TypeVar("T", bound=QObject)


class Stage:
    """`core` has the services, `window` the widgets; `language` is `en` or `zh_CN`."""

    def __init__(self, app: QApplication, desktop: Desktop, language: str) -> None:
        self.app = app
        self.desktop = desktop
        self.window = desktop.window
        self.language = language
        self.target: QWidget = desktop.window
        self.on_close = contextlib.ExitStack()
        """What a scene started and the window outlives: a model server."""
        self.model_server: object = None
        """The scripted server of the scenes that need a model."""
        self.digest_server: object = None
        """The one that writes pages about files."""
        self.conversation_id = ""
        """Of the scene that asked the first question; later scenes refer to it."""

    @property
    def core(self) -> Core:
        return self.desktop.core

    @property
    def t(self) -> Translator:
        return self.window.ctx.t

    @property
    def zh(self) -> bool:
        return self.language.startswith("zh")

    def say(self, english: str, chinese: str) -> str:
        """One of two texts of a scene's own (examples are not in the catalogue)."""
        return chinese if self.zh else english

    def find(self, kind: type[T], name: str) -> T:
        found = self.window.findChild(kind, name)
        assert found is not None, f"no {kind.__name__} named {name}"
        return found

    async def show(self, page: str) -> None:
        self.window.show_page(page)
        await self.settled()

    async def focus(self, name: str) -> None:
        """Give a widget the keyboard, as a click would."""
        self.window.activateWindow()
        self.find(QWidget, name).setFocus(Qt.FocusReason.MouseFocusReason)
        await self.settled()

    async def click(self, name: str) -> None:
        self.find(QAbstractButton, name).click()
        await self.settled()

    async def open_settings(self, page: str) -> QDialog:
        """Open the settings dialog at a page; the picture is taken of the window and the dialog over it."""
        self.window.open_settings(page)
        await self.settled(dialog=True)
        dialog = self.find(QDialog, "settingsDialog")
        self.target = dialog
        return dialog

    async def settled(self, *, dialog: bool = False) -> None:
        """Until nothing is loading: the owned tasks have ended (an open dialog is one that waits)."""
        quiet = 0
        for _ in range(200):
            await asyncio.sleep(0.02)
            busy = self.desktop.tasks.running - (1 if dialog else 0)
            quiet = quiet + 1 if busy <= 0 else 0
            if quiet >= 5:
                return

    def close_dialogs(self) -> None:
        for widget in self.app.topLevelWidgets():
            if isinstance(widget, QDialog) and widget.isVisible():
                widget.reject()

    def grab(self, file: Path) -> None:
        """Save the picture: the window, or a dialog upon the scrimmed window."""
        if self.target is self.window:
            self.window.grab().save(str(file))
            return
        self._grab_over(self.target, file)

    def _grab_over(self, dialog: QWidget, file: Path) -> None:
        from PySide6.QtGui import QPainter

        ground = self.window.grab()
        picture = dialog.grab()
        painter = QPainter(ground)
        painter.fillRect(self.window.rect(), self.window.ctx.theme.scrim())
        x = (self.window.width() - dialog.width()) // 2
        y = (self.window.height() - dialog.height()) // 2
        painter.drawPixmap(x, y, picture)
        painter.end()
        ground.save(str(file))
