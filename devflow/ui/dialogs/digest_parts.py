"""The blocks of the digest's dialog: the files, and the options under them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from devflow.domain.digest import CONCURRENCIES
from devflow.ui.context import UiContext
from devflow.ui.dialogs.digest_files import FileList, FileModel
from devflow.ui.widgets import Button, Card, ElidedLabel, EmptyState, Label, OptionRow, Segmented, Switch
from devflow.wiki.founding import SOURCES


class FilesCard(QWidget):
    """Two ways to add, the list, and a line on what is left out."""

    def __init__(self, ctx: UiContext, model: FileModel) -> None:
        super().__init__()
        t = ctx.t
        self._ctx = ctx
        self._model = model
        self._more = ""
        self.add_files = Button(ctx, t("Add files…"), icon="file")
        self.add_files.setObjectName("addFilesButton")
        self.add_folder = Button(ctx, t("Add a folder…"), icon="folder")
        self.add_folder.setObjectName("addFolderButton")
        self.summary = Label("", "small", "muted")
        self.summary.setObjectName("digestSummary")
        self.list = FileList(ctx, model)
        self.empty = EmptyState(ctx, "download", t("Drop files or a folder here"), " ".join(SOURCES))
        self.left_out = ElidedLabel(ctx, "", role="small", color="text-faint")
        self.left_out.setObjectName("digestLeftOut")
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.add_files)
        head.addWidget(self.add_folder)
        head.addStretch(1)
        head.addWidget(self.summary)
        frame = QFrame()
        frame.setProperty("role", "inset")
        frame.setMinimumHeight(170)
        self._stack = QStackedLayout(frame)
        self._stack.setContentsMargins(1, 4, 1, 4)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.list)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(frame, 1)
        column.addWidget(self.left_out)

    def say(self, summary: str, left_out: str) -> None:
        self.summary.setText(summary)
        self.left_out.set_text(" ".join(part for part in (self._more, left_out) if part))
        self.left_out.setVisible(bool(self.left_out.text))
        self._stack.setCurrentWidget(self.list if self._model.files else self.empty)

    def show_more(self, more: bool, limit: int) -> None:
        """Say that there were too many files."""
        t = self._ctx.t
        self._more = t("Only the first {limit} files are taken.", limit=f"{limit:,}") if more else ""


class OptionsCard(Card):
    """How many at once, the model, and whether digested files are digested once more."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__(padding=14)
        t = ctx.t
        self._ctx = ctx
        self._concurrency = Segmented(ctx, [str(count) for count in CONCURRENCIES])
        self._concurrency.setObjectName("digestConcurrency")
        self._concurrency.setAccessibleName(t("Files at once"))
        self._concurrency.setFixedWidth(132)
        for place, count in enumerate(CONCURRENCIES):
            part = self._concurrency.part(place)
            part.setObjectName(f"digestConcurrency-{count}")
            part.setAccessibleName(t.n("{count} file at once", "{count} files at once", count))
        self.change_model = Button(ctx, t("Change…"), variant="ghost")
        self.change_model.setObjectName("digestModelButton")
        self._model = OptionRow(ctx, t("Model"), "", self.change_model, height=48)
        self._model.explanation.setObjectName("digestModelText")
        self.again = Switch(ctx, t("Digest again"))
        self.again.setObjectName("digestAgain")
        self.add_row(
            OptionRow(
                ctx, t("Files at once"), t("A local model mostly reads one at a time."), self._concurrency, height=48
            )
        )
        self.add_row(self._model)
        self.add_row(
            OptionRow(
                ctx,
                t("Digest again"),
                t("Also what has a page already; the earlier page stays."),
                self.again,
                height=48,
            )
        )
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @property
    def concurrency(self) -> int:
        return CONCURRENCIES[self._concurrency.current]

    def select_concurrency(self, count: int) -> None:
        self._concurrency.select(CONCURRENCIES.index(count))

    def show_model(self, words: str) -> None:
        """Empty: there is none."""
        t = self._ctx.t
        self._model.set_words(t("Model"), words or t("None is connected."))
        self.change_model.setAccessibleName(t("Change the model of digests"))
