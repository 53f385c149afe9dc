"""The Knowledge tab: the library on one side, the pages of knowledge bases on the other."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.pages.knowledge.library_side import LibrarySide
from devflow.ui.pages.knowledge.side_switch import LIBRARY, WIKI
from devflow.ui.pages.knowledge.wiki_side import GROUP, WikiSide


class KnowledgePage(QWidget):
    """Remembers which side was looked at last; an address of the window brings its own side to the front."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self.setObjectName("knowledgePage")
        self.setAccessibleName(ctx.t("Knowledge"))
        self._ctx = ctx
        self._turned = False
        self.library = LibrarySide(ctx)
        self.wiki = WikiSide(ctx)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.library)
        self._stack.addWidget(self.wiki)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._stack)
        self.library.switch.chosen.connect(self._choose)
        self.wiki.switch.chosen.connect(self._choose)
        self.ready = ctx.tasks.launch(self._begin(), what="open the Knowledge page", owner=self)

    @property
    def side(self) -> int:
        return self._stack.currentIndex()

    # what the window calls

    def activate(self) -> None:
        self.wiki.activate() if self.side == WIKI else self.library.activate()

    def open_link(self, address: str) -> bool:
        """`devflow:entry/<id>` on the library's side; pages and digests of a base on the wiki's."""
        if self.library.open_link(address):
            self._show(LIBRARY)
            return True
        if self.wiki.open_link(address):
            self._show(WIKI)
            return True
        return False

    def set_narrow(self, below_1180: bool, below_1040: bool) -> None:
        self.library.set_narrow(below_1180, below_1040)

    def close_page(self) -> None:
        self.library.close_page()

    # which side

    async def _begin(self) -> None:
        await self.library.ready
        await self.wiki.ready
        if not self._turned and (await self._ctx.services.settings.get(GROUP)).get("side") == "wiki":
            self._show(WIKI)
            if self.isVisible():
                self.wiki.activate()  # the keyboard was given to the side that is hidden now

    def _choose(self, side: int) -> None:
        self._show(side)
        self.activate()
        name = "wiki" if side == WIKI else "library"
        self._ctx.tasks.launch(self._ctx.services.settings.update(GROUP, side=name), what="remember the side")

    def _show(self, side: int) -> None:
        self._turned = True
        self._stack.setCurrentIndex(side)
        for each in (self.library, self.wiki):
            each.switch.show_side(side)
