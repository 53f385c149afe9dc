"""Search by keywords and meaning at once, after the query's own embedding; how the index comes into memory.

The vectors are drawn at random, unit length, 384 numbers, one an entry: what is measured is the search, not a model.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import select

from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.domain.knowledge import Status
from devflow.extraction.clock import SystemClock
from devflow.knowledge import calibration
from devflow.knowledge.calibration import Scale, Side
from devflow.knowledge.embedding import Embeddings
from devflow.knowledge.service import Knowledge
from devflow.knowledge.settings import Settings
from devflow.store import vectors
from devflow.store.database import Database, Unit
from devflow.store.migrate import open_database
from devflow.store.schema import EntryRow
from devflow.store.vectors import Packed, Text

from .homes import Homes
from .options import Options
from .report import Line, median, percentile
from .texts import Words

BARS = {1_000: 4.0, 10_000: 15.0, 100_000: 60.0}
"""Milliseconds, p95 (spec 04, Speed and size)."""
DIMENSION = 384
OF_EACH = 40
BEST_OF = 3
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Drawn:
    """A model whose vectors are drawn: a query's takes no time."""

    key: str = "drawn/384"
    name: str = "drawn"
    is_local: bool = False
    batch: int = 16

    async def texts(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [drawn(text) for text in texts]

    async def query(self, text: str) -> Sequence[float]:
        return drawn(text)


class Source:
    async def current(self) -> Drawn:
        return Drawn()


def drawn(text: str) -> list[float]:
    numbers = random.Random(text)
    made = [numbers.gauss(0, 1) for _ in range(DIMENSION)]
    length = sum(number * number for number in made) ** 0.5
    return [number / length for number in made]


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    if find_spec("numpy") is None:
        print("numpy is not installed (extra `vectors`); without it vectors are compared in Python.", file=sys.stderr)
    for entries in options.sizes:
        home = homes.get(options.library(entries))
        yield from asyncio.run(_measure(home, entries))
        homes.drop(home)


async def _measure(home: Path, entries: int) -> list[Line]:
    paths = app_paths(home)
    db = open_database(paths, Hub())
    settings = Settings(db)
    try:
        _fill(db)
        nothing = (0.0,) * DIMENSION
        side = Side(nothing, DIMENSION**-0.5)  # as random vectors are spread
        scale = calibration.write(Scale(side, side, nothing, nothing))
        await settings.save(calibration.GROUP, {Drawn().key: scale})

        async def is_busy() -> bool:
            return False

        embeddings = Embeddings(
            db, settings, Source(), resources=paths.resources, clock=SystemClock(), is_busy=is_busy, patience=20.0
        )
        knowledge = Knowledge(db, settings, embeddings=embeddings)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        await knowledge.knowledge_search("warm")
        loaded = 1000 * (time.perf_counter() - started)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        words = Words()
        for _ in range(200):
            words.text()
        name, spent = f"{entries:,} entries", []
        for questions in words.questions(OF_EACH).values():
            for question in questions:
                await embeddings.meaning(question)  # its own embedding is not measured
                spent.append(min([await _one(knowledge, question) for _ in range(BEST_OF)]))
    finally:
        settings.close()
        db.close()
    walls, cpus = [wall for wall, _ in spent], [cpu for _, cpu in spent]
    return [
        Line(f"hybrid search, {name}", median(walls), "ms", "median", computing=median(cpus)),
        Line(
            f"hybrid search, {name}",
            percentile(walls, 0.95),
            "ms",
            "p95",
            bar=BARS.get(entries),
            computing=percentile(cpus, 0.95),
        ),
        Line(f"vectors into memory, {name}", loaded, "ms", "once", detail=f"at the first search; +{grown:.0f} MiB"),
    ]


async def _one(knowledge: Knowledge, question: str) -> tuple[float, float]:
    """Milliseconds on the clock and of the processor."""
    started, computing = time.perf_counter(), time.process_time()
    await knowledge.knowledge_search(question)
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - computing)


def _fill(db: Database) -> None:
    published = select(EntryRow.id, EntryRow.title, EntryRow.content).where(EntryRow.status == Status.PUBLISHED.value)
    texts = [Text(*row) for row in db.run_read(lambda session: session.execute(published).all())]
    for start in range(0, len(texts), AT_ONCE):
        some = texts[start : start + AT_ONCE]

        def work(unit: Unit, some: Sequence[Text] = some) -> None:
            for text in some:
                vectors.put(unit, text, Drawn().key, [Packed(vectors.pack(drawn(text.entry_id)), is_han=False)])

        db.run_write(work)
