"""Settings, Data: the library out and in."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QDialog

from devflow.domain.errors import UserFacing
from devflow.domain.ids import now
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import sentence_of
from devflow.ui.dialogs.transfer import words
from devflow.ui.widgets import Button, OptionRow

GROUP = "transfer"
"""Settings group: `folder`, where the last export went."""


class ExportRow(OptionRow):
    """A zip of Markdown files, or one JSON file; Stop while it is written."""

    def __init__(self, ctx: UiContext) -> None:
        self.button = Button(ctx, ctx.t("Export…"))
        self.button.setObjectName("exportLibraryButton")
        super().__init__(ctx, ctx.t("Export the library"), "", self.button)
        self.explanation.setObjectName("exportResult")
        self._ctx = ctx
        self._writing: asyncio.Task[None] | None = None
        self._say(ctx.t("Every entry as a Markdown file, its timeline beside it, in a zip."))
        self.button.clicked.connect(self._act)

    def _act(self) -> None:
        if self._writing is not None and not self._writing.done():
            self._writing.cancel()
            return
        self._writing = self._ctx.tasks.launch(
            self._export(), what="export the library", owner=self, refused=self._refused
        )

    async def _export(self) -> None:
        services, t = self._ctx.services, self._ctx.t
        kept = await services.settings.get(GROUP)
        name = t("DevFlow library {date}", date=f"{now().astimezone():%Y-%m-%d}")
        start = Path(await asyncio.to_thread(_folder, str(kept.get("folder", "")))) / f"{name}.zip"
        zipped = t("Markdown in a zip")
        filters = [f"{zipped} (*.zip)", "JSON (*.json)"]
        chosen = await self._ctx.dialogs.choose_save(t("Export the library"), str(start), filters)
        if not chosen:
            return
        target = Path(chosen)
        if await asyncio.to_thread(target.exists) and not await self._may_replace(target):
            return
        self.button.set_label(t("Stop"))
        try:
            done = await services.transfer.export(target, self._progress)
        except asyncio.CancelledError:
            self._say(t("Stopped; nothing was written."))
            raise
        finally:
            self.button.set_label(t("Export…"))
        await services.settings.update(GROUP, folder=str(target.parent))
        self._say(
            t.n("{count} entry is in {file}", "{count} entries are in {file}", done.entries, file=target.name),
            "success",
        )

    async def _may_replace(self, target: Path) -> bool:
        t = self._ctx.t
        await self._ctx.services.transfer.check_target(target)
        return await self._ctx.dialogs.confirm(
            t("Replace the file?"), t("{name} is there already.", name=target.name), act=t("Replace"), danger=True
        )

    def _progress(self, what: str, done: int, total: int) -> None:
        self._say(words.progress(self._ctx.t, what, done, total))

    def _refused(self, error: UserFacing) -> None:
        self._say(sentence_of(self._ctx.t, error), "danger")

    def _say(self, text: str, tone: str = "muted") -> None:
        self.set_words(self.title.text(), text)
        self.explanation.set_tone(tone)


class ImportRow(OptionRow):
    """Files or a folder; the dialog shows what would come in."""

    def __init__(self, ctx: UiContext) -> None:
        t = ctx.t
        self.files = Button(ctx, t("Files…"))
        self.files.setObjectName("importFilesButton")
        self.folder = Button(ctx, t("Folder…"))
        self.folder.setObjectName("importFolderButton")
        super().__init__(ctx, t("Import"), "", self.folder, self.files)
        self._ctx = ctx
        self.set_words(
            t("Import"),
            t("An exported library, notes, rules of other assistants, or chats; shown before anything is written."),
        )
        self.files.setAccessibleName(t("Import files"))
        self.folder.setAccessibleName(t("Import a folder"))
        self.files.clicked.connect(self._from_files)
        self.folder.clicked.connect(self._from_folder)

    def _from_files(self) -> None:
        self._ctx.tasks.launch(self._choose_files(), what="choose files to import", owner=self)

    def _from_folder(self) -> None:
        self._ctx.tasks.launch(self._choose_folder(), what="choose a folder to import", owner=self)

    async def _choose_files(self) -> None:
        t = self._ctx.t
        known = "*.zip *.json *.jsonl *.md *.markdown *.mdc *.txt .cursorrules .windsurfrules"
        possible, every = t("What can be imported"), t("All files")
        filters = [f"{possible} ({known})", f"{every} (*)"]
        chosen = await self._ctx.dialogs.choose_files(t("Import files"), "", filters)
        await self._show([Path(each) for each in chosen])

    async def _choose_folder(self) -> None:
        chosen = await self._ctx.dialogs.choose_folder(self._ctx.t("Import a folder"))
        await self._show([Path(chosen)] if chosen else [])

    async def _show(self, paths: list[Path]) -> None:
        from devflow.ui.dialogs.transfer.import_dialog import ImportDialog  # not before it is wanted

        if not paths:
            return
        code = await self._ctx.dialogs.run(ImportDialog(self._ctx, paths, self.window()))
        if code == ImportDialog.TO_INBOX and isinstance(window := self.window(), QDialog):
            window.reject()


def _folder(last: str) -> str:
    if last and Path(last).is_dir():
        return last
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return documents if documents and Path(documents).is_dir() else str(Path.home())
