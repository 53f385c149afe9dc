"""Settings, Data: where everything is, the log, a backup now, the library out and in, and the samples."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from devflow.domain.errors import UserFacing
from devflow.domain.ids import now
from devflow.store import backup
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import SettingsPage, sentence_of
from devflow.ui.dialogs.settings.samples_row import SamplesRow
from devflow.ui.dialogs.settings.transfer_rows import ExportRow, ImportRow
from devflow.ui.widgets import Button, OptionRow


class DataPage(SettingsPage):
    def __init__(self, ctx: UiContext) -> None:
        t = ctx.t
        super().__init__(
            ctx, "settingsData", t("Data"), t("Conversations, library and settings are in one folder on this machine.")
        )
        self.folder = Button(ctx, t("Open"))
        self.folder.setObjectName("openFolderButton")
        self.log = Button(ctx, t("Open"))
        self.log.setObjectName("openLogButton")
        self.backup = Button(ctx, t("Back up now"))
        self.backup.setObjectName("backUpButton")
        self.reveal = Button(ctx, t("Show"), variant="ghost")
        self.reveal.setObjectName("showBackupButton")
        self.reveal.hide()
        folder, log = ctx.services.data_folder, ctx.services.log
        self._backup_row = OptionRow(ctx, t("Backup"), "", self.reveal, self.backup)
        self._backup_row.explanation.setObjectName("backupResult")
        self.add_section(
            "",
            OptionRow(ctx, t("Data folder"), _short(folder), self.folder),
            OptionRow(ctx, t("Log"), t("What went wrong, and when. Keys are never in it."), self.log),
        )
        self.add_section(t("Backup"), self._backup_row)
        self._backup_row.set_words(
            t("Copy the database"), t("A consistent copy, also while conversations run. Keys are not in it.")
        )
        self.add_section(t("Library"), ExportRow(ctx), ImportRow(ctx), SamplesRow(ctx))
        self.finish()
        for button, title, path in ((self.folder, t("Data folder"), folder), (self.log, t("Log"), log)):
            button.setAccessibleName(f"{title}: {button.text()}")
            button.setToolTip(str(path))
        self.folder.clicked.connect(self._open_folder)
        self.log.clicked.connect(self._open_log)
        self.backup.clicked.connect(self._back_up)
        self.reveal.clicked.connect(self._reveal)

    def first_field(self) -> QWidget | None:
        return self.folder

    def _open_folder(self) -> None:
        _open(self._ctx.services.data_folder)

    def _open_log(self) -> None:
        log = self._ctx.services.log
        _open(log if log.exists() else log.parent)

    def _reveal(self) -> None:
        _open(self._ctx.services.backups)

    def _back_up(self) -> None:
        t = self._ctx.t
        self.backup.setEnabled(False)
        self._say(t("Copying…"), "muted")
        self._ctx.tasks.launch(self._copy(), what="back up", owner=self, refused=self._refused)

    async def _copy(self) -> None:
        services, t = self._ctx.services, self._ctx.t
        target = services.backups / f"{backup.PREFIX}{backup.stamp(now())}.db"
        made = await asyncio.to_thread(backup.back_up_or_refuse, services.database, target)
        size = await asyncio.to_thread(lambda: made.stat().st_size)
        self.backup.setEnabled(True)
        self.reveal.show()
        self._say(t("Backed up to {file}, {size}", file=made.name, size=_size(size)), "success")

    def _refused(self, error: UserFacing) -> None:
        self.backup.setEnabled(True)
        self._say(sentence_of(self._ctx.t, error), "danger")

    def _say(self, text: str, tone: str) -> None:
        self._backup_row.set_words(self._backup_row.title.text(), text)
        self._backup_row.explanation.set_tone(tone)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def _short(path: Path) -> str:
    """The path as people write it; a long one may break after each folder."""
    try:
        text = str(Path("~") / path.relative_to(Path.home()))
    except ValueError:
        text = str(path)
    return text.replace(os.sep, f"{os.sep}\u200b")


def _size(size: int) -> str:
    return f"{size / 1024**2:.1f} MB" if size >= 1024**2 else f"{max(1, round(size / 1024))} KB"
