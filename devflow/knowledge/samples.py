"""The sample library: a dozen published entries and a small wiki about DevFlow itself, loaded and removed by a click.

Entries are published and archived (spec 08); of the wiki, pages that the user has changed stay (`sample_wiki`).
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.domain.knowledge import INBOX, EntryDraft, Status, draft
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.knowledge import review
from devflow.knowledge.acts import Actor, Done, require_human
from devflow.knowledge.sample_wiki import SampleWiki
from devflow.store import entries, entry_lists, timeline
from devflow.store.database import Database, Unit
from devflow.store.entry_lists import Filters

SOURCE = "import:sample"
REMOVED = "sample removed"
LOADING = N_("Loading the samples publishes them, and publishing is a human act.")
REMOVING = N_("Removing the samples archives them, and that is a human act.")
NAMESPACE = uuid.UUID("6f1d3c0a-8e1b-4d0e-9a54-0d5b7f6a2c11")
"""A sample's id is made from its language and its short name, so that it is the same on every machine."""


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    draft: EntryDraft


@dataclass(frozen=True, slots=True)
class SamplesDone(Done):
    """`base` is the sample wiki that was loaded; `kept` are pages of it that stay, because the user changed them."""

    base: KnowledgeBase | None = None
    kept: tuple[Path, ...] = ()


class Samples:
    """`resources` is the folder that travels with the program; languages are those of the window (`en`, `zh_CN`).

    Without a `wiki` only entries are loaded.
    """

    def __init__(
        self, db: Database, resources: Path, wiki: SampleWiki | None = None, *, agent_child: bool = False
    ) -> None:
        self._db = db
        self._wiki = wiki
        self._folder = resources / "samples"
        self._agent_child = agent_child

    async def state(self) -> bool:
        """Whether samples are there."""
        shown = Filters(statuses=frozenset({Status.PUBLISHED}), source=SOURCE)
        _, total = await self._db.read(lambda session: entry_lists.list_entries(session, shown, limit=1))
        return total > 0 or (self._wiki is not None and await self._wiki.state())

    async def load(self, language: str, *, actor: Actor) -> SamplesDone:
        """Publish the samples of that language, each with its full timeline; those removed before come back unchanged.

        One operation, so that one undo takes the entries back. The wiki becomes the current knowledge base.
        """
        require_human(actor, LOADING, agent_child=self._agent_child)
        samples = self._samples(language)
        done = await self._db.write(lambda unit: _load(unit, samples, actor))
        base = await self._wiki.load(_spoken(language)) if self._wiki is not None else None
        return SamplesDone(done.operation, done.entries, base=base)

    async def remove(self, *, actor: Actor) -> SamplesDone:
        """Archive the samples of every language, and remove their wikis but for what was changed."""
        require_human(actor, REMOVING, agent_child=self._agent_child)
        kept = await self._wiki.remove() if self._wiki is not None else ()
        done = await self._db.write(lambda unit: _remove(unit, actor))
        return SamplesDone(done.operation, done.entries, kept=kept)

    def questions(self, language: str) -> tuple[str, ...]:
        """Questions that the samples answer, for the welcome page: each by one entry, in their order."""
        return tuple(self._read(language)["questions"])

    def wiki_question(self, language: str) -> str:
        """A question that the sample wiki answers; empty without one."""
        return str(self._read(language)["wiki_question"]) if self._wiki is not None else ""

    def _samples(self, language: str) -> tuple[Sample, ...]:
        spoken = _spoken(language)
        return tuple(
            Sample(
                id=str(uuid.uuid5(NAMESPACE, f"{spoken}/{item['slug']}")),
                draft=draft(
                    kind=item["kind"],
                    title=item["title"],
                    content=item["content"],
                    tags=item["tags"],
                    source_ref=SOURCE,
                ),
            )
            for item in self._read(language)["entries"]
        )

    def _read(self, language: str) -> Any:
        file = self._folder / f"entries.{_spoken(language)}.json"
        return json.loads(file.read_text(encoding="utf-8"))


def _spoken(language: str) -> str:
    return "zh" if language.lower().startswith("zh") else "en"


def _load(unit: Unit, samples: tuple[Sample, ...], actor: Actor) -> Done:
    act = actor.act()
    loaded = []
    for sample in samples:
        known = entries.get_many(unit.session, [sample.id])
        if not known and timeline.of_entry(unit.session, sample.id):
            continue  # erased: an id is never reused
        if not known:
            entries.insert(unit, sample.draft, act, id=sample.id)
        elif known[0].status is Status.ARCHIVED:
            review.restore_one(unit, sample.id, act)
        if not known or known[0].status is not Status.PUBLISHED:
            loaded.append(review.approve_one(unit, sample.id, act))
    return Done(act.operation, tuple(loaded))


def _remove(unit: Unit, actor: Actor) -> Done:
    act = actor.act()
    shown = Filters(statuses=frozenset({Status.PUBLISHED, *INBOX}), source=SOURCE)
    found, _ = entry_lists.list_entries(unit.session, shown, limit=entry_lists.ALL)
    removed = [review.archive_one(unit, entry.id, act, REMOVED) for entry in found]
    return Done(act.operation, tuple(removed))
