"""Choosing what to digest into a knowledge base: files, how many at once, and which model will read them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from devflow.digest.choosing import FILES_MAX, Candidate, Chosen, look_at, sha256_of
from devflow.digest.output import digested
from devflow.domain.conversation import ModelChoice
from devflow.domain.digest import CONCURRENCIES, DEFAULT_CONCURRENCY, DigestBatch, FileState
from devflow.domain.errors import NotFound, UserFacing
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.bases import found_base
from devflow.ui.context import UiContext
from devflow.ui.dialogs.digest_files import FileModel, dropped_files, size_words
from devflow.ui.dialogs.digest_parts import FilesCard, OptionsCard
from devflow.ui.models.digests import DigestWatch
from devflow.ui.models.refresh import Refresher
from devflow.ui.widgets import Button, ElidedLabel, Label, NoticeStrip
from devflow.wiki import layout
from devflow.wiki.founding import SOURCES

GROUP = "digest_view"
"""Settings group: `concurrency`, as it was chosen last."""
_AT_ONCE = 16
"""So many files are hashed before the list is marked."""


class DigestDialog(QDialog):
    """`started` is the batch that was begun here; what cannot begin says why, and nothing that was picked is lost."""

    def __init__(self, ctx: UiContext, base: KnowledgeBase, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("digestDialog")
        t = ctx.t
        self.setWindowTitle(t("Digest into “{name}”", name=base.name))
        self.setAccessibleName(self.windowTitle())
        self.setMinimumSize(560, 520)
        self.resize(660, 640)
        self.setAcceptDrops(True)
        self._ctx = ctx
        self._base = base
        self.started: DigestBatch | None = None
        self._choice: ModelChoice | None = None
        self._ready_base = True
        self._looked = False  # whether model and folder were looked at
        self._busy = False
        self._pages: dict[str, str] | None = None
        self._unhashed: list[Candidate] = []
        self._others: dict[str, int] = {}
        self.model = FileModel(t, self)
        self.files = FilesCard(ctx, self.model)
        self.options = OptionsCard(ctx)
        self.set_up = NoticeStrip(ctx, "", "warning", link=t("Initialise…"))
        self.connect_model = NoticeStrip(ctx, "", "warning", link=t("Connect a model"))
        self.refused = NoticeStrip(ctx, "", "danger")
        self.reason = ElidedLabel(ctx, "", role="small", color="text-muted")
        self.cancel = Button(ctx, t("Cancel"))
        self.start = Button(ctx, t("Digest"), variant="primary")
        self._watch = DigestWatch.of(ctx)
        self._hasher = Refresher(ctx.tasks, self._hash, "look what was digested before", self)
        self._looker = Refresher(ctx.tasks, self._look, "look what a digest needs", self)
        self._lay_out()
        self._connect()
        self._looker.ask()
        self._watch_others()

    # what was picked

    def add(self, given: Sequence[Path]) -> None:
        """Files and folders, picked or dropped."""
        self._ctx.tasks.launch(self._add(given), what="look at files", owner=self)

    async def _add(self, given: Sequence[Path]) -> None:
        chosen = await asyncio.to_thread(look_at, given, [file.path for file in self.model.files])
        self._take(chosen)

    def _take(self, chosen: Chosen) -> None:
        self.model.add(chosen.files)
        for suffix, count in chosen.others:
            self._others[suffix] = self._others.get(suffix, 0) + count
        self._unhashed += [file for file in chosen.files if file.left_out is None]
        self.files.show_more(chosen.more, FILES_MAX)
        self._hasher.ask()
        self._say()

    def _files_wanted(self) -> None:
        self._ctx.tasks.launch(self._pick_files(), what="choose files", owner=self)

    def _folder_wanted(self) -> None:
        self._ctx.tasks.launch(self._pick_folder(), what="choose a folder", owner=self)

    async def _pick_files(self) -> None:
        t = self._ctx.t
        kinds = t("What can be digested") + f" ({' '.join(f'*{suffix}' for suffix in SOURCES)})"
        picked = await self._ctx.dialogs.choose_files(t("Choose files to digest"), self._start_folder(), [kinds])
        if picked:
            await self._add([Path(each) for each in picked])

    async def _pick_folder(self) -> None:
        picked = await self._ctx.dialogs.choose_folder(self._ctx.t("Choose a folder to digest"), self._start_folder())
        if picked is not None:
            await self._add([Path(picked)])

    def _start_folder(self) -> str:
        raw = Path(self._base.path) / layout.RAW
        return str(self.model.files[-1].path.parent if self.model.files else raw if raw.is_dir() else self._base.path)

    def _remove(self, row: int) -> None:
        file = self.model.files[row]
        self.model.remove(row)
        self._unhashed = [each for each in self._unhashed if each is not file]
        self._say()

    async def _hash(self) -> None:
        """Mark what has a page already: by its content, as the digest itself does."""
        if self._pages is None:
            self._pages = await asyncio.to_thread(digested, Path(self._base.path))
        while self._unhashed:
            some, self._unhashed = self._unhashed[:_AT_ONCE], self._unhashed[_AT_ONCE:]
            paths = [file.path for file in some]
            hashes = await asyncio.to_thread(lambda paths=paths: [sha256_of(path) for path in paths])  # type: ignore[misc]
            there = {file.path for file in self.model.files}
            found = zip(paths, hashes, strict=True)
            self.model.mark({path: self._pages[sha] for path, sha in found if sha in self._pages and path in there})
            self._say()

    def _watch_others(self) -> None:
        """A file that another digest of this base is at would get two pages."""
        going = (FileState.WAITING, FileState.RUNNING)
        running = [digest for digest in self._watch.of_base(self._base.id) if digest.running]
        self.model.show_busy(Path(file.path) for digest in running for file in digest.files if file.state in going)
        self._say()

    def _others_moved(self, _batch_id: str, _file_ids: object) -> None:
        self._watch_others()

    # what it needs

    async def _look(self) -> None:
        ctx = self._ctx
        self._choice = await ctx.services.models.digest_choice()
        self._ready_base = await asyncio.to_thread((Path(self._base.path) / layout.MARKER).is_file)
        self.options.show_model(await self._model_words())
        if not self._looked:
            kept = (await ctx.services.settings.get(GROUP)).get("concurrency")
            self.options.select_concurrency(kept if kept in CONCURRENCIES else DEFAULT_CONCURRENCY)
        self._looked = True
        self._say()

    async def _model_words(self) -> str:
        if self._choice is None:
            return ""
        try:
            config = await self._ctx.services.models.get(self._choice.provider_id)
        except NotFound:
            return self._choice.model
        return f"{self._choice.model} · {config.name}"

    def _settings_changed(self, _ids: object) -> None:
        self._looker.ask()

    def _open_models(self) -> None:
        self._ctx.shell.open_settings("providers")

    def _initialise(self) -> None:
        self._ctx.tasks.launch(self._found(), what="initialise a knowledge base", owner=self)

    async def _found(self) -> None:
        if await found_base(self._ctx, Path(self._base.path)) is not None:
            self._looker.ask()

    # beginning

    def _begin(self) -> None:
        self._busy = True
        self.refused.hide()
        self._say()
        self._ctx.tasks.launch(self._start(), what="start a digest", owner=self, refused=self._refused)

    async def _start(self) -> None:
        files = [file.path for file in self.model.wanted()]
        try:
            self.started = await self._ctx.services.digests.start(
                self._base.id, files, concurrency=self.options.concurrency, force=self.model.again
            )
        finally:
            self._busy = False
        await self._ctx.services.settings.update(GROUP, concurrency=self.options.concurrency)
        self.accept()

    def _refused(self, error: UserFacing) -> None:
        t = self._ctx.t
        self.refused.say(" ".join(part for part in (error.render(t), error.render_hint(t)) if part))
        self._looker.ask()

    # saying

    def _say(self) -> None:
        t, model = self._ctx.t, self.model
        wanted = model.wanted()
        self.files.say(self._summary(wanted), self._left_out())
        count = len(wanted)
        self.start.set_label(t.n("Digest {count} file", "Digest {count} files", count) if count else t("Digest"))
        why = self._why_not(count)
        self.start.setEnabled(not why and not self._busy and self._looked)
        self.start.setToolTip(why)
        self.reason.set_text(why)
        self.set_up.setVisible(self._looked and not self._ready_base)
        if not self._ready_base:
            self.set_up.say(
                t(
                    "“{name}” has pages but no {marker}: it was never set up. A digest writes into it, so that comes"
                    " first.",
                    name=self._base.name,
                    marker=layout.MARKER,
                )
            )
        self.connect_model.setVisible(self._looked and self._choice is None)
        if self._looked and self._choice is None:
            self.connect_model.say(
                t("A digest needs a model. The offline assistant only quotes; it cannot write a page.")
            )

    def _why_not(self, count: int) -> str:
        t = self._ctx.t
        if self._looked and not self._ready_base:
            return t("Initialise the knowledge base first.")
        if self._looked and self._choice is None:
            return t("Connect a model first.")
        if count:
            return ""
        if not self.model.files:
            return t("Add files first.")
        if self.model.digested:
            return t("All of them have pages already.")
        if self.model.busy:
            return t("A digest is at these files already.")
        return t("None of these files can be digested.")

    def _summary(self, wanted: Sequence[Candidate]) -> str:
        t = self._ctx.t
        if not wanted:
            return ""
        count = t.n("{shown} file", "{shown} files", len(wanted), shown=f"{len(wanted):,}")
        return f"{count} · {size_words(t, sum(file.size for file in wanted))}"

    def _left_out(self) -> str:
        t, model = self._ctx.t, self.model
        parts = []
        if model.digested and not model.again:
            count = len(model.digested)
            parts.append(t.n("{count} digested before", "{count} digested before", count))
        if unusable := sum(file.left_out is not None for file in model.files):
            parts.append(t.n("{count} cannot be read", "{count} cannot be read", unusable))
        if self._others:
            total = sum(self._others.values())
            kinds = ", ".join(f"{suffix} {count:,}" for suffix, count in list(self._others.items())[:4])
            kinds += "…" if len(self._others) > 4 else ""
            parts.append(
                t.n(
                    "{shown} of another kind ({kinds})",
                    "{shown} of other kinds ({kinds})",
                    total,
                    shown=f"{total:,}",
                    kinds=kinds,
                )
            )
        return t("Left out: {what}", what=" · ".join(parts)) if parts else ""

    def _again(self, on: bool) -> None:
        self.model.set_again(on)
        self._say()

    # dropping

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.add(dropped_files(event.mimeData()))

    # building

    def _connect(self) -> None:
        self.files.add_files.clicked.connect(self._files_wanted)
        self.files.add_folder.clicked.connect(self._folder_wanted)
        self.files.list.removed.connect(self._remove)
        self.options.again.toggled.connect(self._again)
        self.options.change_model.clicked.connect(self._open_models)
        self.connect_model.acted.connect(self._open_models)
        self.set_up.acted.connect(self._initialise)
        self.cancel.clicked.connect(self.reject)
        self.start.clicked.connect(self._begin)
        self._watch.listed.connect(self._watch_others)
        self._watch.moved.connect(self._others_moved)
        self._ctx.events.settings_changed.connect(self._settings_changed)
        self._ctx.events.providers_changed.connect(self._settings_changed)

    def _lay_out(self) -> None:
        t = self._ctx.t
        for widget, name in (
            (self.set_up, "digestSetUpNotice"),
            (self.set_up.link, "digestInitialiseButton"),
            (self.connect_model, "digestModelNotice"),
            (self.connect_model.link, "digestConnectButton"),
            (self.refused, "digestRefusedNotice"),
            (self.reason, "digestReason"),
            (self.cancel, "cancelButton"),
            (self.start, "startDigestButton"),
        ):
            widget.setObjectName(name)
        self.start.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(0)
        column.addWidget(Label(self.windowTitle(), "heading", wrap=True))
        column.addSpacing(4)
        column.addWidget(
            Label(
                t("The model reads each file and writes one page about it. The files themselves stay as they are."),
                "ui",
                "muted",
                wrap=True,
            )
        )
        column.addSpacing(14)
        body = QVBoxLayout()
        body.setSpacing(12)
        for strip in (self.set_up, self.connect_model, self.refused):
            strip.hide()
            body.addWidget(strip)
        body.addWidget(self.files, 1)
        column.addLayout(body, 1)
        column.addSpacing(14)
        column.addWidget(self.options)
        column.addSpacing(16)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.reason, 1)
        row.addWidget(self.cancel)
        row.addWidget(self.start)
        column.addLayout(row)
