"""Comparing an entry with one that resembles it, merging entries, and denying a contradiction: each can be undone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Entry, Status
from devflow.knowledge.acts import Actor, Done
from devflow.knowledge.contradict import Contradiction
from devflow.ui.context import UiContext
from devflow.ui.dialogs.compare_entries import CompareEntries
from devflow.ui.dialogs.merge_entries import MergeEntries
from devflow.ui.models.review import Review


class Joining(QObject):
    """One dialog at a time; `review` is told of each act, so that the page's Undo takes it back."""

    def __init__(self, ctx: UiContext, page: QWidget, review: Review) -> None:
        super().__init__(page)
        self._ctx = ctx
        self._page = page
        self._review = review
        self._open = False

    def compare(self, entry: Entry, other: Entry, contradiction: Contradiction | None = None) -> None:
        if not self._open:
            work = self._comparing(entry, other, contradiction)
            self._ctx.tasks.launch(work, what="compare two entries", owner=self)

    def merge(self, entries: Sequence[Entry]) -> None:
        if not self._open:
            self._ctx.tasks.launch(self._merging(tuple(entries)), what="merge entries", owner=self)

    def dismiss(self, entry: Entry, other: Entry) -> None:
        """Say that the two do not contradict each other."""
        self._ctx.tasks.launch(self._dismissing(entry, other), what="deny a contradiction", owner=self)

    async def _comparing(self, entry: Entry, other: Entry, contradiction: Contradiction | None) -> None:
        may_merge = Status.ARCHIVED not in (entry.status, other.status)
        dialog = CompareEntries(self._ctx, entry, other, contradiction, may_merge=may_merge, parent=self._page.window())
        await self._run(dialog)
        match dialog.choice:
            case "merge":
                await self._merging((entry, other))
            case "dismiss":
                await self._dismissing(entry, other)
            case _:
                pass

    async def _merging(self, shown: Sequence[Entry]) -> None:
        """Of the entries as they are now: a row may still show what they were before."""
        t, knowledge = self._ctx.t, self._ctx.services.knowledge
        now = await knowledge.knowledge_entries(tuple(entry.id for entry in shown))
        entries = [entry for entry in now if entry.status is not Status.ARCHIVED]
        if len(entries) < 2:
            self._ctx.shell.notify(t("There is nothing left to merge with"))
            return
        dialog = MergeEntries(self._ctx, entries, parent=self._page.window())
        try:
            await dialog.prepare()
        except UserFacing:
            dialog.deleteLater()
            raise
        await self._run(dialog)
        if dialog.merged is not None:
            merged = dialog.merged
            count = 1 + len(merged.others)
            words = t.n(
                "Merged {count} entry into “{title}”",
                "Merged {count} entries into “{title}”",
                count,
                title=merged.entry.title,
            )
            self._review.done(Done(merged.operation, (merged.entry, *merged.others)), words)

    async def _dismissing(self, entry: Entry, other: Entry) -> None:
        knowledge = self._ctx.services.knowledge
        done = await knowledge.knowledge_dismiss_contradiction(entry.id, other.id, actor=Actor.user())
        self._review.done(done, self._ctx.t("“{title}” is no contradiction", title=other.title))

    async def _run(self, dialog: CompareEntries | MergeEntries) -> None:
        self._open = True
        try:
            await self._ctx.dialogs.run(dialog)
        finally:
            self._open = False
