"""The digest's card at the foot of a knowledge base: how far it is, every file, and what can be done about it."""

from __future__ import annotations

from collections.abc import Awaitable

from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.digest import BatchState, DigestBatch, FileState
from devflow.ui.context import UiContext
from devflow.ui.models.digest_words import count_words, token_words, whole_reason
from devflow.ui.models.digests import Digest, DigestWatch
from devflow.ui.pages.knowledge.digest_rows import ROW, DigestFileList, DigestFileModel
from devflow.ui.widgets import Button, Card, ElidedLabel, IconButton, Label, Paragraph
from devflow.ui.widgets.entry_parts import Link

ROWS_MAX, ROWS_MIN = 5, 2
HEAD = 40
ROOMY, SPARSE = 560, 460
"""px: below the first the head says less, below the second it leaves its title out."""
_MANY = 8
"""From so many files on the failed ones can be shown alone."""


class DigestCard(QWidget):
    """Shows the digest of the base that it is told; hidden while there is none. `page_wanted(kb id, path)`."""

    page_wanted = Signal(str, str)

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        self._watch = DigestWatch.of(ctx)
        self._kb_id = ""
        self._shown: str | None = None
        self._was_running = False
        self._rows_max = ROWS_MAX
        self._ending: str | None = None  # the digest that is being cancelled or discarded
        t = ctx.t
        self.model = DigestFileModel(t, self)
        self.list = DigestFileList(ctx, self.model)
        self.title = Label(t("Batch digest"), "section")
        self.counts = ElidedLabel(ctx, "", role="small", color="text-muted")
        self.tokens = Label("", "small", "muted")
        self.line = _ProgressLine(ctx)
        self.reason = Paragraph(ctx, "", "small", "text-muted")
        self.other = Link(ctx)
        self.failed_only = Button(ctx, t("Failed only"), variant="ghost", small=True)
        self.failed_only.setCheckable(True)
        self.retry = Button(ctx, t("Retry failed"), variant="ghost", small=True)
        self.cancel = Button(ctx, t("Cancel"), variant="ghost", small=True)
        self.resume = Button(ctx, t("Resume"), variant="primary", small=True)
        self.discard = Button(ctx, t("Discard"), variant="ghost", small=True)
        self.dismiss = IconButton(ctx, "cross", t("Close the digest's card"), small=True)
        self._lay_out()
        self._connect()
        self.hide()

    # what the side calls

    def show_base(self, kb_id: str) -> None:
        if kb_id != self._kb_id:
            self._kb_id = kb_id
            self._show()

    def set_room(self, height: int) -> None:
        """px of the column that it stands in: it takes at most half of that."""
        rows = max(ROWS_MIN, min(ROWS_MAX, (height // 2 - HEAD) // ROW))
        if rows != self._rows_max:
            self._rows_max = rows
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        digest = self._digest
        if digest is not None:
            self._say(digest)

    # showing

    def _show(self) -> None:
        digest = self._watch.shown(self._kb_id)
        self.setVisible(digest is not None)
        if digest is None:
            self._shown = None
            self.model.show_digest(None, failed_only=False)
            return
        if digest.id != self._shown:
            self._shown, self._was_running = digest.id, False
            self.list.touched = False
            self.failed_only.setChecked(False)
        if self._ending is not None and not digest.running and not digest.cut_off:
            self._ending = None
        self._say(digest)
        self.model.show_digest(digest, failed_only=self.failed_only.isChecked())
        self._fit()
        if digest.running:
            self.list.follow()
        elif self._was_running:
            self._announce()
            self.list.go_to_failed()
        self._was_running = digest.running
        self._say_reason()

    def _moved(self, batch_id: str, file_ids: frozenset[str]) -> None:
        digest = self._watch.get(batch_id)
        if batch_id == self._shown and digest is not None:
            self._say(digest)
            self.model.move(file_ids)
            self.list.follow()
            self._say_reason()

    def _say(self, digest: Digest) -> None:
        t = self._ctx.t
        self.counts.set_text(count_words(t, digest))
        self.tokens.setText(token_words(t, digest.tokens))
        self.line.show_part(digest.ended / len(digest.files) if digest.files else 1.0, digest.running)
        ending = self._ending == digest.id
        over = not digest.running and not digest.cut_off
        mine = digest.here or not digest.running
        self.cancel.setVisible(digest.running and digest.here)
        self.cancel.setEnabled(not ending)
        self.cancel.set_label(t("Cancelling…") if ending else t("Cancel"))
        left = over and digest.batch.state is BatchState.CANCELLED and digest.count(FileState.CANCELLED) > 0
        self.resume.setVisible(digest.cut_off or left)
        self.resume.set_variant("primary" if digest.cut_off else "ghost")
        self.discard.setVisible(digest.cut_off)
        some = digest.failed >= (2 if digest.running else 1)  # while it runs, one has its own link in the row
        self.retry.setVisible(some and mine and not digest.cut_off)
        self.dismiss.setVisible(over)
        self.failed_only.setVisible(some and len(digest.files) >= _MANY and self.width() >= ROOMY)
        self.tokens.setVisible(self.width() >= ROOMY)
        self.title.setVisible(self.width() >= SPARSE)
        if not digest.failed and self.failed_only.isChecked():
            self.failed_only.setChecked(False)
        others = self._watch.of_base(self._kb_id)
        place = next((place for place, each in enumerate(others, 1) if each.id == digest.id), 1)
        several = len(others) > 1
        self.other.show_link(
            t("{place} of {count} digests", place=place, count=len(others)) if several else "",
            "devflow:digest" if several else "",
        )
        self.other.setVisible(several)
        self.setAccessibleName(", ".join((t("Batch digest"), self.counts.text)))

    def _say_reason(self, _index: object = None) -> None:
        """Of the failed file that the keyboard or the pointer chose: the whole sentence, and what to do."""
        file = self.list.current
        words = whole_reason(self._ctx.t, file) if file is not None and file.state is FileState.FAILED else ""
        if words != self.reason.text():
            self.reason.setText(words)
        self._why.setVisible(bool(words))

    def _announce(self) -> None:
        """That it has ended, and how, to whoever does not see it."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.accessibleName()))

    def _fit(self) -> None:
        rows = max(1, min(self._rows_max, self.model.rowCount()))
        self.list.setFixedHeight(rows * max(ROW, self.list.sizeHintForRow(0)))

    # acts

    @property
    def _digest(self) -> Digest | None:
        return self._watch.get(self._shown) if self._shown is not None else None

    def _retry_one(self, file_id: str) -> None:
        digest = self._digest
        if digest is not None:
            self._follow(self._ctx.services.digests.retry(digest.id, [file_id]), "retry a file")

    def _retry_all(self) -> None:
        digest = self._digest
        if digest is not None:
            failed = [file.id for file in digest.files if file.state is FileState.FAILED]
            self._follow(self._ctx.services.digests.retry(digest.id, failed), "retry files")

    def _resume(self) -> None:
        digest = self._digest
        if digest is not None:
            self._follow(self._ctx.services.digests.resume(digest.id), "resume a digest")

    def _cancel(self) -> None:
        """What is written already stays."""
        digest = self._digest
        if digest is not None and self._ending is None:
            self._ending = digest.id
            self._say(digest)
            self._follow(self._ctx.services.digests.cancel(digest.id), "cancel a digest")

    def _discard(self) -> None:
        digest = self._digest
        if digest is not None:
            self._ctx.tasks.launch(self._forget(digest), what="discard a digest", owner=self)

    async def _forget(self, digest: Digest) -> None:
        await self._ctx.services.digests.cancel(digest.id)
        self._watch.dismiss(digest.id)

    def _dismiss(self) -> None:
        if self._shown is not None:
            self._watch.dismiss(self._shown)

    def _next(self) -> None:
        """Of several digests of this base, the next one."""
        others = self._watch.of_base(self._kb_id)
        place = next((place for place, each in enumerate(others) if each.id == self._shown), 0)
        if others:
            self._watch.choose(others[(place + 1) % len(others)])

    def _follow(self, work: Awaitable[DigestBatch], what: str) -> None:
        async def act() -> None:
            self._watch.follow(await work)

        self._ctx.tasks.launch(act(), what=what, owner=self)

    def _page(self, path: str) -> None:
        self.page_wanted.emit(self._kb_id, path)

    # building

    def _connect(self) -> None:
        self._watch.listed.connect(self._show)
        self._watch.moved.connect(self._moved)
        self.list.page_wanted.connect(self._page)
        self.list.retry_wanted.connect(self._retry_one)
        self.list.chosen.connect(self._say_reason)
        self.model.modelReset.connect(self._say_reason)
        self.failed_only.toggled.connect(self._show)
        for button, slot in (
            (self.retry, self._retry_all),
            (self.cancel, self._cancel),
            (self.resume, self._resume),
            (self.discard, self._discard),
            (self.dismiss, self._dismiss),
            (self.other, self._next),
        ):
            button.clicked.connect(slot)

    def _lay_out(self) -> None:
        for widget, name in (
            (self, "digestCard"),
            (self.counts, "digestCounts"),
            (self.tokens, "digestTokens"),
            (self.reason, "digestFileReason"),
            (self.other, "otherDigestButton"),
            (self.failed_only, "failedOnlyButton"),
            (self.retry, "retryFailedButton"),
            (self.cancel, "cancelDigestButton"),
            (self.resume, "resumeDigestButton"),
            (self.discard, "discardDigestButton"),
            (self.dismiss, "dismissDigestButton"),
        ):
            widget.setObjectName(name)
        head = QHBoxLayout()
        head.setContentsMargins(14, 0, 8, 0)
        head.setSpacing(6)
        head.addWidget(self.title)
        head.addSpacing(4)
        head.addWidget(self.counts, 1)
        head.addWidget(self.other)
        head.addWidget(self.failed_only)
        head.addWidget(self.tokens)
        head.addSpacing(2)
        for button in (self.retry, self.discard, self.resume, self.cancel, self.dismiss):
            head.addWidget(button)
        holder = QWidget()
        holder.setFixedHeight(HEAD)
        holder.setLayout(head)
        self._why = QWidget()
        why = QHBoxLayout(self._why)
        why.setContentsMargins(36, 2, 14, 8)
        why.addWidget(self.reason)
        self._why.hide()
        card = Card(padding=0)
        card.column.setContentsMargins(1, 1, 1, 4)
        card.column.addWidget(holder)
        card.column.addWidget(self.line)
        card.column.addSpacing(4)
        card.column.addWidget(self.list)
        card.column.addWidget(self._why)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 8, 24, 20)
        column.addWidget(card)


class _ProgressLine(QWidget):
    """2 px: what is done in the accent, the rest as a hairline."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        self._part = 0.0
        self._busy = False
        self.setFixedHeight(2)

    def show_part(self, part: float, busy: bool) -> None:
        if (part, busy) != (self._part, self._busy):
            self._part, self._busy = part, busy
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._ctx.theme
        painter = QPainter(self)
        whole = QRectF(self.rect())
        painter.fillRect(whole, theme.color("hairline-strong"))
        whole.setWidth(round(whole.width() * self._part))
        painter.fillRect(whole, theme.color("accent-fg" if self._busy or self._part >= 1 else "text-faint"))
