"""`devflow kb digest FILES…`: a page about each file, written into a knowledge base."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts, WrongUsage
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.domain.digest import DigestBatch, DigestFile
    from devflow.domain.events import Event
    from devflow.domain.knowledge_base import KnowledgeBase

Chosen = Callable[["Core", str | None], Awaitable["KnowledgeBase"]]


def add(acts: Acts, chosen: Chosen) -> None:
    """`chosen` finds the knowledge base that an option names."""
    about = "Have the digest model write a page about each file; digested ones are left out unless forced."
    parser = acts.add("digest", lambda core, args, output: _digest(core, args, output, chosen), about)
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help=".md .txt .html .pdf .docx, or a folder")
    parser.add_argument("--concurrency", metavar="N", type=int, default=3, help="files at once: 1, 3 or 5 (3)")
    parser.add_argument("--force", action="store_true", help="digest what was digested before, too")
    parser.add_argument("--kb", metavar="KB", help="another than the current one: its folder, its name, or its id")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with the newest digest that was not finished")
    again.add_argument("--retry", action="store_true", help="try the failed files of the newest digest once more")


async def _digest(core: Core, args: Namespace, output: Output, chosen: Chosen) -> int:
    again, nameless = args.resume or args.retry, list[Path]()
    if again and args.files:
        raise WrongUsage(N_("An earlier digest has its files already."), N_("Name none with --resume or --retry."))
    base = await chosen(core, args.kb)
    progress = _Progress(output)
    unsubscribe = core.hub.subscribe(progress.hear)
    try:
        if again:
            batch = await _again(core, base, retry=args.retry)
        else:
            files, nameless = await asyncio.to_thread(_files, args.files)
            for file in nameless:
                output.error(_no_text(file))
            batch = await core.digests.start(base.id, files, concurrency=args.concurrency, force=args.force)
        progress.follow(batch)
        batch = await core.digests.wait(batch.id)
    finally:
        unsubscribe()
    return _told(output, batch) or (1 if nameless else 0)


def _files(given: list[Path]) -> tuple[list[Path], list[Path]]:
    """Those to digest, and those in the folders whose names no database takes: one bad file stops no batch."""
    from devflow.digest.choosing import found_files
    from devflow.domain.text.storable import is_storable

    files = found_files(given)
    nameless = [file for file in files if not is_storable(str(file))]
    if len(nameless) == len(files):
        return list(files), []  # none is left: the refusal says why
    return [file for file in files if file not in nameless], nameless


def _no_text(file: Path) -> InvalidInput:
    return InvalidInput(
        "files", N_("The name of {path} is no text."), N_("Rename the file first."), path=ascii(str(file))
    )


async def _again(core: Core, base: KnowledgeBase, *, retry: bool) -> DigestBatch:
    from devflow.domain.digest import UNFINISHED, FileState

    wanted = (FileState.FAILED,) if retry else UNFINISHED
    for batch in await core.digests.of_base(base.id):
        if batch.of(*wanted):
            return await (core.digests.retry_failed(batch.id) if retry else core.digests.resume(batch.id))
        if retry:
            break  # only the newest one
    raise Refused(
        N_("No file of the newest digest failed.") if retry else N_("No digest was left unfinished."),
        N_("Name files to digest: `devflow kb digest FILE…`."),
    )


class _Progress:
    """A line on standard error for each file that is finished."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._batch: DigestBatch | None = None
        self._told: set[str] = set()

    def follow(self, batch: DigestBatch) -> None:
        from devflow.domain.digest import FileState

        self._batch = batch
        ended = (FileState.DONE, FileState.SKIPPED, FileState.FAILED)
        self._told = {file.id for file in batch.of(*ended)}  # by an earlier process

    def hear(self, event: Event) -> None:
        from devflow.domain.events import DigestChanged

        batch = self._batch
        if not isinstance(event, DigestChanged) or batch is None or event.batch_id != batch.id or not event.file_id:
            return
        file = next((file for file in batch.files if file.id == event.file_id), None)
        if file is None or event.file_id in self._told or event.state not in ("done", "skipped", "failed"):
            return
        self._told.add(event.file_id)
        self._output.note(self._line(len(self._told), len(batch.files), Path(file.path).name, event.state))

    def _line(self, count: int, total: int, name: str, state: str) -> str:
        t = self._output.t
        said = {"done": t("digested"), "skipped": t("digested before"), "failed": t("failed")}[state]
        return f"[{count}/{total}] {one_line(name)}: {said}"


def _told(output: Output, batch: DigestBatch) -> int:
    from devflow.domain.digest import UNFINISHED, FileState

    failed, undone = batch.of(FileState.FAILED), batch.of(*UNFINISHED)
    if output.json:
        output.value(_as_json(output, batch))
        return 1 if failed or undone else 0
    for file in batch.of(FileState.DONE, FileState.SKIPPED):
        output.line(f"{one_line(file.page)}  {one_line(file.title)}")
        if file.state is FileState.DONE and 0 < file.read_percent < 100:
            part = output.t("Only {percent} % of {name} was read.", percent=file.read_percent, name=_name(file))
            output.note(part)
    for file in failed:
        if file.trouble is not None:
            output.error(file.trouble.as_failure())
    tokens = f"{batch.input_tokens + batch.output_tokens:,}"
    output.note(
        output.t(
            "{done} digested, {skipped} before, {failed} failed; {tokens} tokens.",
            done=len(batch.of(FileState.DONE)),
            skipped=len(batch.of(FileState.SKIPPED)),
            failed=len(failed),
            tokens=tokens,
        )
    )
    if failed:
        output.note(output.t("Try the failed ones again: `devflow kb digest --retry`."))
    return 1 if failed or undone else 0


def _as_json(output: Output, batch: DigestBatch) -> dict[str, Any]:
    return {
        "id": batch.id,
        "state": batch.state.value,
        "concurrency": batch.concurrency,
        "model": batch.choice.model,
        "input_tokens": batch.input_tokens,
        "output_tokens": batch.output_tokens,
        "files": [_file_as_json(output, file) for file in batch.files],
    }


def _file_as_json(output: Output, file: DigestFile) -> dict[str, Any]:
    trouble = file.trouble
    return {
        "path": file.path,
        "state": file.state.value,
        "page": file.page or None,
        "title": file.title or None,
        "sha256": file.sha256 or None,
        "read_percent": file.read_percent,
        "input_tokens": file.input_tokens,
        "output_tokens": file.output_tokens,
        "error": {**output.described(trouble.as_failure()), "code": trouble.code} if trouble is not None else None,
    }


def _name(file: DigestFile) -> str:
    return one_line(Path(file.path).name)
