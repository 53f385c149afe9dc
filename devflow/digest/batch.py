"""Carrying out a batch: a few files at once, each read, asked about and written down, and none stops the others."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from devflow.digest import output
from devflow.digest.backoff import Backoff, Pace, asked_for
from devflow.digest.concurrency import Broken, map_with_concurrency_limit
from devflow.digest.slug import slug_of
from devflow.digest.sources import Stop, read_raw, text_of
from devflow.digest.subagent import Model, Source, Written, digest_source
from devflow.domain.conversation import ModelChoice
from devflow.domain.digest import CONCURRENCIES, DigestBatch, DigestFile, Doing, FileState, Trouble
from devflow.domain.errors import DatabaseProblem, InvalidInput, ProviderFailed, UserFacing
from devflow.domain.events import DigestChanged, DigestStep, Hub
from devflow.domain.ids import now
from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable
from devflow.models.calibration import Calibration
from devflow.prompt.compose import Place
from devflow.prompt.templates import Templates
from devflow.providers.protocol import Provider
from devflow.store import digests as rows
from devflow.store.database import Database
from devflow.wiki import layout

log = logging.getLogger(__name__)
T = TypeVar("T")

OVERFLOWS_MAX = 3
"""So many times a file is asked about anew with less, after a server said that it does not fit."""
SMALLER = 0.7
ASSUMED_WINDOW = 16_384
"""Tokens, of a model whose window nobody says, once it has refused a request as too long."""


class ModelSource(Protocol):
    """What a digest needs of the model registry (`devflow.models.registry.Models` in the product)."""

    async def digest_choice(self) -> ModelChoice | None: ...

    async def resolve(self, choice: ModelChoice) -> Provider: ...


@dataclass(frozen=True, slots=True)
class Workbench:
    """What a batch works with. `owner` names this process; in `locks` stand the files that writers wait for."""

    db: Database
    hub: Hub
    models: ModelSource
    templates: Templates
    calibration: Calibration
    owner: str
    locks: Path
    pace: Pace = field(default_factory=Pace)


def validate_batch(root: Path, files: Sequence[Path], concurrency: int) -> tuple[Path, ...]:
    """The files, each once; raises `InvalidInput` before any is begun. Whether each can be read is told of each."""
    if isinstance(concurrency, bool) or concurrency not in CONCURRENCIES:
        raise InvalidInput(
            "concurrency",
            N_("{value} is no number of files to digest at once."),
            N_("Choose 1, 3 or 5."),
            value=concurrency,
        )
    if not (root / layout.MARKER).is_file():
        raise InvalidInput(
            "folder",
            N_("{path} is no knowledge base: it has no {marker}."),
            N_("Initialise it first; nothing in it is changed but for what is added."),
            path=str(root),
            marker=layout.MARKER,
        )
    if not files:
        raise InvalidInput("files", N_("There are no files to digest."), N_("Choose files, or a folder of them."))
    for file in files:
        if not file.is_absolute():
            raise InvalidInput(
                "files", N_("{path} is no absolute path."), N_("Name files from the root on."), path=str(file)
            )
        if not is_storable(str(file)):
            raise InvalidInput(
                "files", N_("The name of {path} is no text."), N_("Rename the file first."), path=repr(str(file))
            )
    return tuple(dict.fromkeys(files))


async def carry_out(bench: Workbench, root: Path, batch: DigestBatch) -> None:
    """Digest the batch's waiting files. Raises what none of them can be blamed for (the database)."""
    run = await _Run.prepare(bench, root, batch)
    results = await map_with_concurrency_limit(batch.of(FileState.WAITING), batch.concurrency, run.file)
    for result in results:
        if isinstance(result, Broken):
            raise result.error


