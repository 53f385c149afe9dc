"""An entry of the library: text, facts, contradictions, and its whole life."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import INBOX, Entry, EventKind, Status, TimelineEvent
from devflow.knowledge.similar import Likeness
from devflow.ui.context import UiContext
from devflow.ui.models.likeness import MOST, reasons
from devflow.ui.models.moments import day, local_now, moment
from devflow.ui.models.provenance import Provenance, provenance
from devflow.ui.models.refresh import Refresher
from devflow.ui.models.words import kind_name, source_name, status_name
from devflow.ui.pages.knowledge.embedding_fact import EmbeddingFact
from devflow.ui.pages.knowledge.similar_list import SimilarList
from devflow.ui.widgets import Button, Chip, ConfidenceBar, Hairline, IconButton, Label, NoticeStrip, Pane
from devflow.ui.widgets.entry_menu import EntryMenu
from devflow.ui.widgets.entry_parts import FactsGrid, Link, Section
from devflow.ui.widgets.entry_text import EDGE, DetailScroll, EntryText
from devflow.ui.widgets.entry_timeline import timeline_items
from devflow.ui.widgets.timeline import Timeline
from devflow.ui.widgets.why import WhyBar

READ_AFTER_MS = 40


@dataclass(frozen=True, slots=True)
class _Beside:
    entry: Entry
    events: tuple[TimelineEvent, ...]
    used: tuple[tuple[str, str], ...]
    similar: tuple[Likeness, ...]
    merged: tuple[Entry, ...]
    into: Entry | None
    origin: Provenance


class EntryDetail(Pane):
    """Shows one entry at once; its facts and timeline follow from the service, and again after every change."""

    edit_asked = Signal()
    archive_asked = Signal()
    restore_asked = Signal()
    compare_asked = Signal(object)
    """The entry that resembles it (a Likeness)."""
    merge_asked = Signal(object)
    shown = Signal()
    """Everything about the current entry is on the screen."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__("surface", "none", parent)
        self.setObjectName("entryDetail")
        self._ctx = ctx
        self._entry: Entry | None = None
        self._used: tuple[tuple[str, str], ...] = ()
        self._contradicting: tuple[Likeness, ...] = ()
        self._into = ""
        t = ctx.t
        self._kind = Chip("", "tag")
        self._status = Label("", "small")
        self.judge = Button(ctx, t("Review in the inbox"), variant="ghost", icon="inbox")
        self.judge.setObjectName("reviewInInboxButton")
        self.judge.clicked.connect(self._to_inbox)
        self.edit = Button(ctx, t("Edit"), variant="ghost", icon="pencil")
        self.edit.setObjectName("editEntryButton")
        self.edit.clicked.connect(self.edit_asked)
        self.archive = Button(ctx, t("Archive"), variant="ghost", icon="archive")
        self.archive.setObjectName("archiveEntryButton")
        self.archive.clicked.connect(self.archive_asked)
        self.restore = Button(ctx, t("Restore"), variant="ghost", icon="restore")
        self.restore.setObjectName("restoreEntryButton")
        self.restore.clicked.connect(self.restore_asked)
        self.more = IconButton(ctx, "dots", t("More"))
        self.more.setObjectName("moreButton")
        self.more.clicked.connect(self._open_menu)
        self._menu = EntryMenu(ctx, self)
        self.text = EntryText(ctx)
        self.why = WhyBar(ctx)
        self.text.put_under_title(self.why)
        self._facts = self._make_facts()
        self.conflict = NoticeStrip(ctx, "", "warning", link=t("Compare"))
        self.conflict.setObjectName("conflictStrip")
        self.conflict.acted.connect(self._compare)
        self.conflict.hide()
        self.merged = NoticeStrip(ctx, "", "info", link=t("Open it"))
        self.merged.setObjectName("mergedStrip")
        self.merged.acted.connect(self._open_merged)
        self.merged.hide()
        self.similar = SimilarList(ctx)
        self.similar.compare_asked.connect(self.compare_asked)
        self.similar.merge_asked.connect(self.merge_asked)
        self.timeline = Timeline(ctx)
        self.timeline.setObjectName("entryTimeline")
        self.timeline.setAccessibleName(t("Timeline"))
        self._lay_out()
        self._beside = Refresher(ctx.tasks, self._read_beside, "read what stands beside an entry", self)
        # A moment later, so that a decision on the row before is written first, and rows passed by are never read.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(READ_AFTER_MS)
        self._soon.timeout.connect(self._beside.ask)
        ctx.theme.changed.connect(self._tone_status)

    @property
    def entry(self) -> Entry | None:
        return self._entry

    def show_entry(self, entry: Entry) -> None:
        before, self._entry = self._entry, entry
        t = self._ctx.t
        self._kind.show_kind(kind_name(t, entry.kind), entry.kind.value)
        self._status.setText(status_name(t, entry.status))
        self._tone_status()
        self.judge.setVisible(entry.status in INBOX)
        self.archive.setVisible(entry.status is not Status.ARCHIVED)
        self.restore.setVisible(entry.status is Status.ARCHIVED)
        self.text.show_entry(entry)
        self._confidence.set_value(entry.confidence)
        self._embedding.show_entry(entry)
        self._project.show_link(entry.project.name if entry.project is not None else t("All projects"))
        self._project.setToolTip(entry.project.path if entry.project is not None else "")
        now = local_now()
        self._created.show_link(moment(t, entry.created_at, now))
        self._updated.show_link(moment(t, entry.updated_at, now))
        self._reused.show_link(
            t.n("{count} time", "{count} times", entry.reuse_count) if entry.reuse_count else t("never")
        )
        if before is None or before.id != entry.id:
            self._scroll.to_top()
            self._source.show_link(source_name(t, entry.source_ref))
            self._used_in.show_link("")
            self.conflict.hide()
            self.merged.hide()
            self.similar.show_similar((), may_merge=False)
            self.timeline.set_items([])
        self._soon.start()

    def refresh(self) -> None:
        """Something changed that may show here."""
        if self._entry is not None:
            self._beside.ask()

    async def _read_beside(self) -> None:
        entry, knowledge = self._entry, self._ctx.services.knowledge
        if entry is None:
            return
        try:
            events = await knowledge.knowledge_timeline(entry.id)
        except NotFound:
            return
        used = await knowledge.used_in(entry.id)
        similar = await knowledge.knowledge_similar(entry.id, MOST)
        merged = await knowledge.merged_from(entry.id)
        into = await knowledge.merged_into(entry.id) if entry.status is Status.ARCHIVED else None
        origin = await provenance(self._ctx, entry)
        if self._entry is not None and self._entry.id == entry.id:
            self._show_beside(_Beside(entry, events, used, similar, merged, into, origin))

    def _show_beside(self, beside: _Beside) -> None:
        t, now = self._ctx.t, local_now()
        self._used = beside.used
        self._source.show_link(beside.origin.words, beside.origin.address)
        count = len(beside.used)
        self._used_in.show_link(
            t.n("{count} conversation", "{count} conversations", count) if count else t("no conversation yet"),
            "devflow:used" if count else "",
        )
        last = next((event.at for event in beside.events if event.event is EventKind.REUSED), None)
        if last is not None and beside.entry.reuse_count:
            self._reused.show_link(t("{times} · last {day}", times=self._times(beside.entry), day=day(t, last, now)))
        self._say_conflict(beside.similar)
        self.similar.show_similar(beside.similar, may_merge=beside.entry.status is not Status.ARCHIVED)
        self._into = "" if beside.into is None else beside.into.id
        if beside.into is not None:
            self.merged.say(t("Merged into “{title}”.", title=beside.into.title))
        self.merged.setVisible(beside.into is not None)
        others = {entry.id: entry.title for entry in beside.merged}
        self.timeline.set_items(timeline_items(t, beside.events, now, others))
        self.shown.emit()

    def _times(self, entry: Entry) -> str:
        return self._ctx.t.n("{count} time", "{count} times", entry.reuse_count)

    def _say_conflict(self, similar: Sequence[Likeness]) -> None:
        self._contradicting = tuple(each for each in similar if each.contradicts is not None)
        if not self._contradicting:
            self.conflict.hide()
            return
        t, first, more = self._ctx.t, self._contradicting[0], len(self._contradicting) - 1
        words = t("May contradict “{title}”. Chats get both, with dates.", title=first.entry.title)
        if more:
            words = " ".join((words, t.n("{count} more may.", "{count} more may.", more)))
        why = reasons(t, first.contradicts) if first.contradicts is not None else ()
        self.conflict.say("\n".join((words, *why)))

    # what the human does here

    def _compare(self) -> None:
        if self._contradicting:
            self.compare_asked.emit(self._contradicting[0])

    def _open_merged(self) -> None:
        self._ctx.shell.open_link(f"devflow:entry/{self._into}")

    def _to_inbox(self) -> None:
        if self._entry is not None:
            self._ctx.shell.open_link(f"devflow:inbox/{self._entry.id}")

    def _open_source(self) -> None:
        self._ctx.shell.open_link(self._source.address)

    def _open_used(self) -> None:
        """The one conversation at once; of several, choose."""
        if len(self._used) == 1:
            self._ctx.shell.open_link(f"devflow:conversation/{self._used[0][0]}")
            return
        menu = QMenu(self)
        menu.setObjectName("usedInMenu")
        for id, title in self._used[:20]:
            action = QAction(title or self._ctx.t("New conversation"), menu)
            action.setData(id)
            menu.addAction(action)
        menu.triggered.connect(self._used_picked)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._used_in.mapToGlobal(self._used_in.rect().bottomLeft()))

    def _used_picked(self, action: QAction) -> None:
        self._ctx.shell.open_link(f"devflow:conversation/{action.data()}")

    def _open_menu(self) -> None:
        if self._entry is not None:
            self._menu.open_for(self._entry, self.more)

    # how it looks

    def _tone_status(self) -> None:
        if self._entry is not None:
            tones = {Status.PUBLISHED: "success", Status.ARCHIVED: "faint", Status.CANDIDATE: "warning"}
            self._status.set_tone(tones.get(self._entry.status, "accent"))

    def _make_facts(self) -> FactsGrid:
        t, ctx = self._ctx.t, self._ctx
        self._source, self._used_in = Link(ctx), Link(ctx)
        self._source.setObjectName("sourceLink")
        self._source.clicked.connect(self._open_source)
        self._used_in.setObjectName("usedInLink")
        self._used_in.clicked.connect(self._open_used)
        self._project, self._reused, self._created, self._updated = (Link(ctx) for _ in range(4))
        self._confidence = ConfidenceBar(ctx)
        self._embedding = EmbeddingFact(ctx)
        return FactsGrid(
            [
                (t("Source"), self._source),
                (t("Confidence"), self._confidence),
                (t("Project"), self._project),
                (t("Reused"), self._reused),
                (t("Created"), self._created),
                (t("Used in"), self._used_in),
                (t("Updated"), self._updated),
                (t("Vectors"), self._embedding),
            ]
        )

    def _lay_out(self) -> None:
        head = Pane("surface", "bottom")
        head.setFixedHeight(48)
        row = QHBoxLayout(head)
        row.setContentsMargins(EDGE, 0, 16, 0)
        row.setSpacing(8)
        row.addWidget(self._kind)
        row.addWidget(self._status)
        row.addStretch(1)
        for widget in (self.judge, self.edit, self.restore, self.archive, self.more):
            row.addWidget(widget)
        self._scroll = DetailScroll(720)
        inner = self._scroll.column
        inner.addWidget(self.text)
        inner.addSpacing(16)
        inner.addWidget(Hairline())
        inner.addSpacing(8)
        inner.addWidget(self._facts)
        inner.addSpacing(8)
        inner.addWidget(Hairline())
        inner.addSpacing(14)
        inner.addWidget(self.merged)
        inner.addWidget(self.conflict)
        inner.addSpacing(20)
        inner.addWidget(self.similar)
        inner.addWidget(Section(self._ctx.t("Timeline"), self.timeline))
        inner.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._scroll, 1)
