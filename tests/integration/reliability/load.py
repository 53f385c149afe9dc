"""A DevFlow process under load: it acts without end and tells each act before it begins and once it is acknowledged.

    python -m tests.integration.reliability.load HOME NAME SEED SHARED_ENTRY

Each line of its output is JSON: `{"begin": subject, "wanted": state}`, then `{"ack": subject, "state": state}`. What an
act is about is a subject: `["entry", id]`, `["message", id]`, … A refusal that two processes owe each other (a stale
version, an edge that another was faster to take) is `{"refused": code}`. It ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from devflow.agent.turns import Turns
from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import Draft
from devflow.domain.errors import InvalidTransition, Refused, StaleVersion, UserFacing
from devflow.domain.knowledge import Entry, EntryEdit, Status, draft
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.knowledge.service import Actor, Done

USER = Actor.user()
EXPECTED = (StaleVersion, InvalidTransition, Refused)
Act = Callable[[], Awaitable[None]]


def state_of(entry: Entry) -> dict[str, Any]:
    """What is remembered of an entry: enough to tell any two of its states apart."""
    return {"title": entry.title, "status": entry.status.value, "version": entry.version}


class Load:
    def __init__(self, core: Core, name: str, seed: int, shared: str) -> None:
        self._core = core
        self._name = name
        self._random = random.Random(seed)
        self._shared = shared
        self._count = 0
        self._entries: dict[str, dict[str, Any]] = {}
        self._conversation = ""
        self._undo: Done | None = None

    async def run(self) -> None:
        self._conversation = (await self._core.conversations.create()).id
        acts: list[tuple[Act, int]] = [
            (self._create, 6),
            (self._edit, 5),
            (self._move, 6),
            (self._undo_last, 2),
            (self._reuse, 4),
            (self._fight_over_the_shared, 2),
            (self._configure, 2),
            (self._talk, 2),
            (self._rename, 2),
            (self._write_draft, 2),
            (self._set_up_a_server, 1),
        ]
        kinds, weights = zip(*acts, strict=True)
        while True:
            try:
                await self._random.choices(kinds, weights)[0]()
            except EXPECTED as refusal:
                tell({"refused": refusal.code})

    def _next(self, what: str) -> str:
        self._count += 1
        return f"{what} {self._name} {self._count}"

    # entries --------------------------------------------------------------------------------------------------------

    async def _create(self) -> None:
        title = self._next("Entry")
        text = " ".join(f"{title} {self._random.random()} 先取锁" for _ in range(self._random.randint(1, 120)))
        tell({"begin": ["title", title], "wanted": None})
        done = await self._core.knowledge.knowledge_create(
            draft(kind="pitfall", title=title, content=text, tags=("load", self._name)), actor=USER
        )
        self._acknowledge(done)

    async def _edit(self) -> None:
        if (id := self._any()) is None:
            return
        before = self._entries[id]
        title = self._next("Edited")
        self._begin(id, {**before, "title": title, "version": before["version"] + 1})
        done = await self._core.knowledge.knowledge_update(id, EntryEdit(before["version"], title=title), actor=USER)
        self._acknowledge(done)

    async def _move(self) -> None:
        if (id := self._any()) is None:
            return
        before, knowledge = self._entries[id], self._core.knowledge
        match Status(before["status"]):
            case Status.CANDIDATE if self._random.random() < 0.5:
                self._begin(id, {**before, "status": "published", "version": before["version"] + 2})
                self._acknowledge(await knowledge.knowledge_approve(id, actor=USER))
            case Status.CANDIDATE:
                self._begin(id, {**before, "status": "pending_review", "version": before["version"] + 1})
                self._acknowledge(await knowledge.knowledge_update_status(id, "pending_review", actor=USER))
            case Status.PENDING_REVIEW:
                self._begin(id, {**before, "status": "published", "version": before["version"] + 1})
                self._acknowledge(await knowledge.knowledge_update_status(id, "published", actor=USER))
            case Status.PUBLISHED:
                self._begin(id, {**before, "status": "archived", "version": before["version"] + 1})
                self._acknowledge(await knowledge.knowledge_archive(id, actor=USER))
            case Status.ARCHIVED:
                self._begin(id, {**before, "status": "candidate", "version": before["version"] + 1})
                self._acknowledge(await knowledge.knowledge_restore(id, actor=USER))

    async def _undo_last(self) -> None:
        done, self._undo = self._undo, None
        if done is None or any(self._entries.get(entry.id) != state_of(entry) for entry in done.entries):
            return
        for entry in done.entries:
            self._begin(entry.id, None)
        undone = await self._core.knowledge.knowledge_undo(done.operation, actor=USER)
        self._acknowledge(undone)
        self._undo = None

    async def _reuse(self) -> None:
        tell({"begin": ["reuse", self._shared], "wanted": None})
        await self._core.knowledge.knowledge_record_reuse(self._shared, actor=USER)
        tell({"ack": ["reuse", self._shared], "state": 1})

    async def _fight_over_the_shared(self) -> None:
        """Everybody edits the same entry: exactly one of two that read the same version may."""
        entry = await self._core.knowledge.knowledge_get(self._shared)
        tell({"begin": ["edit", self._shared], "wanted": None})
        # No word of a question: an answer that cited the entry would count as one more use of it.
        edit = EntryEdit(entry.version, title=f"Shared {''.join(self._random.choices('abcdefgh', k=12))}")
        await self._core.knowledge.knowledge_update(self._shared, edit, actor=USER)
        tell({"ack": ["edit", self._shared], "state": 1})

    def _any(self) -> str | None:
        return self._random.choice(list(self._entries)) if self._entries else None

    def _begin(self, id: str, wanted: dict[str, Any] | None) -> None:
        tell({"begin": ["entry", id], "wanted": wanted})

    def _acknowledge(self, done: Done) -> None:
        for entry in done.entries:
            self._entries[entry.id] = state_of(entry)
            tell({"ack": ["entry", entry.id], "state": state_of(entry)})
        self._undo = done

    # everything else ------------------------------------------------------------------------------------------------

    async def _configure(self) -> None:
        """Each process has a field of its own, as of a newer version, so that what it saved can be told."""
        value = self._next("value")
        subject = ["setting", self._name]
        tell({"begin": subject, "wanted": value})
        await self._core.settings.update("load", **{self._name: value})
        tell({"ack": subject, "state": value})

    async def _talk(self) -> None:
        turns: Turns = self._core.turns
        text = self._next("What says the entry")
        draft_of = ["draft of", self._conversation]
        tell({"begin": draft_of, "wanted": ""})
        tell({"begin": ["text", text], "wanted": None})
        run = await turns.send(self._conversation, text)
        tell({"ack": draft_of, "state": ""})
        tell({"ack": ["message", run.user_message_id], "state": text})
        tell({"begin": ["run", run.id], "wanted": None})
        ended = await turns.wait(run.id)
        if ended.state is not RunState.COMPLETED:
            raise AssertionError(f"a run ended as {ended.state}: {ended.problem}")
        tell({"ack": ["run", run.id], "state": ended.state.value})

    async def _rename(self) -> None:
        title = self._next("Title")
        tell({"begin": ["title of", self._conversation], "wanted": title})
        await self._core.conversations.rename(self._conversation, title)
        tell({"ack": ["title of", self._conversation], "state": title})

    async def _write_draft(self) -> None:
        text = self._next("Draft")
        tell({"begin": ["draft of", self._conversation], "wanted": text})
        await self._core.conversations.save_draft(self._conversation, Draft(text))
        tell({"ack": ["draft of", self._conversation], "state": text})

    async def _set_up_a_server(self) -> None:
        name = self._next("Server")
        tell({"begin": ["server", name], "wanted": None})
        key = f"sk-{self._name}-{self._count}"
        config = await self._core.models.add(ProviderDraft(name, "http://127.0.0.1:9", models=()), key)
        tell({"ack": ["server", config.id], "state": key})


def tell(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


async def main(home: str, name: str, seed: str, shared: str) -> None:
    async with opened(app_paths(Path(home)), background=True) as core:
        tell({"ready": name})
        load = asyncio.create_task(Load(core, name, int(seed), shared).run())
        ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait({load, ended}, return_when=asyncio.FIRST_COMPLETED)
        if load.done():
            load.result()
        load.cancel()
        await asyncio.wait({load})
        if not load.cancelled() and isinstance(load.exception(), UserFacing):
            load.result()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
