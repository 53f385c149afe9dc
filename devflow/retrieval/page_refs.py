"""Which pages `@` offers for what was typed after it (spec 02, `@` and `/`)."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

from devflow.store.page_file import PageRow
from devflow.wiki import layout

IN_TITLE, IN_NAME, IN_PATH = 2.0, 1.0, 0.5


def list_page_refs(pages: Iterable[PageRow], query: str, limit: int) -> tuple[PageRow, ...]:
    """The pages whose title, file name or path contain the query, best first.

    Equal ones stand in the Chinese order of their paths; case does not matter. An empty query takes every page. Only
    pages that a reference can name are offered: those below `wiki/` that can be read.
    """
    wanted = query.strip().casefold()
    ranked = (
        (-rank, chinese_order(page.path), page.path, page)
        for page in pages
        if not page.problem and page.path.startswith(f"{layout.WIKI}/") and (rank := page_rank(page, wanted))
    )
    return tuple(page for *_, page in nsmallest(max(limit, 0), ranked, key=lambda each: each[:3]))


def chinese_order(text: str) -> bytes:
    """A key that puts common Chinese characters in the order of their sounds: GB 18030 has them so."""
    return text.casefold().encode("gb18030", "replace")


def page_rank(page: PageRow, folded: str) -> float:
    """How well the page's names fit a query that is case-folded already; 0.0 where they do not contain it."""
    if not folded:
        return IN_TITLE + IN_NAME + IN_PATH
    return (
        IN_TITLE * (folded in page.title.casefold())
        + IN_NAME * (folded in page.name.casefold())
        + IN_PATH * (folded in page.path.casefold())
    )
