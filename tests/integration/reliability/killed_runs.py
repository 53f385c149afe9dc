"""Runs whose processes are killed at seeded random points of an approval's life, until they are answered all the same.

Each seed is a story of its own: a home, a folder, a scripted server that outlives every process, and one conversation
of two questions. In each of its lives one window, or two at once, are killed at a chosen transaction, effect, event or
moment. The last life is left alone. Then everything is counted (`killed_checks`).
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.knowledge import draft
from devflow.domain.provider import ProviderDraft
from devflow.knowledge.service import Actor
from tests.fakes.openai_server import OpenAIServer, Request
from tests.integration.reliability.campaign import Lost
from tests.integration.reliability.killed_checks import ASKED, COMMANDS, LEDGER, SAID, check
from tests.integration.reliability.killed_model import EDITED, LAST_LINE, Model
from tests.integration.reliability.killed_nursery import KILLED, Nursery
from tests.integration.reliability.killed_points import AT_THE_END
from tests.integration.reliability.killed_window import Life

LIVES = 4
"""At most so many lives before the last."""

DOOMED_S = 5.0
"""A process that has not come to its point by then is killed where it is."""

LAST_LIFE_S = 60.0
REQUESTS = 400

DOOMS: tuple[tuple[str, str, int], ...] = (
    ("write", "before devflow.agent.turns:Turns.send", 1),
    ("write", "inside devflow.agent.turns:Turns.send", 1),
    ("write", "after devflow.agent.turns:Turns.send", 1),
    ("write", "after devflow.agent.turns:Turns._recover", 1),
    ("write", "inside devflow.agent.turns:Turns._recover", 1),
    ("write", "after devflow.agent.turns:Turns._send_queued", 1),
    ("write", "before devflow.agent.loop:_claim", 8),
    ("write", "inside devflow.agent.loop:_claim", 8),
    ("write", "after devflow.agent.loop:_claim", 8),
    ("write", "inside devflow.agent.execute:", 6),
    ("write", "after devflow.agent.execute:", 6),
    ("write", "before devflow.agent.execute:", 6),
    ("write", "before devflow.agent.deciding:", 3),
    ("write", "inside devflow.agent.deciding:", 3),
    ("write", "after devflow.agent.deciding:", 3),
    ("write", "inside devflow.agent.recovery:", 1),
    ("write", "after devflow.agent.recovery:", 1),
    ("write", "before devflow.agent.reply:", 12),
    ("write", "inside devflow.agent.reply:", 12),
    ("write", "after devflow.agent.reply:", 12),
    ("write", "inside devflow.agent.reply:_Answer._begin", 3),
    ("write", "after devflow.agent.reply:_Answer._checkpoint", 6),
    ("write", "inside devflow.agent.reply:_Answer._checkpoint", 6),
    ("write", "inside devflow.agent.reply:_Answer.complete", 3),
    ("write", "after devflow.agent.reply:_Answer.complete", 3),
    ("write", "devflow.prompt.lookup:", 4),
    ("write", "devflow.knowledge.", 3),
    ("write", "", 60),
    ("tool", "before ", 4),
    ("tool", "during ", 4),
    ("tool", "during run_command", 2),
    ("tool", "during write_file", 2),
    ("tool", "after ", 4),
    ("event", "TextArrived", 40),
    ("event", "MessageStarted", 4),
    ("event", "CallsChanged", 10),
    ("event", "RunChanged", 8),
    ("event", "", 80),
    ("end", "", 1),
)
"""Where a process may end itself; the number is how often it may come there before."""


@dataclass
class Story:
    """What one seed was; `kills` names the points at which processes really ended."""

    seed: int
    lives: int = 0
    kills: list[str] = field(default_factory=list)
    effects: int = 0
    requests: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.lives} lives, {len(self.kills)} kills, {self.requests} requests, "
            f"{self.effects} effects, {self.seconds:.1f} s: {'; '.join(self.kills) or 'nobody was killed'}"
        )


@dataclass(frozen=True)
class Told:
    """A story with what is left of it: folder, conversation, what the model was asked and said."""

    story: Story
    folder: Path
    conversation: str
    model: Model
    requests: Sequence[Request]

    async def check(self) -> int:
        """Count everything again; raises `Lost`."""
        return await check(self.folder, self.conversation, self.model, self.requests)

    def ledger(self) -> list[str]:
        return (self.folder / LEDGER).read_text(encoding="utf-8").splitlines()

    def rewrite_ledger(self, lines: Iterable[str]) -> None:
        (self.folder / LEDGER).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def tell(seed: int, folder: Path, nursery: Nursery) -> Told:
    """Live through one seed's story in `folder` and check it; raises `Lost` and leaves the folder where it fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    model = Model(seed, folder / COMMANDS)
    with OpenAIServer() as server:
        server.script(*repeat(model, REQUESTS))
        stage = asyncio.run(_prepare(folder, server.base_url))
        lives = _Lives(seed, stage, nursery)
        lives.killed()
        lives.last()
        requests = tuple(server.requests)
    told = Told(
        Story(seed, lives.count, lives.kills, requests=len(requests)), folder, stage.conversation, model, requests
    )
    (folder / ASKED).write_text(json.dumps([request.body for request in requests], indent=1), encoding="utf-8")
    told.story.effects = asyncio.run(told.check())
    told.story.seconds = time.monotonic() - began
    return told


