"""The library's list: search, new, how many, in which order."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from devflow.domain.knowledge import Status
from devflow.ui.context import UiContext
from devflow.ui.models.entries import EntryModel
from devflow.ui.models.library_view import RELEVANCE, LibraryView
from devflow.ui.models.marks import marked_terms
from devflow.ui.models.words import sort_names
from devflow.ui.widgets import Button, Choice, EmptyState, IconButton, Label, Pane, Picker, SearchField
from devflow.ui.widgets.entry_list import EntryList
from devflow.ui.widgets.entry_rows import LibraryDelegate

_SEARCH_AFTER_MS = 120


class EntryPane(Pane):
    """Says what was asked for; the page holds the state and reads the service."""

    query_changed = Signal(str)
    sort_chosen = Signal(str)
    new_asked = Signal()
    filters_asked = Signal()
    samples_asked = Signal()
    reset_asked = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__("surface", "none", parent)
        self._ctx = ctx
        self._view = LibraryView()
        t = ctx.t
        self.search = SearchField(ctx, t("Search entries"), key="/")
        self.search.setObjectName("librarySearch")
        self.new = Button(ctx, t("New"), variant="primary", icon="plus")
        self.new.setObjectName("newEntryButton")
        self.new.clicked.connect(self.new_asked)
        self.filters = IconButton(ctx, "panel-left", t("Filters"), checkable=True)
        self.filters.setObjectName("filtersButton")
        self.filters.clicked.connect(self.filters_asked)
        self.filters.hide()
        self.count = Label("", "small", "muted")
        self.count.setObjectName("entryCount")
        self.sort = Picker(ctx, t("Sort"), icon="sort")
        self.sort.setObjectName("sortPicker")
        self.model = EntryModel(ctx, self)
        self.list = EntryList(ctx, self.model, t("Entries"))
        self.list.setObjectName("entryList")
        self._delegate = LibraryDelegate(ctx, self.list)
        self.list.setItemDelegate(self._delegate)
        self._nothing = EmptyState(ctx, "book", "")
        self._nothing.setObjectName("libraryEmpty")
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_SEARCH_AFTER_MS)
        self._pause.timeout.connect(self._searched)
        self.search.textChanged.connect(self._typed)
        self.search.moved.connect(self.list.step)
        self.search.escaped.connect(self.list.setFocus)
        self.search.returnPressed.connect(self.list.setFocus)
        self.sort.chosen.connect(self._sort_chosen)

    def show_view(self, view: LibraryView, total: int, everything: int, going_on: str = "") -> None:
        """`total` entries are in the list, `everything` in the whole library, archived ones too. `going_on`: what is
        being done for the rest, while this is not all."""
        self._view = view
        t = self._ctx.t
        if self.search.text().strip() != view.query.strip() and not self._pause.isActive():
            self.search.setText(view.query)
            self._pause.stop()
        words = _count_words(self._ctx, view, total)
        self.count.setText(t("{count} so far, {going_on}", count=words, going_on=going_on) if going_on else words)
        names = sort_names(t)
        choices = [Choice(name, text) for name, text in names.items() if name != RELEVANCE or view.searching]
        self.sort.set_choices(choices, view.order)
        self.sort.set_label(names[view.order])
        self._delegate.set_terms(marked_terms(view.query))
        had_list = self._stack.currentWidget() is self.list
        self._stack.setCurrentWidget(self.list if total or going_on else self._nothing)
        if total and not had_list and self.isVisible() and not self.search.hasFocus():
            self.list.setFocus()  # a hidden list cannot take the keyboard: it gets it when it comes
        if not total and not going_on:
            self._explain(view, everything)

    def _explain(self, view: LibraryView, everything: int) -> None:
        t = self._ctx.t
        if not everything:
            self._nothing.say(
                t("The library is empty"),
                t("What you publish from the inbox, or write yourself, is kept here and given to every chat."),
                [(t("Load the sample library"), self.samples_asked.emit)],
            )
            self._nothing.buttons[0].set_variant("default")  # New, above, is the one filled button here
        elif view.searching:
            self._nothing.say(
                t("Nothing matches"),
                t("The search looks at titles, tags and texts of what the filters show."),
                [(t("Clear the search"), self.search.clear)],
            )
        else:
            self._nothing.say(
                t("No entry here"), t("The filters show none."), [(t("Reset the filters"), self.reset_asked.emit)]
            )

    def _typed(self, text: str) -> None:
        if text.strip() != self._view.query.strip():
            self._pause.start()

    def _searched(self) -> None:
        self.query_changed.emit(self.search.text().strip())

    def _sort_chosen(self, name: object) -> None:
        self.sort_chosen.emit(str(name))

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 9, 12, 0)
        bar.setSpacing(8)
        bar.addWidget(self.filters)
        bar.addWidget(self.search, 1)
        bar.addWidget(self.new)
        line = QHBoxLayout()
        line.setContentsMargins(20, 0, 12, 0)
        line.addWidget(self.count)
        line.addStretch(1)
        line.addWidget(self.sort)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(bar)
        column.addLayout(line)
        column.addWidget(body, 1)


def _count_words(ctx: UiContext, view: LibraryView, total: int) -> str:
    t = ctx.t
    if view.searching:
        return t("{count} found", count=f"{total:,}")
    shown = f"{total:,}"
    match view.status:
        case Status.PUBLISHED:
            return t("{count} published", count=shown)
        case Status.PENDING_REVIEW:
            return t("{count} in review", count=shown)
        case Status.CANDIDATE:
            return t.n("{shown} candidate", "{shown} candidates", total, shown=shown)
        case Status.ARCHIVED:
            return t("{count} archived", count=shown)
        case None:
            return t.n("{shown} entry", "{shown} entries", total, shown=shown)
