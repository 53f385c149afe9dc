"""The editor of an entry: nothing that was typed is ever lost."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.errors import InvalidInput, NotFound, StaleVersion, UserFacing
from devflow.domain.knowledge import INBOX, UNSET, Entry, EntryEdit, draft
from devflow.knowledge.acts import Actor, Done
from devflow.retrieval.similar import NEAR
from devflow.ui.context import UiContext
from devflow.ui.models.refresh import Refresher
from devflow.ui.models.words import refusal
from devflow.ui.widgets.buttons import Button
from devflow.ui.widgets.cards import NoticeStrip
from devflow.ui.widgets.chips import Label
from devflow.ui.widgets.entry_compare import EntryCompare
from devflow.ui.widgets.entry_form import EMPTY, EntryForm, Fields

_LOOK_AFTER_MS = 400


@dataclass(frozen=True, slots=True)
class Saved:
    """What the editor did: `done` is the operation that can be undone."""

    done: Done
    published: bool


class EntryEditor(QDialog):
    """Edits `entry`, or a new one. `saved` after it was accepted; None when nothing was changed or it was left."""

    def __init__(self, ctx: UiContext, entry: Entry | None = None, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("entryEditor")
        t = ctx.t
        self._ctx = ctx
        self._entry = entry
        self._base = EMPTY if entry is None else Fields.of(entry)
        self._put_aside: Fields | None = None
        self._busy = False
        self._leave = False
        self.looked = 0  # how often the library was asked for repetitions
        self.saved: Saved | None = None
        self.setWindowTitle(t("New entry") if entry is None else t("Edit entry"))
        self.form = EntryForm(ctx)
        self.form.put(self._base)
        self.compare = EntryCompare(ctx)
        self.compare.keep_mine.connect(self._keep_mine)
        self.compare.take_other.connect(self._take_other)
        self.compare.merge.connect(self._merge)
        self._other = QPlainTextEdit()
        self._other.setObjectName("otherText")
        self._other.setAccessibleName(t("The other text"))
        self._other.setReadOnly(True)
        self._other.setProperty("role", "field")
        self._other.hide()
        self.conflict = NoticeStrip(ctx, t("This entry changed elsewhere."), "warning", link=t("Compare both texts"))
        self.conflict.setObjectName("conflictStrip")
        self.conflict.link.setObjectName("compareButton")
        self.conflict.acted.connect(self._compare)
        self.conflict.hide()
        self.put_back = NoticeStrip(ctx, t("The other text was taken."), "info", link=t("Put mine back"))
        self.put_back.link.setObjectName("putBackButton")
        self.put_back.acted.connect(self._put_mine_back)
        self.put_back.hide()
        self.repeats = NoticeStrip(ctx, "", "warning")
        self.repeats.setObjectName("repeatsStrip")
        self.repeats.hide()
        self.problem = NoticeStrip(ctx, "", "danger")
        self.problem.setObjectName("editorProblem")
        self.problem.hide()
        self.discard = NoticeStrip(ctx, t("What you typed is not saved."), "danger", link=t("Discard it"))
        self.discard.setObjectName("discardStrip")
        self.discard.link.setObjectName("discardButton")
        self.discard.acted.connect(self._discard)
        self.discard.hide()
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_LOOK_AFTER_MS)
        self._looker = Refresher(ctx.tasks, self._look_for_repeats, "look for repetitions", self)
        self._pause.timeout.connect(self._looker.ask)
        self.form.edited.connect(self._edited)
        ctx.events.entries_changed.connect(self._changed_elsewhere)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self).activated.connect(self._save_best)
        QShortcut(QKeySequence.StandardKey.Save, self).activated.connect(self.save)
        self._edited()
        (self.form.title if entry is None else self.form.content).setFocus()

    @property
    def dirty(self) -> bool:
        """Whether something was typed that is not stored."""
        return self.form.fields() != self._base

    # saving

    def save(self) -> None:
        self._launch(publish=False)

    def save_and_publish(self) -> None:
        self._launch(publish=True)

    def _save_best(self) -> None:
        """Ctrl+Enter: from the inbox it also approves (spec 05)."""
        self._launch(publish=self._publishes)

    @property
    def _publishes(self) -> bool:
        return self._entry is None or self._entry.status in INBOX

    @property
    def _in_conflict(self) -> bool:
        """Another text is stored that the human has not met yet."""
        return not self.conflict.isHidden()

    def _launch(self, *, publish: bool) -> None:
        if self._busy:
            return
        if self._in_conflict:
            self._compare()
            return
        self.discard.hide()
        self.problem.hide()
        if self.form.judge():
            self._busy = True
            self._ctx.tasks.launch(self._save(publish), what="save an entry", owner=self, refused=self._refused)

    async def _save(self, publish: bool) -> None:
        fields = self.form.fields()
        try:
            if self._entry is None:
                self.saved = await self._create(fields, publish)
            elif fields != self._base or publish:
                self.saved = await self._update(self._entry, fields, publish)
        except StaleVersion:
            await self._read_other()
            if not self._in_conflict:  # only its status had moved: the texts never met
                self._busy = False
                self._launch(publish=publish and self._publishes)
            return
        finally:
            self._busy = False
        self._leave = True
        self.accept()

    async def _create(self, fields: Fields, publish: bool) -> Saved:
        knowledge = self._ctx.services.knowledge
        made = draft(kind=fields.kind.value, title=fields.title, content=fields.content, tags=fields.tags)
        done = await knowledge.knowledge_create(made, actor=Actor.user())
        if publish:
            done = await knowledge.knowledge_approve(done.entries[0].id, actor=Actor.user())
        return Saved(done, publish)

    async def _update(self, entry: Entry, fields: Fields, publish: bool) -> Saved:
        base = self._base
        edit = EntryEdit(
            version=entry.version,
            kind=fields.kind.value if fields.kind != base.kind else UNSET,
            title=fields.title if fields.title != base.title else UNSET,
            content=fields.content if fields.content != base.content else UNSET,
            tags=fields.tags if fields.tags != base.tags else UNSET,
        )
        knowledge = self._ctx.services.knowledge
        done = await knowledge.knowledge_update(entry.id, edit, actor=Actor.user(), approve=publish)
        return Saved(done, publish)

    def _refused(self, error: UserFacing) -> None:
        if not (isinstance(error, InvalidInput) and self.form.refuse(error)):
            self.problem.say(refusal(self._ctx.t, error))

    # another's change

    def _changed_elsewhere(self, ids: frozenset[str]) -> None:
        if self._entry is not None and self._entry.id in ids and not self._busy and not self._leave:
            self._ctx.tasks.launch(self._read_other(), what="read the other text", owner=self)

    async def _read_other(self) -> None:
        """Meet what is stored now: the same text at a later version is no conflict, another text is."""
        assert self._entry is not None
        try:
            other = await self._ctx.services.knowledge.knowledge_get(self._entry.id)
        except NotFound:
            self.problem.say(self._ctx.t("This entry was erased. Copy what you typed before you leave."))
            return
        if other.version == self._entry.version:
            return
        self._entry = other
        self._show_acts()
        if Fields.of(other) == self._base or Fields.of(other) == self.form.fields():
            self._base = Fields.of(other)
            self.conflict.hide()
        else:
            self.conflict.say(self._ctx.t("This entry changed elsewhere."))
            self._show_acts()

    def _compare(self) -> None:
        assert self._entry is not None
        self.compare.show_texts(Fields.of(self._entry), self.form.fields())
        self._stack.setCurrentWidget(self.compare)
        self._foot.setEnabled(False)

    def _keep_mine(self) -> None:
        self._meet()

    def _take_other(self) -> None:
        assert self._entry is not None
        self._put_aside = self.form.fields()
        self.form.put(Fields.of(self._entry))
        self._meet()
        self.put_back.say(self._ctx.t("The other text was taken."))

    def _merge(self) -> None:
        assert self._entry is not None
        self._other.setPlainText(self._entry.content)
        self._other.show()
        self._meet()
        self.form.write()

    def _put_mine_back(self) -> None:
        if self._put_aside is not None:
            self.form.put(self._put_aside)
        self.put_back.hide()

    def _meet(self) -> None:
        """The human has seen the other text: what is saved now is based on it."""
        assert self._entry is not None
        self._base = Fields.of(self._entry)
        self.conflict.hide()
        self.put_back.hide()
        self._stack.setCurrentWidget(self._editing)
        self._foot.setEnabled(True)
        self._show_acts()

    # repetitions

    async def _look_for_repeats(self) -> None:
        fields = self.form.fields()
        warning, details = "", ""
        if fields.title and fields.content.strip():
            warning, details = await self._repetition(fields)
        self.looked += 1
        if not warning:
            self.repeats.hide()
        elif fields == self.form.fields():
            self.repeats.say(warning)
            self.repeats.words.setToolTip(details)

    async def _repetition(self, fields: Fields) -> tuple[str, str]:
        """What to say of an entry that is there already, and its text; empty where none is like it."""
        knowledge, t = self._ctx.services.knowledge, self._ctx.t
        mine = self._entry.id if self._entry is not None else ""
        same = await knowledge.knowledge_repeats(fields.title, fields.content)
        if same is not None and same != mine:
            other = await knowledge.knowledge_get(same)
            return t("“{title}” says exactly the same.", title=other.title), ""
        hits = await knowledge.knowledge_alike(f"{fields.title}\n{fields.content}", 2)
        for hit in hits:
            if hit.entry.id != mine and hit.score >= NEAR:
                return t("“{title}” says something similar.", title=hit.entry.title), hit.entry.content[:600]
        return "", ""

    # leaving

    def reject(self) -> None:
        """Cancel, Escape, the window's cross: with something typed it asks first, in place."""
        if self._stack.currentWidget() is self.compare:
            self._stack.setCurrentWidget(self._editing)
            self._foot.setEnabled(True)
        elif self.dirty and not self._leave:
            self.discard.say(self._ctx.t("What you typed is not saved."))
            self.discard.link.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().reject()

    def _discard(self) -> None:
        self._leave = True
        super().reject()

    def _edited(self) -> None:
        self._pause.start()
        if not self.dirty:
            self.discard.hide()
        self._show_acts()

    def _show_acts(self) -> None:
        blocked = self._in_conflict
        may_save = not blocked and (self._entry is None or self.dirty)
        self.save_button.setEnabled(may_save)
        self.publish_button.setVisible(self._publishes)
        self.publish_button.setEnabled(not blocked)

    def _lay_out(self) -> None:
        t, ctx = self._ctx.t, self._ctx
        self.setMinimumSize(600, 480)
        self.resize(760, 640)
        self._editing = QSplitter(Qt.Orientation.Horizontal)
        self._editing.setChildrenCollapsible(False)
        self._editing.addWidget(self.form)
        self._editing.addWidget(self._other)
        self._editing.setStretchFactor(0, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._editing)
        self._stack.addWidget(self.compare)
        self.cancel_button = Button(ctx, t("Cancel"))
        self.cancel_button.setObjectName("cancelEntryButton")
        self.cancel_button.clicked.connect(self.reject)
        self.save_button = Button(ctx, t("Save"), variant="default" if self._publishes else "primary")
        self.save_button.setObjectName("saveEntryButton")
        self.save_button.clicked.connect(self.save)
        self.publish_button = Button(ctx, t("Save and publish"), variant="primary", key=t("Ctrl Enter"))
        self.publish_button.setObjectName("publishEntryButton")
        self.publish_button.clicked.connect(self.save_and_publish)
        if not self._publishes:
            self.save_button.set_key(t("Ctrl Enter"))
        self._foot = QWidget()
        foot = QHBoxLayout(self._foot)
        foot.setContentsMargins(0, 4, 0, 0)
        foot.setSpacing(8)
        foot.addStretch(1)
        for button in (self.cancel_button, self.save_button, self.publish_button):
            button.setAutoDefault(False)
            foot.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(10)
        column.addWidget(Label(self.windowTitle(), "heading"))
        for strip in (self.conflict, self.put_back, self.problem):
            column.addWidget(strip)
        column.addWidget(self._stack, 1)
        column.addWidget(self.repeats)
        column.addWidget(self.discard)
        column.addWidget(self._foot)
        for strip in (self.conflict, self.put_back, self.problem, self.repeats, self.discard):
            strip.link.setAutoDefault(False)
