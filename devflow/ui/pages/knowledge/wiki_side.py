"""The wiki side of the Knowledge tab: knowledge bases, their pages, one page. It follows the folder while it is shown.

Everything that reads the folder or the index runs on threads; what it brings is taken over in one go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from devflow.domain.errors import NotFound
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.store.page_file import PageRow
from devflow.ui.bases import choose_base
from devflow.ui.context import UiContext
from devflow.ui.dialogs.digest import choose_and_digest
from devflow.ui.dialogs.digest_files import dropped_files
from devflow.ui.models.digests import DigestWatch
from devflow.ui.models.moments import local_now
from devflow.ui.models.page_groups import CHANGED, Listing, list_pages
from devflow.ui.models.page_links import read_page_address
from devflow.ui.models.page_reading import read_page
from devflow.ui.models.refresh import Refresher
from devflow.ui.pages.knowledge.base_pane import BaseItem, BasePane
from devflow.ui.pages.knowledge.index_status import say_index
from devflow.ui.pages.knowledge.page_detail import PageDetail
from devflow.ui.pages.knowledge.page_pane import PagePane
from devflow.ui.pages.knowledge.side_switch import SideSwitch
from devflow.ui.widgets import HairlineSplitter
from devflow.wiki.layout import is_meta
from devflow.wiki.registry import is_there
from devflow.wiki.walking import walk

GROUP = "wiki_view"
"""Settings group: `side`, `order`, and `folded`: the folded groups of each knowledge base, by its id."""
DIGEST = "devflow:digest/"
LOOK_EVERY_MS, WHILE_INDEXING_MS = 3_000, 400
INDEX_WITHIN_S = 0.25


class WikiSide(QWidget):
    """`ready` is the task that reads the kept state. The base that is shown is the current one, unless an address led
    to another."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self.setObjectName("wikiSide")
        self.setAccessibleName(ctx.t.p("side", "Wiki"))
        self.setAcceptDrops(True)
        self._ctx = ctx
        self._base: KnowledgeBase | None = None
        self._current: str | None = None
        self._led = False  # an address led to the base that is shown
        self._order = CHANGED
        self._folded: dict[str, frozenset[str]] = {}
        self._counts: dict[str, int] = {}
        self._counted: set[str] = set()  # since somebody came here
        self._listing: Listing | None = None
        self._asked = ("", "", "")
        self._path: str | None = None
        self.switch = SideSwitch(ctx)
        self.bases = BasePane(ctx, self.switch)
        self.pane = PagePane(ctx, since=local_now())
        self.detail = PageDetail(ctx)
        self._lay_out()
        self._reader = Refresher(ctx.tasks, self._read, "look at the knowledge base", self)
        self._opener = Refresher(ctx.tasks, self._read_page, "read a page", self)
        self._clock = QTimer(self)
        self._clock.setInterval(LOOK_EVERY_MS)
        self._clock.timeout.connect(self._reader.ask)
        self._connect()
        self.ready = ctx.tasks.launch(self._begin(), what="open the wiki", owner=self)

    # what the page calls

    def activate(self) -> None:
        self._counted.clear()
        self._reader.ask()
        if self.pane.model.rowCount():
            self.pane.list.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.bases.open.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_link(self, address: str) -> bool:
        """`devflow:page/<kb>/<path>`, or `devflow:digest/<kb>`: the base, with its digest at the foot."""
        if address.startswith(DIGEST):
            self._ctx.tasks.launch(self._open(address.removeprefix(DIGEST), None), what="show a digest", owner=self)
            return True
        found = read_page_address(address)
        if found is None:
            return False
        self._ctx.tasks.launch(self._open(*found), what="open a page", owner=self)
        return True

    # state

    async def _begin(self) -> None:
        kept = await self._ctx.services.settings.get(GROUP)
        self._order = str(kept.get("order") or CHANGED)
        folded = kept.get("folded")
        if isinstance(folded, dict):
            self._folded = {id: frozenset(map(str, keys)) for id, keys in folded.items() if isinstance(keys, list)}
        self.pane.show_order(self._order)

    def _keep(self) -> None:
        folded = {id: sorted(keys) for id, keys in self._folded.items() if keys}
        work = self._ctx.services.settings.update(GROUP, order=self._order, folded=folded)
        self._ctx.tasks.launch(work, what="keep the wiki's view")

    async def _read(self) -> None:
        """Look at the bases, at the folder of the one that is shown, and take over what has changed."""
        await self.ready
        bases = self._ctx.services.bases
        known = await bases.list()
        current = await bases.current()
        self._current = current.id if current is not None else None
        there = dict(zip(known, await asyncio.to_thread(lambda: [is_there(base) for base in known]), strict=True))
        if not self._led or self._base not in known:
            self._show_base(current or next((base for base in known if there[base]), None))
        base = self._base
        if base is not None and there.get(base):
            await bases.refresh(base, within=INDEX_WITHIN_S)
            query, order = self.pane.query, self._order
            before = self._listing if self._asked == (base.id, query, order) else None
            listing = await bases.ask(base, partial(list_pages, query=query, order=order, before=before))
            if self._base is None or self._base.id != base.id or (query, order) != (self.pane.query, self._order):
                return  # asked again already
            self._take(base, listing, (base.id, query, order))
        else:
            self._take_nothing(base)
        self._show_bases(known, there)
        await self._count(known, there)

    def _show_base(self, base: KnowledgeBase | None) -> None:
        before, self._base = self._base, base
        if base is None or before is None or before.id != base.id:
            self._path, self._listing = None, None

    def _take(self, base: KnowledgeBase, listing: Listing, asked: tuple[str, str, str]) -> None:
        before, self._listing = self._listing, listing
        self.detail.show_base(base, there=True)
        self._counts[base.id] = listing.readable
        self._counted.add(base.id)
        same = before is not None and asked == self._asked and before.all_pages is listing.all_pages
        if not same or before is None or before.groups is not listing.groups:
            self._asked = asked
            self.pane.show_listing(listing, self._folded.get(base.id, frozenset()), self._path)
        if self._path is None and not self.pane.query:
            first = self.pane.model.first_page()
            self._path = first.path if first is not None else None
            if self._path is not None:
                self.pane.list.go_to(self._path)
        if not same:
            self._opener.ask()
        self._say_index()
        self._clock.setInterval(WHILE_INDEXING_MS if listing.progress.pending else LOOK_EVERY_MS)

    def _take_nothing(self, base: KnowledgeBase | None) -> None:
        t = self._ctx.t
        self._listing = None
        self.pane.show_nothing()
        self.detail.show_base(base, there=False)
        if base is None:
            self.detail.show_nothing(
                t("No knowledge base yet"),
                t("A folder of Markdown pages becomes one; its pages answer beside the library."),
            )
        else:
            self.detail.show_nothing(t("Folder not found"), t("{path} is not there now.", path=base.path))
        self._say_index()

    def _show_bases(self, known: tuple[KnowledgeBase, ...], there: dict[KnowledgeBase, bool]) -> None:
        items = [BaseItem(base, there[base], self._counts.get(base.id), base.id == self._current) for base in known]
        items.sort(key=lambda item: not item.there)
        self.bases.show_bases(items, self._base.id if self._base is not None else None)

    async def _count(self, known: tuple[KnowledgeBase, ...], there: dict[KnowledgeBase, bool]) -> None:
        """How many pages the others have: counted once whenever somebody comes here."""
        uncounted = [base for base in known if there[base] and base.id not in self._counted]
        for base in uncounted:
            self._counts[base.id] = await asyncio.to_thread(lambda base=base: walk(Path(base.path)).count)  # type: ignore[misc]
            self._counted.add(base.id)
        if uncounted:
            self._show_bases(known, there)

    # one page

    async def _read_page(self) -> None:
        base, path = self._base, self._path
        if base is None:
            return
        shown = await self._ctx.services.bases.ask(base, partial(read_page, base=base, path=path)) if path else None
        if (base, path) != (self._base, self._path):
            return
        t = self._ctx.t
        blank = shown is None or not (shown.text.strip() or shown.page.problem)
        if blank and self._listing is not None and all(is_meta(page.path) for page in self._listing.all_pages):
            self.detail.show_nothing(
                t("No pages yet"), t("Digest files: the model writes one page about each of them."), digest=True
            )
        elif shown is not None:
            self.detail.show_page(shown)
        elif path is not None:
            self.detail.show_nothing(t("This page is gone"), t("{path} is not in the folder any more.", path=path))
        else:
            self.detail.show_nothing(t("No page chosen"), "")
        self.detail.why.show_why(self.pane.model.why(path) if path else None)

    async def _open(self, kb_id: str, path: str | None) -> None:
        """A page by its address, whatever the search; of another base too, which does not make that the current one.

        Without a path: the base alone, with the page that is open in it.
        """
        t, bases = self._ctx.t, self._ctx.services.bases
        await self.ready
        try:
            base = await bases.get(kb_id)
        except NotFound:
            self._ctx.shell.notify(t("This knowledge base is not known any more"))
            return
        current = await bases.current()
        self._led = current is None or current.id != base.id
        self._show_base(base)
        self._path = path or self._path
        await self._reader.ask()
        if path is None:
            return
        if self._base is None or self._base.id != base.id or self._path != path:
            return
        if not self.pane.list.go_to(path):
            self.pane.list.clearSelection()
        await self._opener.ask()

    def _page_chosen(self, page: PageRow) -> None:
        if page.path != self._path:
            self._path = page.path
            self._opener.ask()

    # acts

    def _base_chosen(self, base: KnowledgeBase) -> None:
        """The human makes it the current one: the chat goes on in it too."""
        self._led = False
        self._show_base(base)
        self.pane.search.clear()
        self._ctx.tasks.launch(self._use(base), what="choose a knowledge base", owner=self)

    async def _use(self, base: KnowledgeBase) -> None:
        await self._ctx.services.bases.use(base.id)
        self._ctx.events.base_chosen.emit(base)
        await self._reader.ask()

    def _open_folder(self) -> None:
        title = self._ctx.t("Open a knowledge base")
        self._ctx.tasks.launch(self._add(title), what="open a knowledge base", owner=self)

    def _found(self) -> None:
        title = self._ctx.t("Choose the folder to set up")
        self._ctx.tasks.launch(self._add(title), what="set up a knowledge base", owner=self)

    async def _add(self, title: str) -> None:
        base = await choose_base(self._ctx, title, self._base)
        if base is not None:
            self._base_chosen(base)

    def _digest(self, given: Sequence[Path] = ()) -> None:
        if self._base is not None:
            work = choose_and_digest(self._ctx, self._base, given, in_sight=True)
            self._ctx.tasks.launch(work, what="digest files", owner=self)

    def _digest_clicked(self) -> None:
        self._digest()

    def _page_written(self, kb_id: str) -> None:
        """By a digest: it is seen at once, not at the next look."""
        if self._base is not None and self._base.id == kb_id and self.isVisible():
            self._reader.ask()

    def _query(self, _query: str) -> None:
        self._reader.ask()

    def _order_chosen(self, order: str) -> None:
        self._order = order
        self.pane.show_order(order)
        self._keep()
        self._reader.ask()

    def _fold(self, keys: frozenset[str]) -> None:
        if self._base is not None and not self.pane.query:
            self._folded[self._base.id] = keys
            self._keep()

    def _bases_changed(self, _ids: object) -> None:
        if self.isVisible():
            self._reader.ask()

    # files that are dropped here

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.detail.digest.isVisible() and dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self._digest(dropped_files(event.mimeData()))

    # keys, and whether anybody looks

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if (event.key() == Qt.Key.Key_Slash and not control) or (event.key() == Qt.Key.Key_F and control):
            self.pane.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.pane.search.selectAll()
            return
        super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.start()
        self._reader.ask()
        self._say_index()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
        self._ctx.shell.set_status("search", "", "")

    def _say_index(self) -> None:
        if self.isVisible():
            say_index(self._ctx, self._base, self._listing)

    # building

    def _connect(self) -> None:
        self.bases.chosen.connect(self._base_chosen)
        self.bases.open.clicked.connect(self._open_folder)
        self.bases.found.clicked.connect(self._found)
        self.pane.query_changed.connect(self._query)
        self.pane.order_chosen.connect(self._order_chosen)
        self.pane.list.page_chosen.connect(self._page_chosen)
        self.pane.list.folded.connect(self._fold)
        self.detail.link_opened.connect(self._ctx.shell.open_link)
        self.detail.digest_wanted.connect(self._digest_clicked)
        DigestWatch.of(self._ctx).page_written.connect(self._page_written)
        self._ctx.events.bases_changed.connect(self._bases_changed)

    def _lay_out(self) -> None:
        self.splitter = HairlineSplitter(self._ctx)
        self.splitter.setObjectName("wikiSplitter")
        self.bases.setMinimumWidth(180)
        self.bases.setMaximumWidth(300)
        self.pane.setMinimumWidth(260)
        self.pane.setMaximumWidth(520)
        for part in (self.bases, self.pane, self.detail):
            self.splitter.addWidget(part)
        self.splitter.setStretchFactor(2, 1)
        self.splitter.setSizes([211, 319, 676])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.splitter)
