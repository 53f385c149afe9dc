"""The window, four MCP servers and a loop of commands, all writing at once, and what must be true afterwards.

The servers and the commands are processes of their own; the window's services and the human are in this one. Whatever
is acknowledged is written down in the campaign's journal, and its check finds all of it again: every entry as its last
acknowledged state says, every use and edit of the shared one counted once, the index in agreement, no lock left. On
the way: a proposal is heard of by the window within `SOON_S`, and what the human publishes is found by the next search.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.errors import StaleVersion
from devflow.domain.events import Aggregate, Changes, Event
from devflow.domain.knowledge import EntryEdit, draft
from tests.integration.reliability.campaign import SHARED, Campaign, Lost
from tests.integration.reliability.load import USER, state_of
from tests.support.commands import devflow
from tests.support.mcp_client import Tool, connected

SERVERS = 4
SOON_S = 2.0
SHARED_TITLE = "Shared"

Act = Callable[[], Awaitable[None]]


@dataclass
class Mixed:
    """What everybody has done so far."""

    campaign: Campaign
    seed: int
    waiting: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    """Proposals that their tools leave to the human."""
    heard: dict[str, float] = field(default_factory=dict)
    """When the window's services heard of an entry."""
    late: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def random(self, who: str) -> random.Random:
        return random.Random(f"{self.seed} {who}")

    def acknowledge(self, what: str, entry: dict[str, Any], who: str) -> None:
        """An entry as it now is, or one more use of the shared one."""
        state = {name: entry[name] for name in ("title", "status", "version")}
        line = {"ack": ["entry", entry["id"]], "state": state}
        if entry["id"] == SHARED:
            line = {"ack": [what, SHARED], "state": 1}
        self.campaign.acts += self.campaign.journal.note([line])
        self.counts[who] = self.counts.get(who, 0) + 1


async def mixed_round(campaign: Campaign, seconds: float, seed: int) -> Mixed:
    """Everybody writes for so long; raises Lost for what must not be, and checks everything at the end."""
    mixed = Mixed(campaign, seed)
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(opened(app_paths(campaign.home), background=True))
        stack.enter_context(_hearing(core, mixed))
        tools = [
            await stack.enter_async_context(connected(campaign.home, "--client", f"tool {number}"))
            for number in range(SERVERS)
        ]
        end = time.monotonic() + seconds
        await asyncio.gather(
            *(_until(end, _ToolActs(mixed, tool, f"tool {number}").one) for number, tool in enumerate(tools)),
            _until(end, _HumanActs(mixed, core, tools).one),
            _until(end, _Commands(mixed).one),
        )
    await campaign.check()
    return mixed


class _ToolActs:
    """An MCP client: proposes, edits, submits and archives its own, counts uses, reads."""

    def __init__(self, mixed: Mixed, tool: Tool, name: str) -> None:
        self._mixed = mixed
        self._tool = tool
        self._name = name
        self._random = mixed.random(name)
        self._own: list[dict[str, Any]] = []
        self._count = 0

    async def one(self) -> None:
        acts = (self._propose, self._edit, self._submit, self._archive, self._use, self._read, self._list)
        await self._random.choices(acts, (6, 3, 2, 1, 4, 2, 1))[0]()

    async def _propose(self) -> None:
        self._count += 1
        title = f"Proposal {self._name.replace(' ', '')}x{self._count}"
        made = await self._tool.proposes(title, content=f"{title} says {self._random.random()}. 先取锁")
        since = time.monotonic()
        self._acknowledge(made)
        asyncio.get_running_loop().call_later(SOON_S, self._look_whether_it_was_heard, made["id"], since)
        if self._random.random() < 0.4:
            self._mixed.waiting.put_nowait(made)
        else:
            self._own.append(made)

    async def _edit(self) -> None:
        if self._own:
            own = self._own.pop(self._random.randrange(len(self._own)))
            fields = {"tags": [self._name, f"{self._random.random():.3f}"]}
            self._own.append(await self._changed("knowledge_update", id=own["id"], version=own["version"], **fields))

    async def _submit(self) -> None:
        if own := next((one for one in self._own if one["status"] == "candidate"), None):
            self._own.remove(own)
            self._own.append(await self._changed("knowledge_update_status", id=own["id"], status="pending_review"))

    async def _archive(self) -> None:
        if len(self._own) > 2:
            await self._changed("knowledge_archive", id=self._own.pop(0)["id"], reason="tried")

    async def _use(self) -> None:
        self._mixed.acknowledge("reuse", await self._tool("knowledge_record_reuse", id=SHARED), self._name)

    async def _read(self) -> None:
        found = await self._tool("knowledge_search", query=SHARED_TITLE)
        if SHARED not in [hit["id"] for hit in found["hits"]]:
            raise Lost(f"{self._name} does not find the shared entry")

    async def _list(self) -> None:
        await self._tool.client.list_resources()
        await self._tool("knowledge_list_candidates")

    async def _changed(self, name: str, **arguments: Any) -> dict[str, Any]:
        changed = await self._tool(name, **arguments)
        self._acknowledge(changed)
        return changed

    def _acknowledge(self, entry: dict[str, Any]) -> None:
        self._mixed.acknowledge("entry", entry, self._name)

    def _look_whether_it_was_heard(self, id: str, since: float) -> None:
        heard = self._mixed.heard.get(id)
        self._mixed.late.append(SOON_S * 10 if heard is None else max(0.0, heard - since))