def tell_many(first: int, count: int, folder: Path, minutes: float | None) -> int:
    """Tell `count` stories from seed `first` on, a line each and a summary; 1 if one of them failed.

    Those told before stand in a file beside their folders and are not told again; after so many minutes the rest is
    left for the next time.
    """
    place = folder.with_name(f"{folder.name}.killed")
    place.mkdir(parents=True, exist_ok=True)
    file = place / "told.jsonl"
    told = {line["seed"]: Story(**line) for line in _lines(file)}
    end = time.monotonic() + (minutes * 60 if minutes is not None else float("inf"))
    failed = 0
    with Nursery() as nursery:
        for seed in range(first, first + count):
            if seed in told:
                continue
            if time.monotonic() > end:
                break
            try:
                told[seed] = tell(seed, place / str(seed), nursery).story
            except Lost as lost:
                failed += 1
                print(f"seed {seed}: LOST: {lost} (left in {place / str(seed)})", flush=True)
                continue
            print(told[seed], flush=True)
            with file.open("a", encoding="utf-8") as text:
                text.write(json.dumps(asdict(told[seed])) + "\n")
            shutil.rmtree(place / str(seed))
    print(_summary([told[seed] for seed in range(first, first + count) if seed in told], count, failed))
    return 1 if failed else 0


def _summary(stories: Sequence[Story], count: int, failed: int) -> str:
    kills = Counter(kill.removesuffix(f" {AT_THE_END}").split(":")[0] for story in stories for kill in story.kills)
    lines = [f"{times:6d}  {where}" for where, times in kills.most_common()]
    sums = (
        f"{len(stories)} of {count} stories told, {failed} failed: {sum(story.lives for story in stories)} lives, "
        f"{sum(kills.values())} kills, {sum(story.requests for story in stories)} requests, "
        f"{sum(story.effects for story in stories)} effects, {sum(story.seconds for story in stories):.0f} s"
    )
    return "\n".join([sums, "killed at:", *lines])


@dataclass(frozen=True)
class _Stage:
    folder: Path
    home: Path
    project: Path
    conversation: str


async def _prepare(folder: Path, address: str) -> _Stage:
    home, project = folder / "home", folder / "project"
    project.mkdir()
    (project / EDITED).write_text(f"begin\n{LAST_LINE}", encoding="utf-8")
    async with opened(app_paths(home)) as core:
        await core.models.add(ProviderDraft("Scripted", address, models=("scripted",)))
        made = await core.knowledge.knowledge_create(
            draft(
                kind="pitfall",
                title="Sqlite write lock: first advice",
                content="A sqlite transaction takes the write lock late.",
            ),
            actor=Actor.user(),
        )
        await core.knowledge.knowledge_approve(made.entries[0].id, actor=Actor.user())
        project_id = (await core.projects.ensure(project)).id
        conversation = await core.conversations.create(project_id=project_id)
    return _Stage(folder, home, project, conversation.id)


