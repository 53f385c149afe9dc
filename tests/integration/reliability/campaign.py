"""Processes under load, killed at random moments or left to crowd each other, and what must be true afterwards.

All that was acknowledged is written down beside the home, so that a long campaign can be broken off and gone on with:
every round checks all of it again.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import MessageState
from devflow.domain.health import Health
from devflow.domain.knowledge import draft
from devflow.domain.run import RunState
from devflow.knowledge.service import Actor
from devflow.store import health
from tests.integration.reliability.load import USER, state_of
from tests.support.commands import ROOT, environment

_NAMED_LATER = frozenset({"title", "text"})
"""Acts that have no id before they are done."""

SHARED = "6f0f6ac5-5a38-4f0a-8d0e-3f5a0a1b2c3d"


class Lost(AssertionError):
    """Something that must be true is not; the sentence says what, the journal and the home are kept."""


@dataclass
class Journal:
    """What was acknowledged so far. `open` is what had begun when its process was killed: it may be there or not."""

    file: Path
    known: dict[tuple[str, str], Any] = field(default_factory=dict)
    open: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    maybe: dict[str, int] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> Journal:
        journal = cls(file)
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                journal._take(json.loads(line))
        return journal

    def note(self, lines: Iterable[dict[str, Any]]) -> int:
        """Take one process's output; returns the number of acknowledged acts.

        The act that it was at when it was killed, or let go, may have been done or not.
        """
        acknowledged: list[dict[str, Any]] = []
        begun: dict[tuple[str, ...], dict[str, Any]] = {}
        for line in lines:
            if "begin" in line:
                begun[tuple(line["begin"])] = line
            elif "ack" in line:
                acknowledged.append(line)
                begun.pop(tuple(line["ack"]), None)
                begun = {subject: other for subject, other in begun.items() if subject[0] not in _NAMED_LATER}
            elif "refused" in line:
                begun.clear()
        with self.file.open("a", encoding="utf-8") as file:
            for line in (*acknowledged, *begun.values()):
                self._take(line)
                file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return len(acknowledged)

    def _take(self, line: dict[str, Any]) -> None:
        if "ack" in line:
            what, id = line["ack"]
            if what in ("reuse", "edit"):
                self.counts[what] = self.counts.get(what, 0) + 1
            self.known[what, id] = line["state"]
            self.open.pop((what, id), None)
        else:
            what, id = line["begin"]
            self.maybe[what] = self.maybe.get(what, 0) + 1
            self.open.setdefault((what, id), []).append(line["wanted"])


class Process:
    """One load process; its lines as they come."""

    def __init__(self, home: Path, name: str, seed: int) -> None:
        self.name = name
        self.lines: list[dict[str, Any]] = []
        self._rest = b""
        command = [sys.executable, "-m", "tests.integration.reliability.load", str(home), name, str(seed), SHARED]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, stderr=subprocess.PIPE
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def output(self) -> Any:
        return self._process.stdout

    @property
    def acknowledged(self) -> int:
        return sum("ack" in line for line in self.lines)

    def read(self) -> None:
        data = self.output.read() or b""
        *whole, self._rest = (self._rest + data).split(b"\n")
        self.lines += [json.loads(line) for line in whole]

    def kill(self) -> None:
        self._process.kill()
        self._end()

    def finish(self) -> None:
        """Let it end by itself, in order."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._end()
        if self._process.returncode != 0:
            raise Lost(f"{self.name} ended with {self._process.returncode}: {self.said[-2_000:]}")

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def _end(self) -> None:
        os.set_blocking(self.output.fileno(), True)
        assert self._process.stderr is not None
        self.read()
        self.said = self._process.stderr.read().decode("utf-8", "replace")
        self._process.wait(60)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


