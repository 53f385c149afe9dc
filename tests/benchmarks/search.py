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
        every = [ms for values in spent.values() for ms in values]
        parts = ", ".join(f"{kind} {percentile(values, 0.95):.1f}" for kind, values in spent.items())
        lines = [
            Line(f"keyword search, {name}", median(every), "ms", "median"),
            Line(f"keyword search, {name}", percentile(every, 0.95), "ms", "p95", bars.search, parts),
        ]
        injected = await _injections(core, questions["question"])
        lines.append(
            Line(
                f"look-up and prompt, {name}",
                percentile(injected, 0.95),
                "ms",
                "p95",
                bars.inject,
                f"median {median(injected):.1f}, receipt written",
            )
        )
        lines.append(await _writes(core, words, bars.write, name))
    return lines


async def _all(queries: Iterable[str], ask: Callable[[str], Awaitable[object]]) -> list[float]:
    return [min([await _timed(ask, query) for _ in range(BEST_OF)]) for query in queries]


async def _timed(ask: Callable[[str], Awaitable[object]], query: str) -> float:
    began = time.perf_counter()
    await ask(query)
    return (time.perf_counter() - began) * 1000


async def _injections(core: Core, questions: Iterable[str]) -> list[float]:
    """From the recorded question to the request: library looked up, receipt kept, prompt composed."""
    templates = Templates(core.paths.resources)
    lookups = Lookups(core.db, core.settings, templates, core.hub)

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

    spent: list[float] = []
    for question in questions:
        best = []
        for _ in range(BEST_OF):
            run_id, conversation_id = await core.db.write(lambda unit, question=question: _ask(unit, question))
            path = await core.conversations.path(conversation_id)
            began = time.perf_counter()
            await assemble(run_id, path)
            best.append((time.perf_counter() - began) * 1000)
        spent.append(min(best))
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
    user, spent, bare = Actor.user(), [], []
    with (core.paths.home / "fsync").open("wb") as file:
        for _ in range(WRITES):
            text = words.text()
            made = draft(kind=Kind.PITFALL, title=text.title, content=text.content, tags=text.tags)
            began = time.perf_counter()
            await core.knowledge.knowledge_create(made, actor=user)
            spent.append((time.perf_counter() - began) * 1000)
            began = time.perf_counter()
            file.write(b"\0" * 4096)
            file.flush()
            os.fsync(file.fileno())
            bare.append((time.perf_counter() - began) * 1000)
    beyond = median(spent) - median(bare)
    detail = f"p95 {percentile(spent, 0.95) - median(bare):.1f}, an fsync takes {median(bare):.1f}"
    return Line(f"write of one entry beyond an fsync, {name}", beyond, "ms", "median", bar, detail)
