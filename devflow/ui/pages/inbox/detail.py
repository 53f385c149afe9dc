"""The candidate that is being judged: its text, where it comes from, what speaks for and against it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import Entry
from devflow.knowledge.similar import Likeness
from devflow.ui.context import UiContext
from devflow.ui.models.checks import Check, checks
from devflow.ui.models.likeness import MOST
from devflow.ui.models.moments import ago, local_now, moment
from devflow.ui.models.provenance import Provenance, provenance
from devflow.ui.models.refresh import Refresher
from devflow.ui.models.words import kind_name, source_name, status_name
from devflow.ui.pages.inbox.similar import SimilarPanel
from devflow.ui.widgets import Button, Chip, ConfidenceBar, IconButton, Label, Pane
from devflow.ui.widgets.entry_menu import EntryMenu
from devflow.ui.widgets.entry_parts import Checks, Link, Quote, Section
from devflow.ui.widgets.entry_text import EDGE, DetailScroll, EntryText
from devflow.ui.widgets.why import WhyBar

READ_AFTER_MS = 40


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is read after the entry itself is on the screen."""

    entry: Entry
    origin: Provenance
    checks: tuple[Check, ...]
    similar: tuple[Likeness, ...]


class CandidateDetail(Pane):
    """Shows one entry; what needs a look elsewhere follows a moment later, in room that is kept for it."""

    widen_asked = Signal()
    shown = Signal()
    """Everything about the current entry is on the screen."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__("surface")
        self.setObjectName("inboxDetail")
        self._ctx = ctx
        self._entry: Entry | None = None
        t = ctx.t
        self._kind = Chip("", "tag")
        self._status = Chip("", "tag")
        self._when = Label("", "small", "faint")
        self.widen = Button(ctx, t("Widen to all projects"), variant="ghost", icon="globe", key="W", small=True)
        self.widen.setObjectName("widenProjectButton")
        self.widen.clicked.connect(self.widen_asked)
        self.more = IconButton(ctx, "dots", t("More"))
        self.more.setObjectName("moreButton")
        self.more.clicked.connect(self._open_menu)
        self._menu = EntryMenu(ctx, self)
        self._confidence = ConfidenceBar(ctx)
        self._project = Label("", "small", "muted")
        self._origin = Link(ctx)
        self._origin.clicked.connect(self._follow)
        self.text = EntryText(ctx, self._facts())
        self.why = WhyBar(ctx)
        self.text.put_under_title(self.why)
        self._quote = Quote(ctx)
        self._quote.open.setObjectName("openEvidence")
        self._quote.open.clicked.connect(self._follow)
        self._checks = Checks(ctx)
        self._evidence = Section(t("Evidence"), self._quote)
        self.similar = SimilarPanel(ctx)
        self._scroll = DetailScroll(820)
        self._scroll.column.addWidget(self.text)
        self._evidence.setContentsMargins(0, 14, 0, 0)
        self._scroll.column.addSpacing(8)
        self._scroll.column.addWidget(self._evidence)
        self._scroll.column.addSpacing(8)
        self._scroll.column.addWidget(self._checks)
        self._scroll.column.addWidget(self.similar)
        self._scroll.column.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        column.addWidget(self._scroll, 1)
        self._beside = Refresher(ctx.tasks, self._read_beside, "read what stands beside a candidate", self)
        # A moment later, so that a decision on the row before is written first, and rows passed by are never read.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(READ_AFTER_MS)
        self._soon.timeout.connect(self._beside.ask)

    @property
    def entry(self) -> Entry | None:
        return self._entry

    def show_entry(self, entry: Entry | None) -> None:
        """Show it at once; None clears the pane."""
        before, self._entry = self._entry, entry
        if entry is None:
            return
        t = self._ctx.t
        self._kind.show_kind(kind_name(t, entry.kind), entry.kind.value)
        self._status.show_kind(status_name(t, entry.status), f"status-{entry.status.value}")
        now = local_now()
        self._when.setText(ago(t, entry.created_at, now))
        self._when.setToolTip(moment(t, entry.created_at, now))
        self.widen.setVisible(entry.project is not None)
        self._confidence.set_value(entry.confidence)
        self._project.setText(
            t("Project {name}", name=entry.project.name) if entry.project is not None else t("All projects")
        )
        self.text.show_entry(entry)
        if before is None or before.id != entry.id:
            self._scroll.to_top()
            self._origin.show_link(source_name(t, entry.source_ref))
            self.similar.hide()
            self._checks.show_checks(())
        self._show_quote(entry)
        self._soon.start()

    def refresh_beside(self) -> None:
        """Something else changed: similar entries and conflicts may be others now."""
        if self._entry is not None:
            self._beside.ask()

    def _show_quote(self, entry: Entry) -> None:
        evidence = entry.evidence
        quote = evidence.quote.strip() if evidence is not None else ""
        self._evidence.setVisible(bool(quote))
        if evidence is None or not quote:
            return
        self._quote.words.setText(self._ctx.t("“{quote}”", quote=quote))
        self._quote.who.setText(self._who(evidence.role, 0))
        self._quote.icon.set_icon("chat" if evidence.role == "assistant" else "user")

    def _who(self, role: str, number: int) -> str:
        t = self._ctx.t
        who = {"user": t.p("role", "User"), "assistant": t.p("role", "Assistant")}.get(role, t("Said in the chat"))
        return t("{who} · message {number}", who=who, number=number) if number else who

    async def _read_beside(self) -> None:
        entry, knowledge = self._entry, self._ctx.services.knowledge
        if entry is None:
            return
        try:
            similar = await knowledge.knowledge_similar(entry.id, MOST)
        except NotFound:  # erased a moment ago; the list hears of it too
            return
        origin = await provenance(self._ctx, entry)
        against = [each.entry for each in similar if each.contradicts is not None]
        found = await checks(self._ctx.t, entry, against)
        if self._entry == entry:
            self._show_beside(_Beside(entry, origin, found, similar))

    def _show_beside(self, beside: _Beside) -> None:
        t, entry = self._ctx.t, beside.entry
        self._origin.show_link(beside.origin.words, beside.origin.address)
        at_message = beside.origin.address.startswith("devflow:message/")
        address = beside.origin.address if at_message else ""
        self._quote.open.show_link(t.p("evidence", "Open") if at_message else "", address)
        self._quote.open.setAccessibleName(t("Open the message"))
        if entry.evidence is not None:
            self._quote.who.setText(self._who(entry.evidence.role, beside.origin.number))
        self._checks.show_checks(beside.checks)
        self.similar.show_similar(entry, beside.similar)
        self.shown.emit()

    def _follow(self) -> None:
        if self._origin.address:
            self._ctx.shell.open_link(self._origin.address)

    def _open_menu(self) -> None:
        if self._entry is not None:
            self._menu.open_for(self._entry, self.more)

    def _head(self) -> QWidget:
        head = Pane("surface", "bottom")
        head.setFixedHeight(48)
        row = QHBoxLayout(head)
        row.setContentsMargins(EDGE, 0, 16, 0)
        row.setSpacing(8)
        row.addWidget(self._kind)
        row.addWidget(self._status)
        row.addWidget(self._when)
        row.addStretch(1)
        row.addWidget(self.widen)
        row.addWidget(self.more)
        return head

    def _facts(self) -> QWidget:
        facts = QWidget()
        row = QHBoxLayout(facts)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._confidence)
        row.addWidget(self._project)
        row.addSpacing(8)
        row.addWidget(self._origin)
        row.addStretch(1)
        return facts
