"""The wiki's middle column: search, order, and the list of pages."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedLayout, QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.models.page_groups import CHANGED, TITLE, Listing
from devflow.ui.models.pages import PageModel
from devflow.ui.pages.knowledge.page_list import PageList
from devflow.ui.widgets import EmptyState, IconButton, Pane, SearchField
from devflow.wiki.page_index import Progress

_SEARCH_AFTER_MS = 120


class PagePane(Pane):
    """Says what was asked for; the side holds the state and asks the index."""

    query_changed = Signal(str)
    order_chosen = Signal(str)

    def __init__(self, ctx: UiContext, since: datetime, parent: QWidget | None = None) -> None:
        super().__init__("surface", "none", parent)
        self._ctx = ctx
        self._order = CHANGED
        t = ctx.t
        self.search = SearchField(ctx, t("Search pages"), key="/")
        self.search.setObjectName("pageSearch")
        self.sort = IconButton(ctx, "sort", t("Order of the pages"))
        self.sort.setObjectName("pageSortButton")
        self.sort.clicked.connect(self._open_orders)
        self.model = PageModel(t, self)
        self.list = PageList(ctx, self.model, t("Pages"), since)
        self.nothing = EmptyState(ctx, "book", "")
        self.nothing.setObjectName("pagesEmpty")
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_SEARCH_AFTER_MS)
        self._pause.timeout.connect(self._searched)
        self.search.textChanged.connect(self._pause.start)
        self.search.moved.connect(self.list.step)
        self.search.escaped.connect(self.list.setFocus)
        self.search.returnPressed.connect(self.list.setFocus)

    @property
    def query(self) -> str:
        return self.search.text().strip()

    def show_order(self, order: str) -> None:
        self._order = order

    def show_listing(self, listing: Listing, folded: frozenset[str], keep: str | None) -> None:
        """A search folds nothing away of what it has found."""
        self.model.explain(self.query)
        self.list.show_listing(listing, () if self.query else folded, keep)
        self._stack.setCurrentWidget(self.list if listing.groups else self.nothing)
        if listing.groups:
            return
        t = self._ctx.t
        if self.query:
            self.nothing.say(
                t("No page matches"),
                t("The search looks at titles, file names and texts."),
                [(t("Clear the search"), self.search.clear)],
            )
            self.nothing.buttons[0].set_variant("default")
        else:
            self.nothing.say(t("No pages yet"), t("Every Markdown file in the folder wiki is a page."), [])

    def show_nothing(self) -> None:
        """No knowledge base is open, or its folder is gone: the side says so beside."""
        self.list.show_listing(Listing(Progress(0, 0)), (), None)
        self.nothing.say("", "", [])
        self._stack.setCurrentWidget(self._blank)

    def _searched(self) -> None:
        self.query_changed.emit(self.query)

    def _open_orders(self) -> None:
        t = self._ctx.t
        menu = QMenu(self)
        menu.setObjectName("pageOrderMenu")
        for order, words in ((CHANGED, t("Last changed first")), (TITLE, t("By title"))):
            action = QAction(words, menu)
            action.setData(order)
            action.setCheckable(True)
            action.setChecked(order == self._order)
            menu.addAction(action)
        menu.triggered.connect(self._order_picked)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.sort.mapToGlobal(self.sort.rect().bottomLeft()))

    def _order_picked(self, action: QAction) -> None:
        self.order_chosen.emit(str(action.data()))

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 9, 12, 9)
        bar.setSpacing(8)
        bar.addWidget(self.search, 1)
        bar.addWidget(self.sort)
        body = QWidget()
        self._blank = QWidget()
        self._stack = QStackedLayout(body)
        for part in (self.list, self.nothing, self._blank):
            self._stack.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(body, 1)
