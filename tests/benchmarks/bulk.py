"""Search in a library too large to be made entry by entry: rows and index loaded in bulk; reported, held to no bar."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.domain.knowledge import Kind
from devflow.store import search_index
from devflow.store.database import Unit
from devflow.store.migrate import open_database

from .homes import Homes
from .index_size import sizes
from .options import Options
from .report import Line, median, percentile
from .search import OF_EACH
from .texts import Words

CHARACTERS = 300
"""Of each content: a million long ones would take hours and twice the disk."""
AT_ONCE = 20_000
DISTINCT = 20_000
"""So many texts are made; entries repeat their sentences in another order."""


def measure(homes: Homes, options: Options) -> Iterable[Line]:
    home = homes.folder / f"bulk-{options.bulk}"
    loaded = _load(home, options.bulk) if not home.exists() else None
    return asyncio.run(_measure(home, options.bulk, loaded))


def _load(home: Path, entries: int) -> tuple[float, float]:
    """Seconds for the rows, and for the index."""
    unfinished = home.with_name(home.name + ".part")
    database = open_database(app_paths(unfinished), Hub())
    try:
        began = time.perf_counter()
        rows = _rows(entries)
        while some := list(islice(rows, AT_ONCE)):
            database.run_write(lambda unit, some=some: _insert(unit, some))
        between = time.perf_counter()
        database.run_write(lambda unit: search_index.rebuild(unit, _told))
        ended = time.perf_counter()
    finally:
        database.close()
    unfinished.rename(home)
    return between - began, ended - between


def _told(done: int, total: int) -> None:
    if done % 50_000 == 0:
        print(f"indexed {done:,} of {total:,}", file=sys.stderr, flush=True)


def _rows(entries: int) -> Iterator[tuple[Any, ...]]:
    words = Words()
    made = [words.text() for _ in range(min(DISTINCT, entries))]
    began = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(entries):
        text, other = made[number % len(made)], made[(number * 7919 + number // len(made)) % len(made)]
        content = f"{text.content[: CHARACTERS // 2]} {other.content[: CHARACTERS // 2]}"
        at = (began + timedelta(seconds=number)).strftime("%Y-%m-%d %H:%M:%S.%f")
        title = f"{text.title[:60]} {number}"
        id = str(UUID(int=number + 1, version=4))
        kind = tuple(Kind)[number % len(Kind)].value
        tags = json.dumps(list(other.tags), ensure_ascii=False)
        reused = int(number % 7 == 0)
        yield (id, kind, title, content, tags, "published", 1.0, reused, "import:benchmark", str(number), at, at)


def _insert(unit: Unit, rows: list[tuple[Any, ...]]) -> None:
    unit.session.connection().exec_driver_sql(
        "INSERT INTO entries (id, kind, title, content, tags, status, confidence, reuse_count, source_ref, "
        "normal_hash, created_at, updated_at, version, embedding_status, embedding_attempts) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'none', 0)",
        rows,
    )


async def _measure(home: Path, entries: int, loaded: tuple[float, float] | None) -> list[Line]:
    name = f"{entries:,} entries of {CHARACTERS} characters, in bulk"
    lines = []
    if loaded is not None:
        lines += [Line(f"rows, {name}", loaded[0], "s", "once"), Line(f"index, {name}", loaded[1], "s", "once")]
    words = Words()
    for _ in range(200):
        words.text()
    async with opened(app_paths(home)) as core:
        lines += sizes(core.db, name)
        for kind, queries in words.questions(OF_EACH).items():
            spent = []
            for query in queries:
                began = time.perf_counter()
                await core.knowledge.knowledge_search(query)
                spent.append((time.perf_counter() - began) * 1000)
            detail = f"median {median(spent):.1f}, worst {max(spent):.0f}; each asked once"
            lines.append(Line(f"{kind}, {name}", percentile(spent, 0.95), "ms", "p95", detail=detail))
    return lines
