"""Merging entries: which one stays, what it says from now on; both texts stay in sight, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QSplitter, QVBoxLayout, QWidget

from devflow.domain.errors import InvalidInput, NotFound, StaleVersion, UserFacing
from devflow.domain.knowledge import Entry, EntryEdit, Status
from devflow.knowledge.acts import Actor
from devflow.knowledge.merge import Merged, MergeInput
from devflow.ui.context import UiContext
from devflow.ui.models.words import refusal, status_name
from devflow.ui.widgets import Button, ComboBox, Label, NoticeStrip
from devflow.ui.widgets.entry_form import EntryForm, Fields
from devflow.ui.widgets.painting import elided

ALL = ""
"""The choice of all texts, one below the other."""
_WIDE, _ROOM = 190, 250


class MergeEntries(QDialog):
    """`merged` after it was accepted; None when it was left. Open it with `await prepare()` first."""

    def __init__(self, ctx: UiContext, entries: Sequence[Entry], *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx = ctx
        self._entries = {entry.id: entry for entry in stays_first(entries)}
        self._proposals: dict[str, MergeInput] = {}
        self._put: Fields | None = None
        self._busy = False
        self._leave = False
        self.merged: Merged | None = None
        self.setObjectName("mergeDialog")
        self.setWindowTitle(t("Merge"))
        self.setMinimumSize(760, 520)
        self.resize(1000, 680)
        self.stays = self._choice(t("Stays"), "mergeStays")
        self.title_from = self._choice(t("Title from"), "mergeTitleFrom")
        self.text_from = self._choice(t("Text from"), "mergeTextFrom")
        self.text_from.add(t("All, one below the other"), ALL)
        for entry in self._entries.values():
            status = status_name(t, entry.status)
            title = self._short(entry.title)
            self.stays.add(self._short(t("{status}: {title}", status=status, title=entry.title)), entry.id)
            self.title_from.add(title, entry.id)
            self.text_from.add(title, entry.id)
        self.form = EntryForm(ctx)
        self.originals = QPlainTextEdit()
        self.originals.setObjectName("mergeOriginals")
        self.originals.setAccessibleName(t("The texts as they are"))
        self.originals.setReadOnly(True)
        self.originals.setProperty("role", "field")
        self.stale = NoticeStrip(ctx, "", "warning")
        self.stale.setObjectName("mergeStale")
        self.problem = NoticeStrip(ctx, "", "danger")
        self.problem.setObjectName("mergeProblem")
        self.discard = NoticeStrip(ctx, "", "danger", link=t("Discard it"))
        self.discard.setObjectName("discardStrip")
        self.discard.link.setObjectName("discardButton")
        self.discard.acted.connect(self._discard)
        self._strips = (self.stale, self.problem, self.discard)
        self._lay_out()
        for strip in self._strips:
            strip.hide()
            strip.link.setAutoDefault(False)
        self.stays.currentIndexChanged.connect(self._other_stays)
        self.title_from.currentIndexChanged.connect(self._take_title)
        self.text_from.currentIndexChanged.connect(self._take_text)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self).activated.connect(self.merge)

    async def prepare(self) -> None:
        """Read what the service proposes, whichever of them stays."""
        knowledge = self._ctx.services.knowledge
        for id in self._entries:
            self._proposals[id] = await knowledge.knowledge_merge_proposal(self._order(id))
        self._show_originals()
        self._put_proposal()

    @property
    def ids(self) -> tuple[str, ...]:
        """The one that stays, then those that it takes in."""
        return self._order(str(self.stays.currentData()))

    @property
    def dirty(self) -> bool:
        """Whether something was typed that no choice has put there."""
        return self._put is not None and self.form.fields() != self._put

    # choosing

    def _other_stays(self) -> None:
        """Its kind and title are taken over; a text that was typed stays."""
        before = self.form.fields()
        self._quietly(self.title_from, self.ids[0])
        if self.dirty:
            self._put_fields(Fields(self._first.kind, self._first.title, before.tags, before.content), typed=True)
        else:
            self._put_proposal()

    def _put_proposal(self) -> None:
        edit, first = self._proposal.edit, self._first
        tags = tuple(edit.tags) if isinstance(edit.tags, (list, tuple)) else first.tags
        self._quietly(self.title_from, first.id)
        self._quietly(self.text_from, ALL)
        self._put_fields(Fields(first.kind, first.title, tags, self._joined))

    def _take_title(self) -> None:
        fields = self.form.fields()
        title = self._entries[str(self.title_from.currentData())].title
        self._put_fields(Fields(fields.kind, title, fields.tags, fields.content), typed=self.dirty)

    def _take_text(self) -> None:
        """What stood in the field can be had back with its undo."""
        fields, which = self.form.fields(), str(self.text_from.currentData())
        content = self._joined if which == ALL else self._entries[which].content
        self._put_fields(Fields(fields.kind, fields.title, fields.tags, content))

    def _put_fields(self, fields: Fields, *, typed: bool = False) -> None:
        self.form.put(fields)
        if not typed:
            self._put = self.form.fields()

    @property
    def _first(self) -> Entry:
        return self._entries[self.ids[0]]

    @property
    def _proposal(self) -> MergeInput:
        return self._proposals[self.ids[0]]

    @property
    def _joined(self) -> str:
        content = self._proposal.edit.content
        return content if isinstance(content, str) else self._first.content

    def _order(self, first: str) -> tuple[str, ...]:
        return (first, *(id for id in self._entries if id != first))

    # merging

    def merge(self) -> None:
        if self._busy:
            return
        for strip in self._strips:
            strip.hide()
        if self.form.judge():
            self._busy = True
            self._ctx.tasks.launch(self._merge(), what="merge entries", owner=self, refused=self._refused)

    async def _merge(self) -> None:
        fields, first = self.form.fields(), self._first
        edit = EntryEdit(
            version=first.version,
            kind=fields.kind.value,
            title=fields.title,
            content=fields.content,
            tags=fields.tags,
        )
        versions = {entry.id: entry.version for entry in self._entries.values() if entry.id != first.id}
        try:
            given = MergeInput(edit, versions)
            self.merged = await self._ctx.services.knowledge.knowledge_merge(self.ids, given, actor=Actor.user())
        except StaleVersion:
            await self._read_again()
            return
        finally:
            self._busy = False
        self._leave = True
        self.accept()

    async def _read_again(self) -> None:
        """One of them changed meanwhile: its text is shown as it is now, and what was typed stays."""
        t, knowledge = self._ctx.t, self._ctx.services.knowledge
        found = await knowledge.knowledge_entries(tuple(self._entries))
        if len(found) < len(self._entries):
            self.problem.say(t("One of the entries was erased. Copy what you typed before you leave."))
            return
        self._entries = {entry.id: entry for entry in found}
        self._show_originals()
        self.stale.say(t("One of the entries changed elsewhere. Its text is shown as it is now; merge again."))

    def _refused(self, error: UserFacing) -> None:
        if isinstance(error, NotFound):
            self.problem.say(self._ctx.t("One of the entries was erased. Copy what you typed before you leave."))
        elif not (isinstance(error, InvalidInput) and self.form.refuse(error)):
            self.problem.say(refusal(self._ctx.t, error))

    # leaving

    def reject(self) -> None:
        if self.dirty and not self._leave:
            self.discard.say(self._ctx.t("What you typed is not saved."))
            self.discard.link.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().reject()

    def _discard(self) -> None:
        self._leave = True
        super().reject()

    # how it looks

    def _show_originals(self) -> None:
        texts = (f"{entry.title}\n\n{entry.content.strip()}" for entry in self._entries.values())
        self.originals.setPlainText("\n\n────────\n\n".join(texts))

    def _choice(self, name: str, object_name: str) -> ComboBox:
        box = ComboBox(self._ctx, name=name)
        box.setObjectName(object_name)
        box.setMinimumWidth(_WIDE)
        box.setSizeAdjustPolicy(box.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(12)
        return box

    def _short(self, text: str) -> str:
        """What a choice has room for."""
        return elided(text, self._ctx.theme.font("ui"), _ROOM)

    def _quietly(self, box: ComboBox, data: str) -> None:
        box.blockSignals(True)
        box.select_data(data)
        box.blockSignals(False)

    def _lay_out(self) -> None:
        t, ctx = self._ctx.t, self._ctx
        choices = QHBoxLayout()
        choices.setSpacing(12)
        for box in (self.stays, self.title_from, self.text_from):
            one = QVBoxLayout()
            one.setSpacing(4)
            label = Label(box.accessibleName(), "small", "muted")
            label.setBuddy(box)
            one.addWidget(label)
            one.addWidget(box)
            choices.addLayout(one, 1)
        beside = QWidget()
        right = QVBoxLayout(beside)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(4)
        right.addWidget(Label(self.originals.accessibleName(), "small", "muted"))
        right.addWidget(self.originals, 1)
        texts = QSplitter(Qt.Orientation.Horizontal)
        texts.setChildrenCollapsible(False)
        texts.setHandleWidth(16)
        texts.addWidget(self.form)
        texts.addWidget(beside)
        texts.setSizes([560, 380])
        self.cancel_button = Button(ctx, t("Cancel"))
        self.cancel_button.setObjectName("cancelMergeButton")
        self.cancel_button.clicked.connect(self.reject)
        self.merge_button = Button(ctx, t("Merge"), variant="primary", key=t("Ctrl Enter"))
        self.merge_button.setObjectName("confirmMergeButton")
        self.merge_button.clicked.connect(self.merge)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 4, 0, 0)
        foot.setSpacing(8)
        foot.addStretch(1)
        for button in (self.cancel_button, self.merge_button):
            button.setAutoDefault(False)
            foot.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(10)
        count = len(self._entries)
        column.addWidget(Label(t.n("Merge {count} entry", "Merge {count} entries", count), "heading"))
        words = t("The others are archived and lead to the one that stays. It keeps their timelines and uses.")
        column.addWidget(Label(words, "small", "muted", wrap=True))
        column.addLayout(choices)
        column.addWidget(self.stale)
        column.addWidget(self.problem)
        column.addWidget(texts, 1)
        column.addWidget(self.discard)
        column.addLayout(foot)


def stays_first(entries: Sequence[Entry]) -> list[Entry]:
    """The one that is known and used already before those that only ask to be."""
    rank = {Status.PUBLISHED: 0, Status.PENDING_REVIEW: 1, Status.CANDIDATE: 2, Status.ARCHIVED: 3}
    return sorted(entries, key=lambda entry: (rank[entry.status], -entry.reuse_count, entry.created_at))
