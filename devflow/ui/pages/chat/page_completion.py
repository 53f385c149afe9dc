"""`@` in the composer: pages of the conversation's knowledge base are offered, and one is named as `[[wiki/….md]]`."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.retrieval.page_refs import list_page_refs
from devflow.store.page_file import PageRow
from devflow.ui.context import UiContext
from devflow.ui.models.why import why_listed_page
from devflow.ui.pages.chat.completion import Completion
from devflow.ui.pages.chat.completion_popup import CompletionPopup, Offer
from devflow.ui.pages.chat.composer_field import ComposerField
from devflow.wiki.registry import is_there

LIMIT = 50
"""So many pages are offered; who looks for another types on."""
_FRESH_S = 2.0
"""What the index was told of so recently, it is not told again."""
_WITHIN_S = 0.5
_ASKS = re.compile(r"(?:^|(?<=\s))@([^\s@]{0,80})$")
_Move = QTextCursor.MoveMode.KeepAnchor


class PageCompletion(Completion):
    """Watches the field, asks the one page index on a thread, and puts the chosen reference into the text."""

    def __init__(self, ctx: UiContext, field: ComposerField, above: QWidget, host: QWidget) -> None:
        super().__init__(field, above, CompletionPopup(ctx, host), host)
        self._ctx = ctx
        self._base: KnowledgeBase | None = None
        self._asked: str | None = None
        self._left_at = -1  # where the `@` stands whose popup was put away
        self._told = 0.0
        self._telling: asyncio.Task[None] | None = None

    def set_base(self, base: KnowledgeBase | None) -> None:
        """The knowledge base whose pages are offered; its index is made ready, so that the first `@` waits for none."""
        same = base is not None and self._base is not None and base.id == self._base.id
        if same or base is self._base:
            return
        self._base = base
        self._told = 0.0
        self._telling = None
        self.close()
        if base is not None:
            self._tell(base)

    def close(self) -> None:
        self._asked = None
        super().close()

    # what was typed

    def look(self) -> None:
        if self.field.signalsBlocked():  # the text was put there, not typed
            self.close()
            return
        found = self._query()
        if found is None:
            self._left_at = -1
            self.close()
            return
        start, query = found
        if self._base is None or start == self._left_at or query == self._asked:
            return
        self._asked = query
        self._ctx.tasks.launch(self._offer(self._base, query), what="offer pages", owner=self)

    def _query(self) -> tuple[int, str] | None:
        """Where the `@` before the caret stands in the document, and what was typed after it."""
        cursor = self.field.textCursor()
        if cursor.hasSelection() or not self.field.hasFocus():
            return None
        at = cursor.position()
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock, _Move)
        found = _ASKS.search(cursor.selectedText().replace("\u2028", "\n"))
        return None if found is None else (at - _units(found[1]) - 1, found[1])

    async def _offer(self, base: KnowledgeBase, query: str) -> None:
        telling = self._tell(base)
        await self._ask(base, query)
        if telling is not None:
            await asyncio.shield(telling)
            await self._ask(base, query)

    async def _ask(self, base: KnowledgeBase, query: str) -> None:
        if (base, query) != (self._base, self._asked):
            return
        pages = await self._ctx.services.bases.ask(base, lambda index: list_page_refs(index.pages(), query, LIMIT))
        if (base, query) == (self._base, self._asked):
            self._show(pages, query)

    def _show(self, pages: Sequence[PageRow], query: str) -> None:
        t = self._ctx.t
        offers = [
            Offer(page, page.title, page.path.removeprefix("wiki/"), "file", mono=True, why=self._why(page, query))
            for page in pages
        ]
        told = t.n("{count} page to refer to", "{count} pages to refer to", len(pages))
        self.offering = bool(offers)
        self.popup.offer(offers, self.above, t("Pages to refer to"), told, keep=True)

    def _why(self, page: PageRow, query: str) -> str:
        """Without a query every page is offered."""
        t = self._ctx.t
        return t("Why this? {reason}", reason=why_listed_page(t, page, query, False).line) if query else ""

    def _tell(self, base: KnowledgeBase) -> asyncio.Task[None] | None:
        """Let the index look at the folder. The task that does; None where one has done so just now."""
        if self._telling is not None and not self._telling.done():
            return self._telling
        if time.monotonic() - self._told < _FRESH_S:
            return None
        self._telling = self._ctx.tasks.launch(self._refresh(base), what="look for new pages", owner=self)
        return self._telling

    async def _refresh(self, base: KnowledgeBase) -> None:
        if await asyncio.to_thread(is_there, base):
            await self._ctx.services.bases.refresh(base, within=_WITHIN_S)
        self._told = time.monotonic()

    # what is pressed

    def put_away(self) -> None:
        found = self._query()
        self._left_at = found[0] if found is not None else -1

    def take(self, offer: Offer, *, by_tab: bool = False) -> None:
        found, page = self._query(), offer.data
        self.close()
        if not isinstance(page, PageRow) or found is None:
            return
        cursor = self.field.textCursor()
        cursor.setPosition(found[0], _Move)
        cursor.insertText(f"[[{page.path}]] ")
        self.field.setTextCursor(cursor)
        self.field.ensureCursorVisible()


def _units(text: str) -> int:
    """The text's length as Qt counts it."""
    return len(text.encode("utf-16-le")) // 2
