"""Digesting files into a knowledge base, from wherever in the window it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.ui.dialogs.digest_dialog import DigestDialog
from devflow.ui.models.digests import DigestWatch


async def choose_and_digest(
    ctx: UiContext, base: KnowledgeBase, given: Sequence[Path] = (), *, in_sight: bool = False
) -> None:
    """Ask what to digest into the base and begin; its progress stands at the foot of the wiki. `given`: dropped.

    Whoever does not have that `in_sight` is told in a line, and stays where it was.
    """
    window = ctx.events.parent()
    dialog = DigestDialog(ctx, base, window if isinstance(window, QWidget) else None)
    if given:
        dialog.add(given)
    await ctx.dialogs.run(dialog)
    if dialog.started is not None:
        DigestWatch.of(ctx).follow(dialog.started)
        if not in_sight:
            count = len(dialog.started.files)
            words = ctx.t.n(
                "Digesting {count} file into “{name}”; the status line leads there",
                "Digesting {count} files into “{name}”; the status line leads there",
                count,
                name=base.name,
            )
            ctx.shell.notify(words)