class _Lives:
    """The lives of one story."""

    def __init__(self, seed: int, stage: _Stage, nursery: Nursery) -> None:
        self._seed, self._stage, self._nursery = seed, stage, nursery
        self._random = random.Random(f"killed {seed}")
        self.count = 0
        self.kills: list[str] = []

    def killed(self) -> None:
        for _ in range(self._random.randint(2, LIVES)):
            self.count += 1
            if self._random.random() < 0.65:
                over = self._ends(*self._open(types=True, alone=True))
            else:
                over = self._two_at_once()
            if over:
                return

    def _two_at_once(self) -> bool:
        """Both act on one conversation; the second one outlives the first by a moment, or sees its run through."""
        first, second = self._open(types=True, alone=False), self._open(types=False, alone=False)
        over = self._ends(*first)
        if self._random.random() < 0.5:
            self._ends(second[0], time.monotonic() + self._random.uniform(0.0, 0.5))
            return over
        if (code := self._nursery.wait(second[0], LAST_LIFE_S)) is None:
            raise Lost(f"a window that was not killed does not end; {self._what_was_said()}")
        self._judge(second[0], code)
        return over

    def last(self) -> None:
        """Nobody kills it: it must come to the end by itself."""
        self.count += 1
        pid = self._start(Life(**self._about("last"), doom=None))
        code = self._nursery.wait(pid, LAST_LIFE_S)
        if code is None:
            self._nursery.kill(pid)
            raise Lost(f"the last life does not end; {self._what_was_said()}")
        self._judge(pid, code)

    def _open(self, *, types: bool, alone: bool) -> tuple[int, float]:
        """A window and how long it is left alone, in seconds, unless its doom comes first."""
        doom = None
        if self._random.random() < 0.8:
            kind, name, most = self._random.choice(DOOMS)
            doom = (kind, name, self._random.randint(1, most))
        longest = self._random.uniform(0.0, self._random.choice((0.1, 0.4, 1.0))) if doom is None else DOOMED_S
        life = Life(**self._about(f"{self.count} {types}"), types=types, alone=alone, doom=doom)
        return self._start(life), time.monotonic() + longest

    def _about(self, name: str) -> dict[str, Any]:
        stage = self._stage
        return {
            "home": str(stage.home),
            "conversation": stage.conversation,
            "folder": str(stage.project),
            "ledger": str(stage.folder / LEDGER),
            "log": str(stage.folder / SAID),
            "seed": f"{self._seed} {name}",
        }

    def _start(self, life: Life) -> int:
        return self._nursery.start(asdict(life))

    def _ends(self, pid: int, until: float) -> bool:
        """Wait for it, and kill it when its time is over; whether it came to the end of the story."""
        code = self._nursery.wait(pid, max(0.0, until - time.monotonic()))
        if code is None:
            self._nursery.kill(pid)
            code = self._nursery.wait(pid, 60)
            self.kills.append("any moment")
        return self._judge(pid, code)

    def _judge(self, pid: int, code: int | None) -> bool:
        if code == 0:
            return True
        if code != KILLED:
            raise Lost(f"a window ended with {code}; {self._what_was_said()}")
        dooms = [line["doom"] for line in _lines(self._stage.folder / LEDGER) if line["pid"] == pid and "doom" in line]
        self.kills += [" ".join(filter(None, doom)).replace("devflow.", "") for doom in dooms]
        return any(AT_THE_END in name for _, name in dooms)

    def _what_was_said(self) -> str:
        log = self._stage.folder / SAID
        return log.read_text(encoding="utf-8", errors="replace")[-3_000:] if log.exists() else "nothing was said"


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
