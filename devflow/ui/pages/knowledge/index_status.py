"""The status line's words on the page index, while the wiki is looked at."""

from __future__ import annotations

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.ui.models.page_groups import Listing


def say_index(ctx: UiContext, base: KnowledgeBase | None, listing: Listing | None) -> None:
    """`listing` None: no base, or its folder is gone."""
    t, say = ctx.t, ctx.shell.set_status
    if listing is None:
        words = "" if base is None else t("Page index: the folder is not there")
        say("search", "warning" if words else "", words, "trouble" if words else "", "knowledge" if words else "")
        return
    pending = listing.progress.pending
    total = f"{listing.readable:,}"
    if pending:
        read = f"{listing.readable - pending:,}"
        say("search", "half-disc", t("Indexing {read} of {total}", read=read, total=total), "busy", "knowledge")
        return
    words = t.n(
        "Page index: {shown} page, up to date", "Page index: {shown} pages, up to date", listing.readable, shown=total
    )
    say("search", "check", words, "good", "knowledge")
