"""Decisions on entries, one after the other, with undo and redo. The service acts; views hear of it as usual."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Entry, Status
from devflow.knowledge.acts import Actor, Done
from devflow.knowledge.service import Knowledge
from devflow.ui.context import UiContext
from devflow.ui.models.history import History, Step


@dataclass(frozen=True, slots=True)
class Decided:
    """A committed act. `words` say what it did; `took_back` when it was Undo."""

    step: Step
    entries: tuple[Entry, ...]
    archived: bool = False
    took_back: bool = False


@dataclass(frozen=True, slots=True)
class _Act:
    """What is about to be done to these entries, and in what words it is told."""

    do: Callable[[], Awaitable[Done]]
    words: str
    ids: tuple[str, ...]
    archived: bool = False


class Review(QObject):
    """`decided` after each act, `reasoned` when one got its reason, `refused` with the ids of an act that the service
    refused (nothing was changed).

    Acts wait for one another: a key pressed twice never reaches the same entry twice, and Undo right after a decision
    takes back that decision.
    """

    decided = Signal(object)
    reasoned = Signal(object, str)
    refused = Signal(object)

    def __init__(self, ctx: UiContext, history: History, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._history = history
        self._turn = asyncio.Lock()

    # decisions

    def approve(self, entries: Sequence[Entry]) -> None:
        self._launch(entries, self._approving)

    def archive(self, entries: Sequence[Entry]) -> None:
        """Rejected from the inbox, archived from the library: the same act."""
        self._launch(entries, self._archiving)

    def send_to_review(self, entries: Sequence[Entry]) -> None:
        """Each candidate to pending review; those that are there already stay."""
        self._launch(entries, self._sending)

    def widen(self, entry: Entry) -> None:
        self._launch((entry,), self._widening)

    def restore(self, entry: Entry) -> None:
        self._launch((entry,), self._restoring)

    def _approving(self, entries: Sequence[Entry]) -> _Act:
        t, ids = self._ctx.t, _ids(entries)
        words = _words(
            entries,
            lambda title: t("Published “{title}”", title=title),
            lambda count: t.n("Published {count} entry", "Published {count} entries", count),
        )
        return _Act(lambda: self._knowledge.knowledge_approve(ids, actor=Actor.user()), words, ids)

    def _archiving(self, entries: Sequence[Entry]) -> _Act:
        t, ids = self._ctx.t, _ids(entries)
        if all(entry.status is Status.PUBLISHED for entry in entries):
            words = _words(
                entries,
                lambda title: t("Archived “{title}”", title=title),
                lambda count: t.n("Archived {count} entry", "Archived {count} entries", count),
            )
        else:
            words = _words(
                entries,
                lambda title: t("Rejected “{title}”", title=title),
                lambda count: t.n("Rejected {count} entry", "Rejected {count} entries", count),
            )
        return _Act(lambda: self._knowledge.knowledge_archive(ids, actor=Actor.user()), words, ids, archived=True)

    def _sending(self, entries: Sequence[Entry]) -> _Act | str:
        t = self._ctx.t
        candidates = [entry for entry in entries if entry.status is Status.CANDIDATE]
        if not candidates:
            return _words(
                entries,
                lambda title: t("“{title}” is in review already", title=title),
                lambda count: t.n("{count} entry is in review already", "{count} entries are in review already", count),
            )
        ids = _ids(candidates)
        words = _words(
            candidates,
            lambda title: t("Sent “{title}” to review", title=title),
            lambda count: t.n("Sent {count} entry to review", "Sent {count} entries to review", count),
        )
        return _Act(lambda: self._knowledge.knowledge_send_to_review(ids, actor=Actor.user()), words, ids)

    def _widening(self, entries: Sequence[Entry]) -> _Act | str:
        (entry,) = entries
        if entry.project is None:
            return self._ctx.t("“{title}” holds for all projects already", title=entry.title)
        words = self._ctx.t("“{title}” now holds for all projects", title=entry.title)
        return _Act(lambda: self._knowledge.widen_project(entry.id, actor=Actor.user()), words, (entry.id,))

    def _restoring(self, entries: Sequence[Entry]) -> _Act:
        (entry,) = entries
        words = self._ctx.t("“{title}” is back in the inbox", title=entry.title)
        return _Act(lambda: self._knowledge.knowledge_restore(entry.id, actor=Actor.user()), words, (entry.id,))

    def done(self, done: Done, words: str) -> None:
        """An act that the editor made: it can be taken back like the others."""
        ids = tuple(entry.id for entry in done.entries)
        step = Step(done.operation, words, ids)
        self._history.did(step)
        self.decided.emit(Decided(step, done.entries))

    def give_reason(self, step: Step, reason: str) -> None:
        """Say why something was just rejected."""
        self._ctx.tasks.launch(self._reason(step, reason), what="give a reason", owner=self)

    async def _reason(self, step: Step, reason: str) -> None:
        async with self._turn:
            await self._knowledge.knowledge_give_reason(step.operation, reason, actor=Actor.user())
        self.reasoned.emit(step, reason)

    # taking back

    def undo(self) -> None:
        self._ctx.tasks.launch(self._undo(), what="undo", owner=self)

    def redo(self) -> None:
        self._ctx.tasks.launch(self._redo(), what="redo", owner=self)

    async def _undo(self) -> None:
        async with self._turn:
            step = self._history.last
            if step is None:
                self._ctx.shell.notify(self._ctx.t("There is nothing to undo"))
                return
            try:
                done = await self._knowledge.knowledge_undo(step.operation, actor=Actor.user())
            except UserFacing:
                self._history.drop_last()
                raise
            self._history.undid(done.operation)
        self.decided.emit(Decided(step, done.entries, took_back=True))

    async def _redo(self) -> None:
        async with self._turn:
            step = self._history.next
            if step is None:
                self._ctx.shell.notify(self._ctx.t("There is nothing to do again"))
                return
            try:
                done = await self._knowledge.knowledge_redo(step.operation, actor=Actor.user())
            except UserFacing:
                self._history.drop_next()
                raise
            self._history.redid(done.operation)
        self.decided.emit(Decided(step, done.entries))

    # how

    @property
    def _knowledge(self) -> Knowledge:
        return self._ctx.services.knowledge

    def _launch(self, entries: Sequence[Entry], choose: Callable[[Sequence[Entry]], _Act | str]) -> None:
        self._ctx.tasks.launch(self._decide(tuple(entries), choose), what="decide", owner=self)

    async def _decide(self, shown: Sequence[Entry], choose: Callable[[Sequence[Entry]], _Act | str]) -> None:
        """Decide on the entries as they are when their turn comes: a row may still show what they were before."""
        async with self._turn:
            now = {entry.id: entry for entry in await self._knowledge.knowledge_entries(_ids(shown))}
            act = choose([now.get(entry.id, entry) for entry in shown])
            if isinstance(act, str):
                self._ctx.shell.notify(act)
                return
            try:
                done = await act.do()
            except UserFacing:
                self.refused.emit(act.ids)
                raise
            step = Step(done.operation, act.words, act.ids)
            self._history.did(step)
        self.decided.emit(Decided(step, done.entries, archived=act.archived))


def history_of(ctx: UiContext, name: str) -> History:
    """The window's own undo stack of that name: it lasts as long as the window, past a change of language (spec 08)."""
    kept = ctx.events.property(f"history-{name}")
    if isinstance(kept, History):
        return kept
    made = History()
    ctx.events.setProperty(f"history-{name}", made)
    return made


def _ids(entries: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(entry.id for entry in entries)


def _words(entries: Sequence[Entry], one: Callable[[str], str], several: Callable[[int], str]) -> str:
    return one(entries[0].title) if len(entries) == 1 else several(len(entries))