class _HumanActs:
    """The human at the window: publishes what tools propose, writes, edits, uses."""

    def __init__(self, mixed: Mixed, core: Core, tools: list[Tool]) -> None:
        self._mixed = mixed
        self._core = core
        self._tools = tools
        self._random = mixed.random("human")
        self._count = 0

    async def one(self) -> None:
        await self._random.choices((self._publish, self._write, self._edit_the_shared, self._use), (4, 3, 1, 2))[0]()
        await asyncio.sleep(0)

    async def _publish(self) -> None:
        if self._mixed.waiting.empty():
            return
        proposed = self._mixed.waiting.get_nowait()
        done = await self._core.knowledge.knowledge_approve(proposed["id"], actor=USER)
        self._acknowledge(done.entries[0])
        word = proposed["title"].split()[1]
        found = await self._random.choice(self._tools)("knowledge_search", query=word)
        if proposed["id"] not in [hit["id"] for hit in found["hits"]]:
            raise Lost(f"{proposed['title']} is published, and the next search does not find it")

    async def _write(self) -> None:
        self._count += 1
        title = f"By hand {self._count}"
        done = await self._core.knowledge.knowledge_create(
            draft(kind="diagnosis", title=title, content=f"{title}, and why."), actor=USER
        )
        self._acknowledge(done.entries[0])

    async def _edit_the_shared(self) -> None:
        entry = await self._core.knowledge.knowledge_get(SHARED)
        try:
            await self._core.knowledge.knowledge_update(
                SHARED, EntryEdit(entry.version, tags=(f"{self._random.random():.3f}",)), actor=USER
            )
        except StaleVersion:
            return
        self._mixed.acknowledge("edit", {"id": SHARED, "title": "", "status": "", "version": 0}, "window")

    async def _use(self) -> None:
        await self._core.knowledge.knowledge_record_reuse(SHARED, actor=USER)
        self._mixed.acknowledge("reuse", {"id": SHARED, "title": "", "status": "", "version": 0}, "window")

    def _acknowledge(self, entry: Any) -> None:
        self._mixed.acknowledge("entry", {"id": entry.id, **state_of(entry)}, "window")


class _Commands:
    """A loop of `devflow` commands, each a process."""

    def __init__(self, mixed: Mixed) -> None:
        self._mixed = mixed
        self._random = mixed.random("commands")
        self._count = 0
        self._own: list[str] = []

    async def one(self) -> None:
        await self._random.choices((self._add, self._approve, self._use, self._read), (4, 2, 2, 1))[0]()

    async def _add(self) -> None:
        self._count += 1
        words = ("--kind", "pitfall", "--title", f"Typed {self._count}", "--content", "Typed.")
        self._own.append((await self._run("add", *words))["id"])

    async def _approve(self) -> None:
        if self._own:
            await self._run("approve", self._own.pop())

    async def _use(self) -> None:
        await self._run("reuse", SHARED)

    async def _read(self) -> None:
        said = await asyncio.to_thread(
            devflow, self._mixed.campaign.home, "knowledge", "search", SHARED_TITLE, "--json"
        )
        if said.code != 0 or SHARED not in said.out:
            raise Lost(f"a search ended with {said.code}: {said.err}")

    async def _run(self, *words: str) -> dict[str, Any]:
        said = await asyncio.to_thread(devflow, self._mixed.campaign.home, "knowledge", *words, "--json")
        if said.code != 0:
            raise Lost(f"devflow knowledge {' '.join(words)} ended with {said.code}: {said.err}")
        entry: dict[str, Any] = said.value
        self._mixed.acknowledge("reuse", entry, "commands")
        return entry


@contextmanager
def _hearing(core: Core, mixed: Mixed) -> Iterator[None]:
    def hear(event: Event) -> None:
        if isinstance(event, Changes):
            for id in event.of(Aggregate.ENTRY):
                mixed.heard.setdefault(id, time.monotonic())

    unsubscribe = core.hub.subscribe(hear)
    try:
        yield
    finally:
        unsubscribe()


async def _until(end: float, act: Act) -> None:
    while time.monotonic() < end:
        await act()