@dataclass
class Campaign:
    """`rounds` and `kills` count from the beginning of the journal, over all its sessions."""

    home: Path
    seed: int
    kills: int = 0
    acts: int = 0

    def __post_init__(self) -> None:
        self.home.parent.mkdir(parents=True, exist_ok=True)
        self.journal = Journal.load(self.home.with_name(f"{self.home.name}.acknowledged.jsonl"))
        self._random = random.Random(f"{self.seed} {len(self.journal.known)}")

    async def prepare(self) -> None:
        """The entry that all processes count uses of and fight over."""
        async with opened(app_paths(self.home)) as core:
            if ("shared", SHARED) in self.journal.known:
                return
            await core.db.write(_insert_shared)
            await core.knowledge.knowledge_approve(SHARED, actor=USER)
            self.journal.note([{"ack": ["shared", SHARED], "state": 1}])

    async def kill_round(self) -> None:
        """Start one to three processes, let them act for a random while, kill them all, and check everything."""
        processes = self.start(self._random.randint(1, 3))
        await asyncio.to_thread(self.watch, processes, self._random.uniform(0.0, 1.5))
        for process in self._random.sample(processes, len(processes)):
            process.kill()
            self.kills += 1
        self.note(processes)
        await self.check()

    async def crowd_round(self, seconds: float, count: int = 5) -> None:
        """So many processes at once for so long; none may end with an error. Then check everything."""
        processes = self.start(count)
        await asyncio.to_thread(self.watch, processes, seconds)
        for process in processes:
            process.finish()
        self.note(processes)
        await self.check()

    async def check(self) -> None:
        """Open as the next start would, and find every acknowledged act."""
        findings = health.examine(app_paths(self.home))
        if wrong := [str(finding) for finding in findings if finding.health is not Health.OK]:
            raise Lost(f"the doctor says: {wrong}")
        async with opened(app_paths(self.home), background=True) as core:
            for (what, id), state in self.journal.known.items():
                found = await _look_up(core, what, id)
                allowed = [state, *self.journal.open.get((what, id), ())]
                if what in _CHECKED and found not in allowed and None not in allowed:
                    raise Lost(f"{what} {id} is {found}, acknowledged was {state}, begun {allowed[1:]}")
            await self._check_counts(core)
            await _check_runs(core)
        if left := [file.name for file in app_paths(self.home).locks.glob("*.lock")]:
            raise Lost(f"locks of dead processes are left: {left}")

    async def _check_counts(self, core: Core) -> None:
        """Counters add up: each acknowledged use counts once, and each that was cut off at most once."""
        shared = await core.knowledge.knowledge_get(SHARED)
        published_at = 3  # the version of an entry that came as a candidate and went through review
        for what, found in (("reuse", shared.reuse_count), ("edit", shared.version - published_at)):
            least = self.journal.counts.get(what, 0)
            most = least + self.journal.maybe.get(what, 0)
            if not least <= found <= most:
                raise Lost(f"the shared entry has {found} of {what}, not {least} to {most}")
        timeline = await core.knowledge.knowledge_timeline(SHARED)
        if sum(event.event.value == "reused" for event in timeline) != shared.reuse_count:
            raise Lost("the shared entry's timeline does not say each of its uses")

    def start(self, count: int) -> list[Process]:
        return [
            Process(self.home, f"p{self._random.getrandbits(40):x}", self._random.getrandbits(32)) for _ in range(count)
        ]

    def watch(self, processes: list[Process], seconds: float) -> None:
        """Read what they say until all are ready and so many seconds have passed."""
        deadline = None
        with selectors.DefaultSelector() as selector:
            for process in processes:
                selector.register(process.output, selectors.EVENT_READ, process)
            while deadline is None or time.monotonic() < deadline:
                left = 60.0 if deadline is None else max(0.0, deadline - time.monotonic())
                if not (ready := selector.select(left)) and deadline is None:
                    raise Lost("a process did not become ready within a minute")
                for key, _ in ready:
                    key.data.read()
                for process in processes:
                    if process.ended:
                        process.kill()
                        raise Lost(f"{process.name} ended by itself: {process.said[-2_000:]}")
                if deadline is None and all(process.lines for process in processes):
                    deadline = time.monotonic() + seconds

    def note(self, processes: list[Process]) -> None:
        for process in processes:
            self.acts += self.journal.note(process.lines)
            if "Traceback" in process.said:
                raise Lost(f"{process.name} said: {process.said[-2_000:]}")


_CHECKED = frozenset({"entry", "message", "run", "setting", "title of", "draft of", "server", "shared"})


async def _look_up(core: Core, what: str, id: str) -> Any:
    match what:
        case "entry":
            return state_of(await core.knowledge.knowledge_get(id))
        case "message":
            return (await core.conversations.message(id)).content
        case "run":
            return (await core.conversations.run(id)).state.value
        case "setting":
            return (await core.settings.get("load")).get(id)
        case "title of":
            return (await core.conversations.get(id)).title
        case "draft of":
            return (await core.conversations.get(id)).draft.text
        case "server":
            config = await core.models.get(id)
            return await core.keys.get(config.id, "http://127.0.0.1:9")
        case _:
            return 1


async def _check_runs(core: Core) -> None:
    """After the start no run seems to go on, and none was answered twice."""
    for conversation in await core.conversations.list():
        for run in await core.conversations.runs(conversation.id):
            if run.state not in (RunState.COMPLETED, RunState.INTERRUPTED):
                raise Lost(f"run {run.id} is {run.state} and nobody works on it")
        path = await core.conversations.path(conversation.id)
        if any(message.state is MessageState.STREAMING for message in path.messages):
            raise Lost(f"a message of {conversation.id} still streams")


def _insert_shared(unit: Any) -> None:
    from devflow.store import entries

    if not entries.get_many(unit.session, [SHARED]):
        entries.insert(
            unit, draft(kind="pitfall", title="Shared", content="Everybody uses it."), Actor.user().act(), id=SHARED
        )
