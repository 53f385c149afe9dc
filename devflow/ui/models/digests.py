"""The digests that the window follows: those that run, were cut off, or have ended since it was opened.

Rows are read again when an event says that they changed, at most some times a second however many files there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from devflow.domain.digest import BatchState, DigestBatch, DigestFile, FileState
from devflow.domain.errors import NotFound
from devflow.domain.events import DigestChanged, DigestStep
from devflow.ui.context import UiContext
from devflow.ui.models.refresh import Refresher

_NAME = "digest-watch"
PAUSE_MS = 120
"""At least so long between two readings."""
FOREIGN_MS = 3_000
"""How often it is looked whether another process that carries out a batch still lives."""
ENDED = (FileState.DONE, FileState.SKIPPED, FileState.FAILED)


class Digest:
    """A batch as the window knows it. `cut_off`: its process ended; `here`: this process carries it out."""

    def __init__(self, batch: DigestBatch, *, cut_off: bool, here: bool) -> None:
        self.files: list[DigestFile] = []
        self.doing: dict[str, DigestStep] = {}
        self._rows: dict[str, int] = {}
        self.take(batch, cut_off=cut_off, here=here)

    def take(self, batch: DigestBatch, *, cut_off: bool, here: bool) -> None:
        self.batch, self.cut_off, self.here = batch, cut_off, here
        self.files = list(batch.files)
        self._rows = {file.id: row for row, file in enumerate(self.files)}
        if not self.running:
            self.doing.clear()

    def take_file(self, file: DigestFile) -> None:
        row = self._rows.get(file.id)
        if row is None:
            return
        self.files[row] = file
        if file.state is not FileState.RUNNING:
            self.doing.pop(file.id, None)

    def row_of(self, file_id: str) -> int:
        return self._rows.get(file_id, -1)

    @property
    def id(self) -> str:
        return self.batch.id

    @property
    def running(self) -> bool:
        """Whether somebody is at it now."""
        return self.batch.state is BatchState.RUNNING and not self.cut_off

    def count(self, *states: FileState) -> int:
        return sum(file.state in states for file in self.files)

    @property
    def ended(self) -> int:
        """How many files have come to an end of their own."""
        return self.count(*ENDED)

    @property
    def failed(self) -> int:
        return self.count(FileState.FAILED)

    @property
    def tokens(self) -> int:
        return sum(file.input_tokens + file.output_tokens for file in self.files)


class DigestWatch(QObject):
    """`listed` when a digest comes, goes or changes as a whole; `moved(batch id, file ids)` when files have."""

    listed = Signal()
    moved = Signal(str, object)
    page_written = Signal(str)
    """The id of the knowledge base that has a new page."""
    troubled = Signal(object)
    """The `DatabaseProblem` that cut a digest off."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__(ctx.events)
        self.setObjectName(_NAME)
        self._services = ctx.services
        self._digests: dict[str, Digest] = {}
        self._dismissed: set[str] = set()
        self._chosen: dict[str, str] = {}
        self._whole: set[str] = set()
        self._files: dict[str, set[str]] = {}
        self._steps: dict[str, set[str]] = {}
        self._reader = Refresher(ctx.tasks, self._read, "follow the digests", self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._rested)
        self._foreign = QTimer(self)
        self._foreign.setInterval(FOREIGN_MS)
        self._foreign.timeout.connect(self._look_at_others)
        ctx.events.digest_changed.connect(self._changed)
        ctx.events.digest_step.connect(self._stepped)
        ctx.events.digests_changed.connect(self._rows_changed)
        self.ready = ctx.tasks.launch(self._begin(), what="look for digests", owner=self)

    @classmethod
    def of(cls, ctx: UiContext) -> DigestWatch:
        """The window's own: it outlives a change of language."""
        return ctx.events.findChild(cls, _NAME) or cls(ctx)

    # what there is

    @property
    def all(self) -> tuple[Digest, ...]:
        """The newest first."""
        return tuple(sorted(self._digests.values(), key=lambda each: each.batch.created_at, reverse=True))

    def get(self, batch_id: str) -> Digest | None:
        return self._digests.get(batch_id)

    def of_base(self, kb_id: str) -> tuple[Digest, ...]:
        return tuple(digest for digest in self.all if digest.batch.kb_id == kb_id)

    def shown(self, kb_id: str) -> Digest | None:
        """The one that the card of this base shows: what was chosen, else what runs, else the newest."""
        found = self.of_base(kb_id)
        chosen = self._chosen.get(kb_id)
        ranked = sorted(found, key=lambda each: (each.id != chosen, not each.running, not each.cut_off))
        return next(iter(ranked), None)

    def choose(self, digest: Digest) -> None:
        """Let the card show this one."""
        self._chosen[digest.batch.kb_id] = digest.id
        self.listed.emit()

    # acts

    def follow(self, batch: DigestBatch) -> None:
        """One that was started, resumed or retried just now is shown at once."""
        self._dismissed.discard(batch.id)
        self._chosen[batch.kb_id] = batch.id
        self._take(batch)
        self.listed.emit()

    def dismiss(self, batch_id: str) -> None:
        """It has ended, and the human has seen it."""
        self._dismissed.add(batch_id)
        if self._digests.pop(batch_id, None) is not None:
            self.listed.emit()

    # hearing

    def _changed(self, event: DigestChanged) -> None:
        if event.file_id and event.batch_id in self._digests:
            self._files.setdefault(event.batch_id, set()).add(event.file_id)
        else:
            self._whole.add(event.batch_id)
        self._wake()

    def _stepped(self, event: DigestStep) -> None:
        digest = self._digests.get(event.batch_id)
        if digest is not None:
            digest.doing[event.file_id] = event
            self._steps.setdefault(event.batch_id, set()).add(event.file_id)
            self._wake()

    def _rows_changed(self, ids: Iterable[str]) -> None:
        """Another process tells of its batches by their rows alone; what runs here is told by events."""
        others = {id for id in ids if not self._services.digests.is_here(id)}
        if others:
            self._whole |= others
            self._wake()

    def _look_at_others(self) -> None:
        others = {digest.id for digest in self._digests.values() if digest.running and not digest.here}
        if others:
            self._whole |= others
            self._wake()
        else:
            self._foreign.stop()

    def _wake(self) -> None:
        if not self._pause.isActive():
            self._pause.start()

    def _rested(self) -> None:
        self._reader.ask()

    # reading

    async def _begin(self) -> None:
        for batch in await self._services.digests.running():
            self._take(batch)
        if self._digests:
            self.listed.emit()

    async def _read(self) -> None:
        whole, files, steps = self._whole, self._files, self._steps
        self._whole, self._files, self._steps = set(), {}, {}
        written: set[str] = set()
        for batch_id in whole:
            if await self._read_whole(batch_id):
                written.add(self._digests[batch_id].batch.kb_id)
        for batch_id, ids in files.items():
            digest = self._digests.get(batch_id)
            if digest is None or batch_id in whole:
                continue
            for file in await self._services.digests.files(ids):
                if file.state is FileState.DONE and digest.files[digest.row_of(file.id)].state is not FileState.DONE:
                    written.add(digest.batch.kb_id)
                digest.take_file(file)
        if whole:
            self.listed.emit()
        for batch_id in (files.keys() | steps.keys()) - whole:
            self.moved.emit(batch_id, frozenset(files.get(batch_id, set()) | steps.get(batch_id, set())))
        for kb_id in written:
            self.page_written.emit(kb_id)

    async def _read_whole(self, batch_id: str) -> bool:
        """Whether it has written pages since it was read last."""
        before = self._digests.get(batch_id)
        done, ran = (before.count(FileState.DONE), before.running) if before is not None else (0, False)
        try:
            self._take(await self._services.digests.status(batch_id))
        except NotFound:
            self._digests.pop(batch_id, None)  # its base was removed
        after = self._digests.get(batch_id)
        if after is None:
            return False
        if ran and after.cut_off and (problem := self._services.digests.why_cut_off(batch_id)) is not None:
            self.troubled.emit(problem)
        return after.count(FileState.DONE) > done

    def _take(self, batch: DigestBatch) -> None:
        """Keep what runs, was cut off, or was followed to its end; an old one that only ended elsewhere is not news."""
        digests = self._services.digests
        cut_off, here = digests.is_cut_off(batch), digests.is_here(batch.id)
        known = self._digests.get(batch.id)
        if known is not None:
            known.take(batch, cut_off=cut_off, here=here)
        elif batch.state is BatchState.RUNNING and batch.id not in self._dismissed:
            self._digests[batch.id] = Digest(batch, cut_off=cut_off, here=here)
        if batch.state is BatchState.RUNNING and not cut_off and not here:
            self._foreign.start()


def file_name(file: DigestFile) -> str:
    return Path(file.path).name
