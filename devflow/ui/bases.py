"""Opening a folder as a knowledge base, and making one of a folder that is none yet: what every page asks alike."""

from __future__ import annotations

import asyncio
from pathlib import Path

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.wiki.founding import Survey, WouldOverwrite, is_base, survey


async def choose_base(ctx: UiContext, title: str, beside: KnowledgeBase | None = None) -> KnowledgeBase | None:
    """Ask for a folder; one that is no knowledge base yet is offered to be made one. None: rather not."""
    start = str(Path(beside.path).parent) if beside is not None else str(Path.home())
    chosen = await ctx.dialogs.choose_folder(title, start)
    if chosen is None:
        return None
    folder = Path(chosen)
    if await asyncio.to_thread(is_base, folder):
        return await ctx.services.bases.open(folder)
    return await found_base(ctx, folder)


async def found_base(ctx: UiContext, folder: Path) -> KnowledgeBase | None:
    """Ask what the folder is to be for, and make it a knowledge base; None where the user would rather not."""
    t, bases = ctx.t, ctx.services.bases
    found = await asyncio.to_thread(survey, folder)
    asked = t("What is it for? One sentence; it goes into purpose.md.")
    purpose = ""
    while True:
        answer = await ctx.dialogs.prompt(
            t("Make {name} a knowledge base", name=folder.name),
            f"{survey_sentence(ctx, found)}\n{asked}",
            value=purpose,
            act=t("Make it one"),
        )
        if answer is None:
            return None
        purpose = answer
        try:
            return await bases.initialise(folder, purpose)
        except WouldOverwrite as problem:
            replace = await ctx.dialogs.confirm(
                t("Replace files that are there?"),
                t(
                    "{files} would be replaced. Copies go into a backup folder first.",
                    files=", ".join(problem.files),
                ),
                act=t("Replace"),
            )
            return await bases.initialise(folder, purpose, overwrite=True) if replace else None
        except UserFacing as problem:
            await ctx.dialogs.tell(problem.render(t), problem.render_hint(t))


def survey_sentence(ctx: UiContext, found: Survey) -> str:
    """What a folder holds that can be digested, and how it comes to be searched: only `wiki/` is."""
    t = ctx.t
    if not found.counts:
        return t("The folder holds nothing that can be digested yet.")
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(found.counts.items()))
    names = ", ".join(found.samples)
    held = t("It holds {kinds}: {names}", kinds=kinds, names=names) + ("…" if _more(found) else "")
    return "\n".join(
        (held, t("None is a page yet: move Markdown into its wiki folder afterwards, or digest the files."))
    )


def _more(found: Survey) -> bool:
    return found.more or sum(found.counts.values()) > len(found.samples)
