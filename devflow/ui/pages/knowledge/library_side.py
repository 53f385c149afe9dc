"""The library side of the Knowledge tab: facets, list, detail. One state, kept in the settings (KP-4, KP-7, KP-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import Entry, Status
from devflow.knowledge.similar import Likeness
from devflow.ui.context import UiContext
from devflow.ui.joining import Joining
from devflow.ui.models.completion import Completion, Search
from devflow.ui.models.disagreements import Disagreements
from devflow.ui.models.library_view import GROUP, RELEVANCE, LibraryView, from_settings, to_settings
from devflow.ui.models.marks import marked_terms
from devflow.ui.models.refresh import Refresher
from devflow.ui.models.review import Decided, Review, history_of
from devflow.ui.models.why import why_entry
from devflow.ui.pages.knowledge.detail import EntryDetail
from devflow.ui.pages.knowledge.entry_pane import EntryPane
from devflow.ui.pages.knowledge.facets import FacetPane
from devflow.ui.pages.knowledge.facets_popup import LIST, SIDE, FacetsPopup
from devflow.ui.pages.knowledge.library_edits import LibraryEdits
from devflow.ui.pages.knowledge.side_switch import SideSwitch
from devflow.ui.samples import load_samples
from devflow.ui.widgets import EmptyState, HairlineSplitter, UndoBar

_Key = Qt.Key


class LibrarySide(QWidget):
    """`ready` is the task that reads the kept state; nothing is shown, and nothing is stored, before it is done."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self.setObjectName("librarySide")
        self.setAccessibleName(ctx.t.p("side", "Library"))
        self._ctx = ctx
        self._view = LibraryView()
        self._known = False
        self._back: str | None = None  # what Undo brought back, until it is in the list
        self._pinned: str | None = None
        self._missed: frozenset[str] = frozenset()
        self._narrow = False
        self.review = Review(ctx, history_of(ctx, "library"), self)
        self._joining = Joining(ctx, self, self.review)
        self._edits = LibraryEdits(ctx, self, self.review.done, self._added)
        self.switch = SideSwitch(ctx)
        self.facets = FacetPane(ctx, self.switch)
        self.pane = EntryPane(ctx)
        self.list, self.model = self.pane.list, self.pane.model
        self.detail = EntryDetail(ctx)
        self._nothing = EmptyState(ctx, "book", ctx.t("No entry chosen"))
        self._right = QStackedWidget()
        self._lay_out()
        self.bar = UndoBar(ctx, self._right, above=16)
        self.bar.button.setObjectName("libraryUndoButton")
        self._everything = 0
        self._completion = Completion(ctx, self)
        self._disagreements = Disagreements(ctx, self)
        self._reader = Refresher(ctx.tasks, self._read, "read the library", self)
        self._keeper = Refresher(ctx.tasks, self._keep, "keep the library's view", self)
        self._minutes = QTimer(self)
        self._minutes.setInterval(60_000)
        self._minutes.timeout.connect(self.list.viewport().update)
        self._connect()
        self.ready = ctx.tasks.launch(self._begin(), what="open the library", owner=self)

    # what the window calls

    def activate(self) -> None:
        """The human comes here: the keyboard goes to the list."""
        self._minutes.start()
        if self._known:
            self._reader.ask()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_link(self, address: str) -> bool:
        """`devflow:entry/<id>`: show that entry, whatever the filters; they stay as they are."""
        kind, _, id = address.removeprefix("devflow:").partition("/")
        if kind != "entry" or not id:
            return False
        self._ctx.tasks.launch(self._open(id), what="open an entry", owner=self)
        return True

    def set_narrow(self, below_1180: bool, below_1040: bool) -> None:
        """Below 1040 the facets become a popup."""
        if below_1040 != self._narrow:
            self._narrow = below_1040
            self._popup.place(below_1040, self.splitter)

    def close_page(self) -> None:
        if self._known:
            self._keeper.ask()

    @property
    def view(self) -> LibraryView:
        return self._view

    # state

    async def _begin(self) -> None:
        self._view = from_settings(await self._ctx.services.settings.get(GROUP))
        self._known = True
        self.pane.search.setText(self._view.query)
        await self._reader.ask()

    def _set(self, view: LibraryView) -> None:
        """A new state: read for it, and keep it."""
        if view == self._view:
            return
        self._view = view
        self._pinned = None
        self._reader.ask()
        self._keeper.ask()

    async def _keep(self) -> None:
        await self._ctx.services.settings.save(GROUP, to_settings(self._view))

    def _query(self, query: str) -> None:
        self._set(replace(self._view, query=query))

    def _sort(self, name: str) -> None:
        if self._view.searching:
            self._set(replace(self._view, found_sort=name))
        elif name != RELEVANCE:
            self._set(replace(self._view, sort=name))

    def _facet(self, name: str, value: Any) -> None:
        """A tag that is chosen once more is taken off: its menu has no other way."""
        off = name == "tag" and value == self._view.tag
        changed: dict[str, Any] = {name: None if off else value}
        self._set(replace(self._view, **changed))

    def _reset(self) -> None:
        self._set(LibraryView(sort=self._view.sort, found_sort=self._view.found_sort))

    async def _read(self) -> None:
        view, knowledge = self._view, self._ctx.services.knowledge
        conflicting = self._disagreements.ids
        filters = view.filters(conflicting)
        found = await knowledge.knowledge_found(filters, sort=view.order, query=view.query)
        facets = await knowledge.facets(filters, conflicting=conflicting)
        everything = sum(facets.statuses.values()) or (await knowledge.knowledge_stats()).total
        if view != self._view:
            return  # asked again already
        self._everything = everything
        self.model.explain(view.query)
        self.facets.show_facets(facets, view)
        self.detail.text.mark(marked_terms(view.query))
        show = self._completion.begin(self._search, found)
        self._take(found.ids if show else self.model.ids)

    @property
    def _search(self) -> Search:
        return self._view.filters(self._disagreements.ids), self._view.order, self._view.query

    def _completed(self, search: Search, ids: tuple[str, ...]) -> None:
        if search == self._search:
            self._take(ids)

    def _take(self, order: tuple[str, ...]) -> None:
        """Show these, and stay where the human is."""
        pinned = self._pinned
        self.list.show_order(order)
        if pinned is not None and self.list.current_id != pinned:
            self._pinned = pinned  # Qt makes the first of new rows the current one where the list has the keyboard
            self.list.go_to(pinned)
        back, self._back = self._back, None
        if self.model.row_of(back) >= 0:
            self.list.go_to(back)
        self.pane.show_view(self._view, len(order), self._everything, self._completion.words)
        if order and self._pinned is None and not self.list.currentIndex().isValid():
            self.list.go_to(order[0])
        self._show_current()

    # one entry

    async def _open(self, id: str) -> None:
        await self.ready
        try:
            entry = await self._ctx.services.knowledge.knowledge_get(id)
        except NotFound:
            self._ctx.shell.notify(self._ctx.t("This entry is not in the library any more"))
            return
        self._pinned = id
        if self.model.row_of(id) >= 0:
            self.list.go_to(id)
            self.list.scrollTo(self.list.currentIndex())
        else:
            self.list.clearSelection()
        self._show(entry)

    def _chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            self._pinned = None
        self._show_current()

    def _show_current(self) -> None:
        if self._pinned is not None:
            return
        entry = self.model.entry(self.list.current_id)
        if entry is not None:
            self._show(entry)
        elif self.list.current_id is None:
            self._right.setCurrentWidget(self._nothing if self.model.rowCount() else self._blank)

    def _show(self, entry: Entry) -> None:
        if entry != self.detail.entry:
            self.detail.show_entry(entry)
        match = self.model.why(entry.id) if self._pinned is None else None
        self.detail.why.show_why(None if match is None else why_entry(self._ctx.t, match))
        self._right.setCurrentWidget(self.detail)

    def _changed(self, ids: frozenset[str]) -> None:
        if not self._known or not ids:
            return
        if not self.isVisible():  # a large library is not read for nobody, in the way of other work
            self._missed |= ids
            return
        self.model.read_again(ids)
        self._reader.ask()
        shown = self.detail.entry
        if shown is None:
            return
        if shown.id in ids:
            self._ctx.tasks.launch(self._show_again(shown.id), what="read an entry again", owner=self)
        else:
            self.detail.refresh()

    async def _show_again(self, id: str) -> None:
        """The entry on the screen changed, here or elsewhere: it stays on the screen while it is chosen."""
        try:
            entry = await self._ctx.services.knowledge.knowledge_get(id)
        except NotFound:
            if self._pinned == id:
                self._pinned = None
                self._show_current()
            return
        if self.detail.entry is not None and self.detail.entry.id == id:
            self.detail.show_entry(entry)

    # acts

    def new(self) -> None:
        self._edits.open(None)

    def edit(self) -> None:
        if self.detail.entry is not None and self._right.currentWidget() is self.detail:
            self._edits.open(self.detail.entry)

    def archive(self) -> None:
        entry = self.detail.entry
        if entry is not None and entry.status is not Status.ARCHIVED:
            self.review.archive([entry])

    def restore(self) -> None:
        entry = self.detail.entry
        if entry is not None and entry.status is Status.ARCHIVED:
            self.review.restore(entry)

    def _compare(self, likeness: Likeness) -> None:
        if self.detail.entry is not None:
            self._joining.compare(self.detail.entry, likeness.entry, likeness.contradicts)

    def _merge(self, likeness: Likeness) -> None:
        if self.detail.entry is not None:
            self._joining.merge((self.detail.entry, likeness.entry))

    def _added(self, id: str) -> None:
        self._back = id
        self._reader.ask()

    def _decided(self, decided: Decided) -> None:
        self.model.put(decided.entries)
        if decided.took_back:
            self._back = decided.entries[0].id if decided.entries else None
            self._reader.ask()
            self.bar.show_message(self._ctx.t("Undone: {act}", act=decided.step.words))
        else:
            self.bar.show_undo(decided.step.words, self.review.undo)

    def _load_samples(self) -> None:
        self._ctx.tasks.launch(load_samples(self._ctx), what="load the samples")

    # keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self._key(event)

    def _key(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match _Key(event.key()):
            case _Key.Key_J if not control:
                self.list.step(1)
            case _Key.Key_K if not control:
                self.list.step(-1)
            case _Key.Key_Slash if not control:
                self._to_search()
            case _Key.Key_E | _Key.Key_Return | _Key.Key_Enter if not control:
                self.edit()
            case _Key.Key_N if not control:
                self.new()
            case _Key.Key_Y if not control:
                self.detail.why.toggle()
            case _Key.Key_Z if control and shift:
                self.review.redo()
            case _Key.Key_Z if control:
                self.review.undo()
            case _Key.Key_F if control:
                self._to_search()
            case _Key.Key_Escape if self._popup.isVisible():
                self._popup.toggle()
            case _:
                return
        event.accept()

    def _to_search(self) -> None:
        self.pane.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.pane.search.selectAll()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._disagreements.stop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._disagreements.start()
        missed, self._missed = self._missed, frozenset()
        self._changed(missed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._popup.isVisible():
            self._popup.toggle()

    # building

    def _lay_out(self) -> None:
        self._popup = FacetsPopup(self.facets, self.pane, self)
        self._blank = QWidget()
        for part in (self._nothing, self._blank, self.detail):
            self._right.addWidget(part)
        self.splitter = HairlineSplitter(self._ctx)
        self.splitter.setObjectName("knowledgeSplitter")
        self.facets.setMinimumWidth(180)
        self.facets.setMaximumWidth(300)
        self.pane.setMinimumWidth(300)
        self.pane.setMaximumWidth(520)
        for part in (self.facets, self.pane, self._right):
            self.splitter.addWidget(part)
        self.splitter.setStretchFactor(2, 1)
        self.splitter.setSizes([SIDE - 1, LIST, 632])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.splitter)

    def _connect(self) -> None:
        self.facets.chosen.connect(self._facet)
        self.pane.query_changed.connect(self._query)
        self.pane.sort_chosen.connect(self._sort)
        self.pane.new_asked.connect(self.new)
        self.pane.filters_asked.connect(self._popup.toggle)
        self.pane.samples_asked.connect(self._load_samples)
        self.pane.reset_asked.connect(self._reset)
        self.list.keyed.connect(self._key)
        self.list.chosen.connect(self._chosen)
        self.list.opened.connect(self._opened)
        self.model.filled.connect(self._show_current)
        self.detail.edit_asked.connect(self.edit)
        self.detail.archive_asked.connect(self.archive)
        self.detail.restore_asked.connect(self.restore)
        self.detail.compare_asked.connect(self._compare)
        self.detail.merge_asked.connect(self._merge)
        self.review.decided.connect(self._decided)
        self._completion.completed.connect(self._completed)
        self._completion.stale.connect(self._reader.ask)
        self._disagreements.changed.connect(self._reader.ask)
        self._ctx.events.entries_changed.connect(self._changed)

    def _opened(self, _index: QModelIndex) -> None:
        self.edit()
