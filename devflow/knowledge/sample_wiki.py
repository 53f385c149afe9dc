"""The sample wiki: a few pages about DevFlow itself, copied into the data directory and opened there (spec 05).

Its folder is the user's from then on: what was changed or added in it is never overwritten and never removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devflow.domain.errors import NotFound, UserFacing
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.store import settings
from devflow.store.database import Database
from devflow.wiki import layout
from devflow.wiki.registry import KnowledgeBases

NAMES: Mapping[str, str] = {"en": "DevFlow handbook", "zh": "DevFlow 手册"}
"""The folder's name, which is the knowledge base's."""
MANIFEST = ".devflow-sample.json"
"""What was copied, with the SHA-256 of each file; it is written last, so that half a copy is none."""
GROUP = "samples"
"""Settings group: `before`, the id of the knowledge base that was the current one before the sample was."""
MARKER = "---\nschema: 1\n---\n\n# DevFlow\n"


class SampleWikiFailed(UserFacing):
    """The pages cannot be copied, or not be removed."""

    code = "samples_failed"


class SampleWiki:
    """`resources` is the folder that travels with the program, `folder` the one that sample wikis are copied into."""

    def __init__(self, db: Database, bases: KnowledgeBases, resources: Path, folder: Path) -> None:
        self._db = db
        self._bases = bases
        self._resources = resources / "samples"
        self._folder = folder

    async def state(self) -> bool:
        """Whether one is there."""
        return await asyncio.to_thread(lambda: any(_manifest(root) for root in self._roots()))

    async def load(self, spoken: str) -> KnowledgeBase:
        """Copy the pages of that language (`en`, `zh`) and make them the current knowledge base.

        What is there already stays as it is. Raises `SampleWikiFailed`.
        """
        root = self._folder / NAMES[spoken]
        with _failures(root):
            await asyncio.to_thread(_copy, self._resources / f"wiki.{spoken}", root)
        base = await self._bases.open(root)
        before = await self._bases.current()
        if before is None or Path(before.path).parent != Path(base.path).parent:
            await self._db.write(lambda unit: settings.put(unit, GROUP, {"before": before.id if before else None}))
        await self._bases.use(base.id)
        return base

    async def remove(self) -> tuple[Path, ...]:
        """Remove those of every language; returns the pages that were changed or added and therefore stay.

        The knowledge base that was the current one before is it again. Raises `SampleWikiFailed`.
        """
        kept: list[Path] = []
        current = await self._bases.current()
        for root in self._roots():
            if not await asyncio.to_thread(_manifest, root):
                continue
            with _failures(root):
                stay = await asyncio.to_thread(_remove, root)
            kept += stay
            await self._leave(root.resolve(), current, forget=not stay)
        return tuple(kept)

    async def _leave(self, root: Path, current: KnowledgeBase | None, *, forget: bool) -> None:
        base = next((each for each in await self._bases.list() if each.path == str(root)), None)
        if base is None:
            return
        if base == current:
            await self._bases.use(await self._before())
        if forget:
            await self._bases.forget(base.id)

    async def _before(self) -> str | None:
        kept: Any = await self._db.read(lambda session: settings.get(session, GROUP))
        id = kept.get("before") if isinstance(kept, dict) else None
        with contextlib.suppress(NotFound):
            return (await self._bases.get(id)).id if isinstance(id, str) else None
        return None

    def _roots(self) -> tuple[Path, ...]:
        return tuple(self._folder / name for name in NAMES.values())


def _copy(source: Path, root: Path) -> None:
    """Every page that is not there yet, and what tells them from changed ones."""
    shipped = {path.relative_to(source).as_posix(): path.read_bytes() for path in source.rglob("*.md")}
    shipped[layout.MARKER] = MARKER.encode()
    for name, data in sorted(shipped.items()):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileExistsError), target.open("xb") as file:
            file.write(data)
    told = {name: hashlib.sha256(data).hexdigest() for name, data in shipped.items()}
    new = root / f"{MANIFEST}.new"
    new.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")
    new.replace(root / MANIFEST)


def _remove(root: Path) -> list[Path]:
    """Everything that is as it was copied, then the folders that are left empty; returns what stays."""
    copied = _manifest(root)
    kept: list[Path] = []
    folders: list[Path] = []
    for here, _, names in os.walk(root):  # follows no links
        folders.append(Path(here))
        for name in names:
            file = Path(here, name)
            told = copied.get(file.relative_to(root).as_posix())
            if told and not file.is_symlink() and hashlib.sha256(file.read_bytes()).hexdigest() == told:
                file.unlink()
            elif file != root / MANIFEST:
                kept.append(file)
    (root / MANIFEST).unlink()
    if kept and not (root / layout.MARKER).exists():
        (root / layout.MARKER).write_text(MARKER, encoding="utf-8")  # what stays is a knowledge base still
        kept = [file for file in kept if file.name != layout.MARKER]
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()
    return kept


def _manifest(root: Path) -> dict[str, str]:
    """What was copied there; empty where nothing was, or where the folder is a link to another."""
    if root.is_symlink():
        return {}
    try:
        told = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(sha) for name, sha in told.items()} if isinstance(told, dict) else {}


@contextlib.contextmanager
def _failures(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SampleWikiFailed(
            N_("The sample pages in {folder} cannot be changed: {reason}."),
            N_("Free some space, and check that you may write into the data directory."),
            folder=str(root),
            reason=error.strerror or str(error),
        ) from error
