"""The knowledge bases that the user has opened, which of them is current, and the index of each."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from devflow.domain.errors import InvalidInput, NotFound
from devflow.domain.ids import now
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable
from devflow.store import knowledge_bases as table
from devflow.store import settings
from devflow.store.database import Database, Session, Unit
from devflow.wiki import founding
from devflow.wiki.page_index import PageIndex, Progress

T = TypeVar("T")

GROUP = "wiki"
"""Settings group: `current`, the id of the knowledge base that new conversations belong to."""


class KnowledgeBases:
    """`cache` is the folder of the page indexes; what stands there may be deleted at any time."""

    def __init__(self, db: Database, cache: Path) -> None:
        self._db = db
        self._cache = cache
        self._sites = founding.Sites()
        self._indexes: dict[str, PageIndex] = {}
        self._making = threading.Lock()
        self._completing: dict[str, asyncio.Task[None]] = {}

    async def close(self) -> None:
        for task in self._completing.values():
            task.cancel()
        await asyncio.gather(*self._completing.values(), return_exceptions=True)
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    # which there are -------------------------------------------------------------------------------------------------

    async def list(self) -> tuple[KnowledgeBase, ...]:
        """Every one that was ever opened, by name; one whose folder is gone is among them (`is_there`)."""
        return await self._db.read(table.all_bases)

    async def get(self, id: str) -> KnowledgeBase:
        return await self._db.read(lambda session: table.get(session, id))

    async def current(self) -> KnowledgeBase | None:
        """The one that new conversations belong to."""

        def work(session: Session) -> KnowledgeBase | None:
            chosen = settings.get(session, GROUP)
            id = chosen.get("current") if isinstance(chosen, dict) else None
            with contextlib.suppress(NotFound):
                return table.get(session, id) if isinstance(id, str) else None
            return None

        return await self._db.read(work)

    async def use(self, id: str | None) -> None:
        """Make it the current one, or none."""

        def work(unit: Unit) -> None:
            if id is not None:
                table.opened(unit, id)
            settings.put(unit, GROUP, {**(settings.get(unit.session, GROUP) or {}), "current": id})

        await self._db.write(work)

    # how they come to be ---------------------------------------------------------------------------------------------

    async def open(self, folder: Path) -> KnowledgeBase:
        """Register a folder that has the marker or a `wiki/` folder; raises `InvalidInput` for another."""
        root = await asyncio.to_thread(_resolved, folder)
        if not await asyncio.to_thread(founding.is_base, root):
            raise InvalidInput(
                "folder",
                N_("{path} is no knowledge base: it has no wiki folder."),
                N_("Initialise it first; nothing in it is changed but for what is added."),
                path=str(root),
            )
        return await self._db.write(lambda unit: table.ensure(unit, root))

    async def initialise(self, folder: Path, purpose: str, *, overwrite: bool = False) -> KnowledgeBase:
        """Make the folder a knowledge base and register it; see `founding.initialise` for what is refused."""
        root = await asyncio.to_thread(_resolved, folder)
        with _not_writable(root):
            await asyncio.to_thread(
                founding.initialise, root, purpose, at=now(), sites=self._sites, overwrite=overwrite
            )
        return await self._db.write(lambda unit: table.ensure(unit, root))

    async def create(self, parent: Path, name: str, purpose: str) -> KnowledgeBase:
        """A new folder that is a knowledge base."""
        root = await asyncio.to_thread(_resolved, parent)
        with _not_writable(root):
            made = await asyncio.to_thread(founding.create, root, name, purpose, at=now(), sites=self._sites)
        return await self._db.write(lambda unit: table.ensure(unit, made))

    async def forget(self, id: str) -> bool:
        """No longer list it; its files stay. False: a conversation or a digest belongs to it, and so it stays known."""
        return await self._db.write(lambda unit: table.forget(unit, id))

    # their pages -----------------------------------------------------------------------------------------------------

    async def refresh(self, base: KnowledgeBase, within: float | None = None) -> Progress:
        """Take in what has changed in the folder; what `within` seconds leave is completed in the background."""
        progress = await self.ask(base, lambda index: index.refresh(within))
        if progress.pending and base.id not in self._completing:
            task = asyncio.create_task(self._complete(base), name=f"index pages of {base.name}")
            self._completing[base.id] = task
        return progress

    async def ask(self, base: KnowledgeBase, question: Callable[[PageIndex], T]) -> T:
        """Put a question to the index of that knowledge base, on a thread of its own."""
        return await asyncio.to_thread(lambda: question(self._index(base)))

    def _index(self, base: KnowledgeBase) -> PageIndex:
        with self._making:
            if base.id not in self._indexes:
                self._indexes[base.id] = PageIndex(Path(base.path), self._cache)
            return self._indexes[base.id]

    async def _complete(self, base: KnowledgeBase) -> None:
        try:
            while (await self.ask(base, lambda index: index.refresh(1.0))).pending:
                pass
        finally:
            del self._completing[base.id]


def is_there(base: KnowledgeBase) -> bool:
    """Whether its folder still is; a known folder that has gone is greyed, not forgotten."""
    return Path(base.path).is_dir()


@contextlib.contextmanager
def _not_writable(folder: Path) -> Iterator[None]:
    """A full disk, a folder that may only be read: the user's matter. Nothing is left behind there."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(
            "folder",
            N_("{path} cannot be made a knowledge base: {reason}."),
            N_("Free some space, and check that you may write into the folder."),
            path=str(folder),
            reason=error.strerror or str(error),
        ) from error


def _resolved(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(
            "folder", N_("There is no folder {path}."), N_("Choose an existing folder."), path=str(folder)
        ) from None
    if not is_storable(str(root)):
        raise InvalidInput("folder", N_("The name of {path} is no text."), N_("Rename it first."), path=repr(str(root)))
    return root
