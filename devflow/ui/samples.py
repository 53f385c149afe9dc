"""Loading and removing the samples, from whichever page it is asked for."""

from __future__ import annotations

from devflow.knowledge.acts import Actor
from devflow.ui.context import UiContext


async def load_samples(ctx: UiContext) -> None:
    """Entries and wiki; the chat goes on in the wiki."""
    done = await ctx.services.samples.load(ctx.t.language, actor=Actor.user())
    if done.base is not None:
        ctx.events.base_chosen.emit(done.base)


async def remove_samples(ctx: UiContext) -> None:
    """Both; pages that the user has changed stay, and that is said."""
    before = await ctx.services.bases.current()
    done = await ctx.services.samples.remove(actor=Actor.user())
    current = await ctx.services.bases.current()
    if current != before:
        ctx.events.base_chosen.emit(current)
    if done.kept:
        t, folder = ctx.t, min((page.parent for page in done.kept), key=lambda parent: len(parent.parts))
        await ctx.dialogs.tell(
            t("Your own pages were kept"),
            t.n(
                "{count} page of the sample wiki that you changed or added is still in {folder}.",
                "{count} pages of the sample wiki that you changed or added are still in {folder}.",
                len(done.kept),
                folder=str(folder),
            ),
        )
