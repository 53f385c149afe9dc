"""How long a large library takes on its way out and in: `python -m tests.benchmarks.transfer [ENTRIES]`.

Prints seconds, and the longest time in which the event loop, the window's as well, could not answer.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from devflow.knowledge.acts import Actor
from devflow.store.library_copy import CopiedEntry, CopiedEvent, LibraryCopy
from devflow.transfer import export
from devflow.transfer.service import Transfer
from tests.benchmarks.texts import Text, Words
from tests.support.library import open_library

T = TypeVar("T")
TICK_S = 0.005


def entries(count: int) -> tuple[CopiedEntry, ...]:
    """Published ones, with the timeline that publishing leaves."""
    words = Words()
    return tuple(_entry(n, words.text()) for n in range(count))


def _entry(n: int, text: Text) -> CopiedEntry:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=n)
    timeline = tuple(
        CopiedEvent(event, "user", at, f"00000000-0000-4000-8000-{n:012d}", {}, {"version": 1})
        for event in ("created", "status_changed", "status_changed")
    )
    return CopiedEntry(
        id=f"10000000-0000-4000-8000-{n:012d}",
        kind="pitfall",
        title=text.title,
        content=text.content,
        tags=text.tags,
        status="published",
        confidence=0.9,
        reuse_count=n % 7,
        project=None,
        source_ref="manual",
        evidence=None,
        created_at=at,
        updated_at=at,
        published_at=at,
        archived_at=None,
        version=3,
        timeline=timeline,
    )


async def measured(what: str, work: Awaitable[T]) -> T:
    gaps = [0.0]

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            gaps.append(time.perf_counter() - before - TICK_S)

    ticking = asyncio.ensure_future(tick())
    began = time.perf_counter()
    result = await work
    seconds = time.perf_counter() - began
    ticking.cancel()
    print(f"{what:<34} {seconds:7.2f} s   loop held up at most {max(gaps) * 1000:5.0f} ms", flush=True)
    return result


async def main(count: int) -> None:
    user = Actor.user()
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.zip"
        export.write(LibraryCopy(entries(count)), given)
        async with open_library(Path(folder) / "one") as library:
            transfer = Transfer(library.db)
            seen = await measured("look at an export of ours", transfer.preview([given]))
            await measured("restore it", transfer.take(seen, actor=user))
            await measured("index it", transfer.index())
            await measured("export to a zip", transfer.export(Path(folder) / "two.zip"))
            await measured("export to a folder", transfer.export(Path(folder) / "folder"))
            await measured("export to JSON", transfer.export(Path(folder) / "two.json"))
            print("same bytes:", given.read_bytes() == (Path(folder) / "two.zip").read_bytes())
            await measured("look at it once more", transfer.preview([given]))
        async with open_library(Path(folder) / "other") as library:
            transfer = Transfer(library.db)
            seen = await measured("look at it as candidates", transfer.preview([given], restore=False))
            done = await measured("take the candidates in", transfer.take(seen, actor=user))
            await measured("undo the import", transfer.undo(done, actor=user))


if __name__ == "__main__":
    gc.disable()  # as the window does, which collects when it is idle
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
