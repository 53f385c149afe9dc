"""The pane on the left: what waits for a decision. New arrivals wait behind a pill and never move the selection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from devflow.domain.knowledge import INBOX, Entry, Kind
from devflow.store.entry_lists import Filters
from devflow.ui.context import UiContext
from devflow.ui.models.completion import Completion
from devflow.ui.models.entries import EntryModel
from devflow.ui.models.marks import marked_terms
from devflow.ui.models.refresh import Refresher
from devflow.ui.models.words import kind_name
from devflow.ui.pages.inbox.offers import UnreadOffer
from devflow.ui.widgets import Button, Choice, EmptyState, Label, Pane, Picker, SearchField
from devflow.ui.widgets.entry_list import EntryList
from devflow.ui.widgets.entry_rows import CandidateDelegate

_FILTER_AFTER_MS = 120


class Candidates(Pane):
    """`loaded` after each reading of the inbox."""

    loaded = Signal()
    extract_asked = Signal()

    def __init__(self, ctx: UiContext) -> None:
        super().__init__("surface")
        self._ctx = ctx
        self._order: tuple[str, ...] = ()
        self._shown: frozenset[str] = frozenset()
        self._returning: frozenset[str] = frozenset()
        self._missed: frozenset[str] = frozenset()
        self._take_all = True
        self._focus: str | None = None
        t = ctx.t
        self.model = EntryModel(ctx, self, with_alike=True)
        self.list = EntryList(ctx, self.model, t("Candidates"), multi=True)
        self.list.setObjectName("inboxList")
        self._delegate = CandidateDelegate(ctx, self.list)
        self.list.setItemDelegate(self._delegate)
        self._count = Label("", "ui", "faint")
        self.extract = Button(ctx, t("Extract now"), icon="download", small=True)
        self.extract.setObjectName("extractNowButton")
        self.extract.clicked.connect(self.extract_asked)
        self.filter = SearchField(ctx, t("Filter candidates"), key="/")
        self.filter.setObjectName("inboxFilter")
        self.kinds = Picker(ctx, t("Kind"))
        self.kinds.setObjectName("inboxKindFilter")
        self._kind: Kind | None = None
        self._show_kinds()
        self.offer = UnreadOffer(ctx)
        self.pill = Button(ctx, "", variant="strip", icon="arrow-up")
        self.pill.setObjectName("newCandidatesPill")
        self.pill.hide()
        self.pill.clicked.connect(self.take_new)
        self._no_match = EmptyState(ctx, "search", t("No candidate matches"), "", [(t("Clear the filter"), self.clear)])
        self._nothing = QWidget()
        self._lay_out()
        self._reader = Refresher(ctx.tasks, self._read, "read the inbox", self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_FILTER_AFTER_MS)
        self._pause.timeout.connect(self._filter_changed)
        self.filter.textChanged.connect(self._pause.start)
        self.filter.moved.connect(self.list.step)
        self.filter.escaped.connect(self.list.setFocus)
        self.filter.returnPressed.connect(self.list.setFocus)
        self.kinds.chosen.connect(self._kind_chosen)
        self._completion = Completion(ctx, self)
        self._completion.completed.connect(self._completed)
        self._completion.stale.connect(self._reader.ask)
        ctx.events.entries_changed.connect(self._changed)

    # what is there

    @property
    def total(self) -> int:
        """Everything that waits under the filter, new arrivals included."""
        return len(self._order)

    @property
    def filtered(self) -> bool:
        return bool(self.filter.text().strip()) or self._kind is not None

    @property
    def waiting(self) -> tuple[str, ...]:
        """New arrivals behind the pill."""
        return tuple(id for id in self._order if id not in self._shown)

    def entries(self, ids: Iterable[str]) -> tuple[Entry, ...]:
        return tuple(entry for id in ids if (entry := self.model.entry(id)) is not None)

    # what changes

    def refresh(self, *, take_new: bool = False) -> None:
        """Read the inbox again; `take_new` shows new arrivals in their places (the human has just come here)."""
        self._take_all = self._take_all or take_new
        self._reader.ask()

    def absorb(self, entries: Sequence[Entry], *, returning: bool = False) -> None:
        """What an own act gave back: decided rows leave at once; rows that Undo brings back are not "new"."""
        self.model.put(entries)
        gone = frozenset(entry.id for entry in entries if entry.status not in INBOX)
        if gone:
            self._order = tuple(id for id in self._order if id not in gone)
            self._show()
        if returning:
            self._returning |= frozenset(entry.id for entry in entries if entry.status in INBOX)
            self._reader.ask()

    def take_new(self) -> None:
        """Show what waited behind the pill; the selection stays where it is."""
        first = next(iter(self.waiting), None)
        self._take_all = True
        self._show()
        row = self.model.row_of(first)
        if row >= 0:
            self.list.scrollTo(self.model.index(row, 0))
        self.list.setFocus()

    def go_to(self, id: str) -> None:
        """Make that candidate the current one, taking filters off that hide it."""
        self._focus = id
        if self.model.row_of(id) < 0 and self.filtered:
            self.clear()
        self.refresh(take_new=True)

    def focus_when_there(self, id: str) -> None:
        """Make it the current one as soon as it is in the list."""
        self._focus = id
        self._go_to_focus()

    def clear(self) -> None:
        """Take every filter off."""
        self._kind = None
        self._show_kinds()
        self.filter.clear()
        self._filter_changed()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        missed, self._missed = self._missed, frozenset()
        if missed:
            self._changed(missed)

    def _changed(self, ids: frozenset[str]) -> None:
        if not self.isVisible():
            self._missed |= ids
            return
        self.model.read_again(ids)
        self._reader.ask()

    def _filter_changed(self) -> None:
        self._delegate.set_terms(marked_terms(self.filter.text()))
        self.refresh(take_new=True)

    def _kind_chosen(self, kind: object) -> None:
        self._kind = kind if isinstance(kind, Kind) else None
        self._show_kinds()
        self.refresh(take_new=True)

    async def _read(self) -> None:
        query, kind = self.filter.text().strip(), self._kind
        filters = Filters(statuses=INBOX, kind=kind)
        found = await self._ctx.services.knowledge.knowledge_found(filters, sort="inbox", query=query)
        if (query, kind) == (self.filter.text().strip(), self._kind):
            self.model.explain(query)
            if self._completion.begin((filters, "inbox", query), found):
                self._order = found.ids
            self._show()
            self.loaded.emit()

    def _completed(self, _search: object, ids: tuple[str, ...]) -> None:
        self._order = ids
        self._show()
        self.loaded.emit()

    def _show(self) -> None:
        kept = self._shown | self._returning
        if self._take_all or not self._shown.intersection(self._order):
            shown = self._order
        else:
            shown = tuple(id for id in self._order if id in kept)
        first_time = not self._shown
        self._take_all = False
        self._returning -= frozenset(shown)
        self._shown = frozenset(shown)
        self.list.show_order(shown)
        if not self._go_to_focus() and shown and (first_time or not self.list.currentIndex().isValid()):
            self.list.go_to(shown[0])
        self._tell(len(self._order) - len(shown))

    def _go_to_focus(self) -> bool:
        if self.model.row_of(self._focus) < 0:
            return False
        self.list.go_to(self._focus)
        self._focus = None
        return True

    def _tell(self, new: int) -> None:
        count, going_on = str(self.total) if self.total else "", self._completion.words
        words = self._ctx.t("{count} so far, {going_on}", count=self.total, going_on=going_on) if going_on else count
        self._count.setText(words)
        self.pill.set_label(self._ctx.t.n("{count} new candidate", "{count} new candidates", new))
        self.pill.setVisible(new > 0)
        self._search.setVisible(self.total > 0 or self.filtered)
        had_list = self._stack.currentWidget() is self.list
        self._stack.setCurrentWidget(self.list if self._shown else self._no_match if self.filtered else self._nothing)
        if self._shown and not had_list and self.isVisible() and not self.filter.hasFocus():
            self.list.setFocus()  # a hidden list cannot take the keyboard: it gets it when it comes

    # how it looks

    def _show_kinds(self) -> None:
        t = self._ctx.t
        choices: list[Choice | None] = [Choice(_ALL, t("All kinds")), None]
        choices += [Choice(kind, kind_name(t, kind)) for kind in Kind]
        self.kinds.set_choices(choices, self._kind or _ALL)
        self.kinds.set_label(t("All kinds") if self._kind is None else kind_name(t, self._kind))

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(16, 12, 12, 10)
        head.setSpacing(5)
        head.addWidget(Label(self._ctx.t("Inbox"), "heading"))
        head.addWidget(self._count)
        head.addStretch(1)
        head.addWidget(self.extract)
        self._search = QWidget()
        search = QHBoxLayout(self._search)
        search.setContentsMargins(12, 2, 12, 0)
        search.setSpacing(8)
        search.addWidget(self.filter, 1)
        search.addWidget(self.kinds)
        strips = QVBoxLayout()
        strips.setContentsMargins(12, 8, 12, 0)
        strips.setSpacing(6)
        strips.addWidget(self.offer)
        strips.addWidget(self.pill)
        body = QWidget()
        self._stack = QStackedLayout(body)
        for part in (self.list, self._no_match, self._nothing):
            self._stack.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._search)
        column.addLayout(strips)
        column.addSpacing(6)
        column.addWidget(body, 1)


_ALL = "all"