class _Run:
    """What the files of one batch share."""

    def __init__(self, bench: Workbench, root: Path, batch: DigestBatch, purpose: str, known: output.Digested) -> None:
        self._bench = bench
        self._root = root
        self._batch = batch
        self._purpose = purpose
        self._known = known
        self._taken: set[str] = set()
        self._turns: dict[str, asyncio.Lock] = {}
        self._backoff = Backoff(bench.pace)
        self._guard = bench.locks / f"digest-{batch.kb_id}"

    @classmethod
    async def prepare(cls, bench: Workbench, root: Path, batch: DigestBatch) -> _Run:
        purpose = await asyncio.to_thread(output.purpose_of, root)
        run = cls(bench, root, batch, purpose, await asyncio.to_thread(output.Digested, root))
        await asyncio.to_thread(output.tidy, root, run._guard)
        return run

    async def file(self, file: DigestFile) -> None:
        """One file to its end, whatever that is; only the database's troubles are raised."""
        bench = self._bench
        file = await bench.db.write(lambda unit: rows.begin(unit, file.id))
        self._tell(file)
        try:
            await self._digest(file)
        except DatabaseProblem:
            raise
        except UserFacing as failure:
            log.info("digest of %s failed: %s", file.path, failure)
            await self._save(file, state=FileState.FAILED, trouble=Trouble.of(failure))
        except Exception as bug:
            log.exception("digest of %s failed", file.path)
            detail = f"{type(bug).__name__}: {bug}"
            trouble = Trouble("bug", N_("Something in DevFlow went wrong: {detail}."), "", {"detail": detail})
            await self._save(file, state=FileState.FAILED, trouble=trouble)

    async def _digest(self, file: DigestFile) -> None:
        path = Path(file.path)
        self._step(file, Doing.READING)
        raw = await asyncio.to_thread(read_raw, path)
        sha256 = await asyncio.to_thread(lambda: raw.sha256)
        async with self._turns.setdefault(sha256, asyncio.Lock()):  # copies wait for the first of them
            if file.page and await asyncio.to_thread(output.sha_of_page, self._root, file.page) == sha256:
                await whole(self._finish_written(file, sha256))  # a kill came right after the page
                return
            known = await asyncio.to_thread(self._there, sha256)
            if known is not None:
                await self._skip(file, sha256, known)
                return
            stop = Stop()
            try:
                text = await asyncio.to_thread(text_of, raw, stop)
            except asyncio.CancelledError:
                stop.stop()
                raise
            await asyncio.to_thread(output.check_writable, self._root, f"{layout.SESSIONS}{slug_of(path.name)}.md")
            written = await self._ask(file, Source(path.name, text, self._purpose))
            await whole(self._keep(file, sha256, written))

    async def _ask(self, file: DigestFile, source: Source) -> Written:
        """Ask until there is a page, as long as a failure may pass."""
        limited = failed = overflows = 0
        while True:
            if self._backoff.left > 0:
                self._step(file, Doing.PAUSED)
            began = await self._backoff.turn()
            self._step(file, Doing.ASKING)
            provider = await self._bench.models.resolve(self._batch.choice)
            place = await self._place(provider)
            try:
                told = functools.partial(self._step, file)
                model = Model(provider, place, functools.partial(self._spent, file), told)
                written = await digest_source(model, source, self._bench.templates)
            except ProviderFailed as failure:
                if failure.code == "context_overflow" and overflows < OVERFLOWS_MAX:
                    overflows += 1
                    await self._learn(provider, failure, place)
                    continue
                limited += failure.code == "rate_limited"
                failed += failure.code != "rate_limited"
                if not self._backoff.again(failure, limited, failed):
                    raise
                log.info("digest of %s tries again: %s", file.path, failure)
                if failure.code == "rate_limited":
                    self._backoff.limited(began, asked_for(failure))
                else:
                    await self._backoff.rest(failed)
            else:
                self._backoff.passed()
                return written

    async def _place(self, provider: Provider) -> Place:
        choice, calibration = self._batch.choice, self._bench.calibration
        window = calibration.window(choice, await provider.context_window(choice.model))
        return Place(choice.model, window, await calibration.ratio(choice))

    async def _learn(self, provider: Provider, failure: ProviderFailed, place: Place) -> None:
        """A request did not fit: believe what the server says of its window, or in a smaller one."""
        choice, calibration = self._batch.choice, self._bench.calibration
        told = await provider.context_window(choice.model)
        window = getattr(getattr(failure, "limits", None), "window", None)
        smaller = int((place.window or ASSUMED_WINDOW) * SMALLER)
        calibration.shrink(choice, told, min(window, smaller) if isinstance(window, int) else smaller)

    async def _keep(self, file: DigestFile, sha256: str, written: Written) -> None:
        """The page's name into the row, the page, then the row's end."""
        bench, at, path = self._bench, now(), Path(file.path)
        self._step(file, Doing.KEEPING)
        page = await asyncio.to_thread(output.plan_page, self._root, path.name, at, self._taken)
        await bench.db.write(lambda unit: rows.save(unit, file.id, page=page, sha256=sha256))
        source = await asyncio.to_thread(output.source_name, self._root, path)
        made = output.Page(written.digest, source, sha256, self._batch.choice.model, at)
        there = functools.partial(self._there, sha256)
        other = await asyncio.to_thread(output.write_digest_output, self._root, page, made, self._guard, there)
        if other != page:
            await self._skip(file, sha256, other)
            return
        await self._save(
            file, state=FileState.DONE, title=written.digest.title, read_percent=written.read_percent, trouble=None
        )

    def _there(self, sha256: str) -> str | None:
        """The page that makes another one needless."""
        return None if self._batch.force else self._known.page(sha256)

    async def _skip(self, file: DigestFile, sha256: str, page: str) -> None:
        title = await asyncio.to_thread(output.title_of_page, self._root, page)
        await self._save(file, state=FileState.SKIPPED, sha256=sha256, page=page, title=title)

    async def _finish_written(self, file: DigestFile, sha256: str) -> None:
        await asyncio.to_thread(output.list_again, self._root, file.page, self._guard)
        title = await asyncio.to_thread(output.title_of_page, self._root, file.page)
        await self._save(file, state=FileState.DONE, title=title, sha256=sha256, trouble=None)

    async def _spent(self, file: DigestFile, given: int, made: int) -> None:
        self._tell(await self._bench.db.write(lambda unit: rows.spend(unit, file.id, given, made)))

    async def _save(self, file: DigestFile, **values: object) -> None:
        self._tell(await self._bench.db.write(lambda unit: rows.save(unit, file.id, **values)))

    def _step(self, file: DigestFile, doing: Doing, detail: str = "") -> None:
        self._bench.hub.publish(DigestStep(file.batch_id, file.id, doing, detail))

    def _tell(self, file: DigestFile) -> None:
        self._bench.hub.publish(DigestChanged(file.batch_id, file.state, file.id))


async def whole(work: Awaitable[T]) -> T:
    """To its end even when cancelled meanwhile: there is no half page, and no page without its row."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled() and (failure := task.exception()) is not None:
            log.info("what was cancelled had failed already: %s", failure)
        raise
