"""Keyword search, what goes into a prompt, and the write of one entry, through the services a program calls."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import OFFLINE, Origin, Path, Role
from devflow.domain.knowledge import Kind, draft
from devflow.knowledge.acts import Actor
from devflow.prompt.compose import Turn, compose_turn
from devflow.prompt.lookup import Lookups
from devflow.prompt.templates import Templates
from devflow.store import conversations, runs
from devflow.store.database import Unit

from .homes import Homes
from .index_size import sizes
from .options import Options
from .report import Line, median, percentile
from .texts import Words


@dataclass(frozen=True, slots=True)
class Bars:
    """Milliseconds, p95 (spec 04, Speed and size)."""

    search: float
    inject: float
    write: float


BARS = {1_000: Bars(3, 10, 5), 10_000: Bars(10, 25, 5), 100_000: Bars(60, 80, 8)}
OF_EACH = 40
BEST_OF = 3
"""Each query is asked so many times, and the fastest counts: the machine has other work too."""
WRITES = 60


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    for entries in options.sizes:
        home = homes.get(options.library(entries))
        yield from asyncio.run(_measure(home, entries))
        homes.drop(home)


async def _measure(home: FilePath, entries: int) -> list[Line]:
    words = Words()
    for _ in range(200):  # the questions are about what stands there, the new entries are new
        words.text()
    questions = words.questions(OF_EACH)
    bars, name = BARS[entries], f"{entries:,} entries"
    async with opened(app_paths(home)) as core:
        for question in questions["question"][:5]:  # warm
            await core.knowledge.knowledge_search(question)
        spent = {kind: await _all(queries, core.knowledge.knowledge_search) for kind, queries in questions.items()}
        every = [each for values in spent.values() for each in values]
        parts = ", ".join(f"{kind} {percentile(_walls(values), 0.95):.1f}" for kind, values in spent.items())
        lines = [
            Line(f"keyword search, {name}", median(_walls(every)), "ms", "median", computing=median(_cpus(every))),
            _p95(f"keyword search, {name}", every, bars.search, parts),
        ]
        injected = await _injections(core, questions["question"])
        detail = f"median {median(_walls(injected)):.1f}, receipt written"
        lines.append(_p95(f"look-up and prompt, {name}", injected, bars.inject, detail))
        lines.append(await _writes(core, words, bars.write, name))
        lines += sizes(core.db, name)
    return lines


Spent = tuple[float, float]
"""Milliseconds on the clock and of the processor."""


async def _all(queries: Iterable[str], ask: Callable[[str], Awaitable[object]]) -> list[Spent]:
    return [_best([await _timed(ask(query)) for _ in range(BEST_OF)]) for query in queries]


async def _timed(work: Awaitable[object]) -> Spent:
    began, cpu = time.perf_counter(), time.process_time()
    await work
    return (time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000


def _best(spent: list[Spent]) -> Spent:
    return min(_walls(spent)), min(_cpus(spent))


def _walls(spent: Iterable[Spent]) -> list[float]:
    return [wall for wall, _ in spent]


def _cpus(spent: Iterable[Spent]) -> list[float]:
    return [cpu for _, cpu in spent]


def _p95(measure: str, spent: list[Spent], bar: float, detail: str) -> Line:
    wall, cpu = percentile(_walls(spent), 0.95), percentile(_cpus(spent), 0.95)
    return Line(measure, wall, "ms", "p95", bar, detail, cpu)


async def _injections(core: Core, questions: Iterable[str]) -> list[Spent]:
    """From the recorded question to the request: library looked up, receipt kept, prompt composed."""
    templates = Templates(core.paths.resources)
    lookups = Lookups(core.db, core.settings, templates, core.hub, core.bases, core.journal)

    async def assemble(run_id: str, path: Path) -> None:
        receipt = await lookups.receipt_for(run_id, 32_000)
        compose_turn(
            Turn(
                model="m",
                question=path.messages[-1].content,
                receipt=receipt,
                messages=path.messages,
                calls={},
                tools=(),
                project=None,
                window=32_000,
            ),
            templates,
        )

    spent: list[Spent] = []
    for question in questions:
        best = []
        for _ in range(BEST_OF):
            run_id, conversation_id = await core.db.write(lambda unit, question=question: _ask(unit, question))
            path = await core.conversations.path(conversation_id)
            best.append(await _timed(assemble(run_id, path)))
        spent.append(_best(best))
    return spent


def _ask(unit: Unit, question: str) -> tuple[str, str]:
    made = conversations.create(unit, origin=Origin.WINDOW)
    asked = conversations.insert_message(
        unit, conversation_id=made.id, parent_id=None, role=Role.USER, content=question
    )
    conversations.move_leaf(unit, made.id, before=None, to=asked.id)
    run = runs.insert(unit, conversation_id=made.id, user_message_id=asked.id, choice=OFFLINE, owner="benchmark")
    return run.id, made.id


async def _writes(core: Core, words: Words, bar: float, name: str) -> Line:
    """One entry a transaction, its index and its timeline included, beside what an fsync alone costs here."""
    user = Actor.user()
    spent: list[Spent] = []
    bare: list[float] = []
    with (core.paths.home / "fsync").open("wb") as file:
        for _ in range(WRITES):
            text = words.text()
            made = draft(kind=Kind.PITFALL, title=text.title, content=text.content, tags=text.tags)
            spent.append(await _timed(core.knowledge.knowledge_create(made, actor=user)))
            began = time.perf_counter()
            file.write(b"\0" * 4096)
            file.flush()
            os.fsync(file.fileno())
            bare.append((time.perf_counter() - began) * 1000)
    walls = _walls(spent)
    detail = f"p95 {percentile(walls, 0.95) - median(bare):.1f}, an fsync takes {median(bare):.1f}"
    beyond, cpu = median(walls) - median(bare), median(_cpus(spent))
    return Line(f"write of one entry beyond an fsync, {name}", beyond, "ms", "median", bar, detail, cpu)
