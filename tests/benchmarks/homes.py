"""Homes to measure on, filled through the product's own intake.

Each is made once and copied for whoever measures, so that no measurement sees what another one left. With `keep`, the
made ones stay in that folder and are used again while the database's and the texts' versions are the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devflow.app.paths import app_paths
from devflow.domain.conversation import OFFLINE, MessageState, Origin, Role
from devflow.domain.events import Hub
from devflow.domain.knowledge import Kind, draft
from devflow.domain.run import RunState
from devflow.knowledge.acts import Actor
from devflow.knowledge.service import Knowledge
from devflow.knowledge.settings import Settings
from devflow.store import conversations, runs, search_index
from devflow.store.database import Database, Unit
from devflow.store.migrate import open_database

from .texts import Text, Words

VERSION = 1
"""Raise it when homes are filled in another way."""
AT_ONCE = 250
TURNS_AT_ONCE = 500
KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What stands in a home: published entries, candidates, conversations of one turn, and one long conversation of so
    many messages (titled LONG)."""

    entries: int = 0
    candidates: int = 0
    conversations: int = 0
    long_messages: int = 0

    @property
    def name(self) -> str:
        parts = (("e", self.entries), ("i", self.candidates), ("c", self.conversations), ("m", self.long_messages))
        return "-".join(f"{letter}{count}" for letter, count in parts if count) or "empty"


LONG = "The long conversation"


class Homes:
    """Makes and hands out homes below `folder`."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _text: None) -> None:
        self.folder = folder
        self._say = say

    def get(self, recipe: Recipe) -> Path:
        """A copy of the home of that recipe, for one measurement."""
        made = self._made(recipe)
        copies = self.folder / "copies"
        number = sum(1 for _ in copies.iterdir()) if copies.exists() else 0
        copy = copies / f"{recipe.name}-{number}"
        shutil.copytree(made, copy)
        return copy

    def drop(self, home: Path) -> None:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)  # keeps its number

    def _made(self, recipe: Recipe) -> Path:
        home = self.folder / f"{recipe.name}-{_version()}"
        if home.exists():
            return home
        self._say(f"making a home with {recipe}")
        began = time.perf_counter()
        unfinished = home.with_name(home.name + ".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        asyncio.run(_fill(unfinished, recipe))
        unfinished.rename(home)
        self._say(f"made it in {time.perf_counter() - began:.0f} s")
        return home


def _version() -> str:
    """Changes with the tables, the index, and the texts."""
    import devflow.store.schema as schema

    digest = hashlib.sha256(f"{VERSION} {search_index.VERSION}".encode())
    for module in (schema, sys.modules[Words.__module__]):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:12]


async def _fill(home: Path, recipe: Recipe) -> None:
    paths = app_paths(home)
    db = open_database(paths, Hub())
    words = Words()
    try:
        settings = Settings(db)
        knowledge = Knowledge(db, settings)
        await _entries(knowledge, words, recipe.entries, publish=True)
        await _entries(knowledge, words, recipe.candidates, publish=False)
        await _conversations(db, words, recipe.conversations)
        if recipe.long_messages:
            await _long_conversation(db, words, recipe.long_messages)
        await db.checkpoint()
        settings.close()
    finally:
        db.close()


async def _entries(knowledge: Knowledge, words: Words, count: int, *, publish: bool) -> None:
    """Those to publish as a human adds and approves them; candidates as a program proposes them (slower: each is held
    against its likes)."""
    user, actor = Actor.user(), Actor.user() if publish else Actor.ai()
    for start in range(0, count, AT_ONCE):
        drafts = [_draft(words.text(), number) for number in range(start, min(count, start + AT_ONCE))]
        done = await knowledge.knowledge_submit(drafts, actor=actor)
        if publish:
            await knowledge.knowledge_approve([entry.id for entry in done.entries], actor=user)


def _draft(text: Text, number: int) -> object:
    return draft(
        kind=KINDS[number % len(KINDS)],
        title=text.title,
        content=text.content,
        tags=text.tags,
        confidence=0.4 + (number % 60) / 100,
        source_ref=("import:benchmark", "conv:benchmark", "user")[number % 3],
    )


async def _conversations(db: Database, words: Words, count: int) -> None:
    for start in range(0, count, TURNS_AT_ONCE):
        some = range(start, min(count, start + TURNS_AT_ONCE))

        def work(unit: Unit, some: range = some) -> None:
            for _ in some:
                text = words.text()
                made = conversations.create(unit, origin=Origin.WINDOW, title=text.title[:60])
                _turn(unit, made.id, None, text.title, text.content)

        await db.write(work)


async def _long_conversation(db: Database, words: Words, messages: int) -> None:
    made = await db.write(lambda unit: conversations.create(unit, origin=Origin.WINDOW, title=LONG))
    leaf: str | None = None
    for start in range(0, messages // 2, TURNS_AT_ONCE):
        some = range(start, min(messages // 2, start + TURNS_AT_ONCE))

        def work(unit: Unit, some: range = some, leaf: str | None = leaf) -> str | None:
            for _ in some:
                text = words.text()
                leaf = _turn(unit, made.id, leaf, text.title, text.content)
            return leaf

        leaf = await db.write(work)


def _turn(unit: Unit, conversation: str, leaf: str | None, question: str, answer: str) -> str:
    """A question, its finished run, and the answer; returns the new leaf."""
    asked = conversations.insert_message(
        unit, conversation_id=conversation, parent_id=leaf, role=Role.USER, content=question
    )
    run = runs.insert(unit, conversation_id=conversation, user_message_id=asked.id, choice=OFFLINE, owner="benchmark")
    said = conversations.insert_message(
        unit,
        conversation_id=conversation,
        parent_id=asked.id,
        role=Role.ASSISTANT,
        content=answer,
        run_id=run.id,
        state=MessageState.COMPLETE,
        choice=OFFLINE,
    )
    runs.set_state(unit, run.id, RunState.COMPLETED, owner=None)
    conversations.move_leaf(unit, conversation, before=leaf, to=said.id)
    return said.id
