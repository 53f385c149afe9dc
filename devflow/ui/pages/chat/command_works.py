"""The commands that take a while, `/export` and `/sediment`: what is said while they run, and what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from devflow.domain.errors import UserFacing
from devflow.ui.context import UiContext
from devflow.ui.dialogs.export import Export, ask_export, write_export
from devflow.ui.models.page_links import page_address
from devflow.ui.pages.chat.command_note import CommandNote

_AT_ONCE_S = 0.3
"""What is done sooner needs no word while it runs."""


class CommandWorks(QObject):
    """Says in the note what goes on; the user may type on meanwhile, and open another conversation."""

    def __init__(self, ctx: UiContext, note: CommandNote, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._note = note
        self._writing: set[str] = set()

    # export

    async def export(self, conversation_id: str, named: str | None = None) -> None:
        """Ask what is left open, then write the file and offer to look at it."""
        export = await ask_export(self._ctx, conversation_id, named)
        if export is not None:
            self._begin(export)

    def _begin(self, export: Export) -> None:
        self._ctx.tasks.launch(self._write(export), what="write an export", owner=self)

    async def _write(self, export: Export) -> None:
        work = asyncio.ensure_future(write_export(self._ctx, export))
        stopped = asyncio.Event()
        try:
            await asyncio.wait({work}, timeout=_AT_ONCE_S)
            if not work.done():
                self._tell_writing(export, work, stopped)
            await work
        except UserFacing as problem:
            self._failed(problem, "tryExportAgain", lambda: self._begin(export))
        except asyncio.CancelledError:
            work.cancel()
            if not stopped.is_set():  # the window closes
                raise
            self._note.say(self._ctx.t("Stopped; no file was written."), "warning")
        else:
            self._done(export.target)

    def _tell_writing(self, export: Export, work: asyncio.Future[None], stopped: asyncio.Event) -> None:
        t = self._ctx.t

        def stop() -> None:
            stopped.set()
            work.cancel()

        self._note.say(t("Writing {name}…", name=export.target.name), "busy", [("stopExport", t("Stop"), stop)])

    def _done(self, target: Path) -> None:
        t = self._ctx.t
        show, folder = QUrl.fromLocalFile(str(target)), QUrl.fromLocalFile(str(target.parent))
        self._note.say(
            t("Saved as {name}", name=target.name),
            "success",
            [
                ("openExport", t("Open"), lambda: QDesktopServices.openUrl(show)),
                ("openExportFolder", t("Open the folder"), lambda: QDesktopServices.openUrl(folder)),
            ],
        )

    # a page of the conversation

    def sediment(self, conversation_id: str) -> None:
        """Write the conversation's page; once more while it is written is no harm."""
        if conversation_id not in self._writing:
            self._writing.add(conversation_id)
            self._ctx.tasks.launch(self._sediment(conversation_id), what="write a page of a conversation", owner=self)

    async def _sediment(self, conversation_id: str) -> None:
        t = self._ctx.t
        self._note.say(t("Writing a page of this conversation…"), "busy")
        try:
            page = await self._ctx.services.sediments.write(conversation_id)
        except UserFacing as problem:
            self._failed(problem, "trySedimentAgain", lambda: self.sediment(conversation_id))
            return
        finally:
            self._writing.discard(conversation_id)
        told = {
            "written": t("Page written: {title}", title=page.title),
            "updated": t("Page brought up to date: {title}", title=page.title),
            "unchanged": t("Nothing new since the page was written: {title}", title=page.title),
        }
        address = page_address(page.base.id, page.path)
        show = ("openSediment", t("Open the page"), lambda: self._ctx.shell.open_link(address))
        self._note.say(told[page.outcome], "success", [show])

    def _failed(self, problem: UserFacing, name: str, again: Callable[[], object]) -> None:
        t = self._ctx.t
        text = " ".join(part for part in (problem.render(t), problem.render_hint(t)) if part)
        self._note.say(text, "danger", [(name, t("Try again"), again)])
