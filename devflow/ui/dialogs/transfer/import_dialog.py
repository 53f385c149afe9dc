"""Import, in one dialog: look, choose, write, and take it back. Nothing is written before Import was pressed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.knowledge.acts import Actor
from devflow.transfer.preview import Preview
from devflow.transfer.service import Imported
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import sentence_of
from devflow.ui.dialogs.transfer import words
from devflow.ui.dialogs.transfer.found import FoundList, FoundModel
from devflow.ui.dialogs.transfer.piece_pane import PiecePane
from devflow.ui.widgets import OBJECT_ROLE, Button, EmptyState, HairlineSplitter, Label, NoticeStrip


class ImportDialog(QDialog):
    """`looked` and `written` are the tasks that read the source, and write what was chosen."""

    TO_INBOX = 2
    """Its result code where the human goes on in the inbox."""

    def __init__(self, ctx: UiContext, paths: Sequence[Path], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx, self._paths = ctx, tuple(paths)
        self._preview: Preview | None = None
        self._done: Imported | None = None
        self._stop = threading.Event()
        self.setObjectName("importDialog")
        self.setWindowTitle(t("Import"))
        self.resize(900, 640)
        self.setMinimumSize(640, 420)
        self.model: FoundModel | None = None
        self.head = Label(t("Import"), "heading")
        self.about = Label(", ".join(path.name for path in self._paths), "small", "muted", wrap=True)
        self.about.setObjectName("importAbout")
        self.notice = NoticeStrip(ctx, "", "info")
        self.notice.setObjectName("importNotice")
        self.notice.hide()
        self._middle = QStackedWidget()
        self.state = EmptyState(ctx, "download", t("Reading"), t("Nothing is written yet."))
        self._middle.addWidget(self.state)
        self.bar = QProgressBar()
        self.bar.setObjectName("importProgress")
        self.bar.setAccessibleName(t("Progress"))
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 0)
        self.step = Label("", "small", "muted")
        self.step.setObjectName("importStep")
        self.all = Button(ctx, t("Choose none"), variant="link")
        self.all.setObjectName("importAllButton")
        self.cancel = Button(ctx, t("Cancel"))
        self.cancel.setObjectName("cancelImportButton")
        self.inbox = Button(ctx, t("Open the inbox"))
        self.inbox.setObjectName("importInboxButton")
        self.undo = Button(ctx, t("Undo"), icon="undo")
        self.undo.setObjectName("importUndoButton")
        self.take = Button(ctx, t("Import"), variant="primary")
        self.take.setObjectName("importButton")
        self.take.setDefault(True)
        self._lay_out()
        for button in (self.all, self.inbox, self.undo):
            button.hide()
        self.take.setEnabled(False)
        self.all.clicked.connect(self._all_or_none)
        self.cancel.clicked.connect(self.reject)
        self.take.clicked.connect(self._write)
        self.undo.clicked.connect(self._take_back)
        self.inbox.clicked.connect(self._open_inbox)
        self.looked = ctx.tasks.launch(self._look(), what="look at an import", owner=self, refused=self._refused)
        self.written: asyncio.Task[None] | None = None

    def reject(self) -> None:
        """Cancel: stop looking, or writing; what is written already stays, and can be taken back."""
        self.looked.cancel()
        if self.written is not None and not self.written.done():
            self._stop.set()
            return
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.looked.cancel()
        self._stop.set()
        super().closeEvent(event)

    # looking

    async def _look(self) -> None:
        self._preview = await self._ctx.services.transfer.preview(self._paths, progress=self._progress)
        self.bar.hide()
        self.step.setText("")
        self._show(self._preview)

    def _show(self, preview: Preview) -> None:
        t = self._ctx.t
        if preview.read.ignored:
            more = t.n("{count} other file is left out.", "{count} other files are left out.", preview.read.ignored)
            self.about.setText(f"{self.about.text()} · {more}")
        if preview.restored:
            self.notice.say(
                t(
                    "A library that DevFlow exported, and the library here is empty: it comes back as it was, published"
                    " entries and timelines included. This cannot be undone."
                ),
                "info",
            )
            words_ = t.n("{count} entry", "{count} entries", preview.restored)
            self.state.say(words_, t("Their search index is made in the background."))
        elif preview.is_empty and not preview.bad:
            self.state.say(t("Nothing new"), t("Everything in it is here already."))
        if (not preview.restored and not preview.is_empty) or preview.bad or preview.rows or preview.chats:
            self._show_list(preview)
        self._count()

    def _show_list(self, preview: Preview) -> None:
        self.model = FoundModel(self._ctx.t, preview, self)
        self.list = FoundList(self._ctx, self.model)
        self.pane = PiecePane(self._ctx)
        splitter = HairlineSplitter(self._ctx, Qt.Orientation.Horizontal)
        splitter.setObjectName("importSplitter")
        splitter.addWidget(self.list)
        splitter.addWidget(self.pane)
        splitter.setSizes([440, 420])
        self._middle.addWidget(splitter)
        self._middle.setCurrentWidget(splitter)
        self.list.chosen.connect(self._chosen)
        self.model.changed.connect(self._count)
        self.all.setVisible(self.model.possible > 1)
        self.list.step(1)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _chosen(self, index: QModelIndex) -> None:
        self.pane.show_found(index.data(OBJECT_ROLE))

    def _all_or_none(self) -> None:
        if self.model is not None:
            self.model.set_all(self.model.count == 0)

    def _count(self) -> None:
        t, preview = self._ctx.t, self._preview
        if preview is None:
            return
        if preview.restored:
            self.take.set_label(t.n("Restore {count} entry", "Restore {count} entries", preview.restored))
            self.take.setEnabled(True)
            return
        count = self.model.count if self.model is not None else 0
        self.take.set_label(t.n("Import {count}", "Import {count}", count) if count else t("Import"))
        self.take.setEnabled(count > 0)
        self.all.set_label(t("Choose none") if count else t("Choose all"))

    # writing

    def _write(self) -> None:
        t = self._ctx.t
        self.take.setEnabled(False)
        self.all.hide()
        self.cancel.set_label(t("Stop"))
        if self.model is not None:
            self.list.setEnabled(False)
        self.bar.setRange(0, 0)
        self.bar.show()
        self.written = self._ctx.tasks.launch(self._take(), what="import", refused=self._refused)

    async def _take(self) -> None:
        preview, model = self._preview, self.model
        assert preview is not None
        transfer = self._ctx.services.transfer
        self._done = await transfer.take(
            preview,
            actor=Actor.user(),
            keys=model.keys if model is not None else None,
            conversations=model.conversations if model is not None else None,
            progress=self._progress,
            stop=self._stop,
        )
        if self._done.restored:
            self._ctx.tasks.launch(transfer.index_gently(), what="index what was restored")
        self._tell(self._done)

    def _tell(self, done: Imported) -> None:
        t = self._ctx.t
        self.bar.hide()
        self.step.setText("")
        self.cancel.set_label(t("Close"))
        self.take.hide()
        said = []
        if done.restored:
            said.append(t.n("{count} entry is restored.", "{count} entries are restored.", done.restored))
        if done.entries:
            count = len(done.entries)
            said.append(t.n("{count} candidate is in the inbox.", "{count} candidates are in the inbox.", count))
        if done.conversations:
            count = len(done.conversations)
            said.append(
                t.n(
                    "{count} conversation is in the chat list; it is distilled when you say so.",
                    "{count} conversations are in the chat list; they are distilled when you say so.",
                    count,
                )
            )
        if done.left:
            said.append(t.n("{count} was left out.", "{count} were left out.", done.left))
        self.notice.say(" ".join(said) or t("Nothing new"), "success" if not done.left else "warning")
        self.undo.setVisible(done.is_undoable)
        self.inbox.setVisible(bool(done.entries))

    def _take_back(self) -> None:
        self.undo.setEnabled(False)
        self.bar.show()
        self._ctx.tasks.launch(self._undone(), what="undo an import", refused=self._refused)

    async def _undone(self) -> None:
        assert self._done is not None
        await self._ctx.services.transfer.undo(self._done, actor=Actor.user(), progress=self._progress)
        self.bar.hide()
        self.step.setText("")
        self.undo.hide()
        self.inbox.hide()
        t = self._ctx.t
        self.notice.say(t("Undone: what came in is archived, conversations are deleted."), "info")

    def _open_inbox(self) -> None:
        self._ctx.shell.show_page("inbox")
        self.done(self.TO_INBOX)

    # both

    def _progress(self, what: str, done: int, total: int) -> None:
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(done)
        self.step.setText(words.progress(self._ctx.t, what, done, total))

    def _refused(self, error: UserFacing) -> None:
        self.bar.hide()
        self.step.setText("")
        self.cancel.set_label(self._ctx.t("Close"))
        self.undo.setEnabled(True)
        self.notice.say(sentence_of(self._ctx.t, error), "danger")

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 20, 0, 16)
        column.setSpacing(8)
        head = QVBoxLayout()
        head.setContentsMargins(24, 0, 24, 0)
        head.setSpacing(4)
        for widget in (self.head, self.about, self.notice):
            head.addWidget(widget)
        column.addLayout(head)
        column.addWidget(self._middle, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(24, 4, 24, 0)
        foot.setSpacing(8)
        foot.addWidget(self.all)
        foot.addWidget(self.bar)
        foot.addWidget(self.step)
        foot.addStretch(1)
        for button in (self.cancel, self.undo, self.inbox, self.take):
            foot.addWidget(button)
            button.setAutoDefault(False)
        self.bar.setFixedWidth(180)
        column.addLayout(foot)
